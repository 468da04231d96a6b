import type { RecordedEvents } from '../../../client/events/event-dedup.ts';
import type { Clock } from '../../../world/world.ts';

/** Events live for an hour; a standing one is recorded again before it expires. */
const repeatAfterMs = 30 * 60_000;

/** The message that was last recorded under a key, unless that was long ago. */
export function recentMessage(recordedEvents: RecordedEvents, key: string, clock: Clock): string | undefined {
  const last = recordedEvents.lastEvent(key);
  return last === undefined || last.at + repeatAfterMs <= clock.now() ? undefined : last.message;
}
