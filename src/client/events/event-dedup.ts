import type { Clock } from '../../world/world.ts';
import type { RecordedEvent, RecordEvent } from '../decision.ts';
import { RecentMap } from '../recent-map.ts';
import type { EventRecorder } from './event-recorder.ts';

/**
 * Deduplicates events about states. Decisions come to the same conclusion again and again, and compare it with the last event of
 * their key. The memory is lost with the process, and for the oldest of very many keys: then an event is recorded once more.
 */
export class RecordedEvents {
  readonly #recorder: Pick<EventRecorder, 'record'>;
  readonly #clock: Clock;
  readonly #recorded = new RecentMap<string, RecordedEvent>(rememberedEvents);

  constructor(recorder: Pick<EventRecorder, 'record'>, clock: Clock) {
    this.#recorder = recorder;
    this.#clock = clock;
  }

  readonly lastEvent = (key: string): RecordedEvent | undefined => this.#recorded.get(key);

  record({ about, ...event }: RecordEvent['event'], rememberAs?: string, state?: string): void {
    const { reason, message } = event;
    this.#recorder.record(about, event);
    if (rememberAs !== undefined) this.#recorded.set(rememberAs, { reason, message, state, at: this.#clock.now() });
  }
}

const rememberedEvents = 100_000;
