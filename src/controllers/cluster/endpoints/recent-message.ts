import type { RecordedEvents } from '../../../client/events/event-dedup.ts';
import type { Clock } from '../../../world/world.ts';

/** Events live for an hour; what still holds is said again before it is forgotten. */
const repeatAfterMs = 30 * 60_000;

/** What was last told under a key, unless that was long ago. */
export function recentMessage(tellings: RecordedEvents, key: string, clock: Clock): string | undefined {
  const last = tellings.lastEvent(key);
  return last === undefined || last.at + repeatAfterMs <= clock.now() ? undefined : last.message;
}
