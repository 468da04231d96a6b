import type { Clock } from '../../world/world.ts';
import type { RecordedEvent, RecordEvent } from '../decision.ts';
import { RecentMap } from '../recent-map.ts';
import { rememberedCounts } from './event-correlator.ts';
import type { EventRecorder } from './event-recorder.ts';

/**
 * Deduplicates events about states. Decisions come to the same conclusion again and again, and compare it with the last event of
 * their key. The memory is lost with the process, and for the oldest of very many keys: then an event is recorded once more.
 */
export class RecordedEvents {
  readonly #recorder: Pick<EventRecorder, 'record'>;
  readonly #clock: Clock;
  readonly #recorded = new RecentMap<string, RecordedEvent & { readonly number: number }>(rememberedEvents);
  /** How many events were recorded. */
  #count = 0;

  constructor(recorder: Pick<EventRecorder, 'record'>, clock: Clock) {
    this.#recorder = recorder;
    this.#clock = clock;
  }

  readonly lastEvent = (key: string): RecordedEvent | undefined => {
    const last = this.#recorded.get(key);
    return last === undefined ? undefined : { ...last, isForgotten: this.#count - last.number >= countedEvents };
  };

  record({ about, ...event }: RecordEvent['event'], rememberAs?: string, state?: string): void {
    const { reason, message } = event;
    this.#recorder.record(about, event);
    this.#count++;
    if (rememberAs === undefined) return;
    const [last, at] = [this.#recorded.get(rememberAs), this.#clock.now()];
    const isSame = last !== undefined && last.reason === reason && last.message === message && last.state === state;
    this.#recorded.set(rememberAs, { reason, message, state, at, since: isSame ? (last.since ?? last.at) : at, number: this.#count });
  }
}

const rememberedEvents = 100_000;
/** Other recorders' events share no memory with these; half is a safe estimate of what the correlator still counts. */
const countedEvents = rememberedCounts / 2;
