import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../world/world.ts';
import { RecentMap } from '../recent-map.ts';
import type { EventRecorder, EventDraft } from './event-recorder.ts';

/** What was said, and when: milliseconds since 1970. */
export interface RecordedEvent {
  readonly reason: string;
  readonly message: string;
  readonly at: number;
}

/**
 * Events that say how things stand, not what happened: decisions come to the same conclusion again and again, and ask here
 * what was said before. Forgotten with the process, and for the oldest of very many: then it is said once more.
 */
export class RecordedEvents {
  readonly #recorder: Pick<EventRecorder, 'record'>;
  readonly #clock: Clock;
  readonly #recorded = new RecentMap<string, RecordedEvent>(remembered);

  constructor(recorder: Pick<EventRecorder, 'record'>, clock: Clock) {
    this.#recorder = recorder;
    this.#clock = clock;
  }

  /** What was last said under this key. */
  readonly lastEvent = (key: string): RecordedEvent | undefined => this.#recorded.get(key);

  record({ about, ...report }: EventDraft & { readonly about: KubeObject }, rememberAs?: string): void {
    this.#recorder.record(about, report);
    if (rememberAs !== undefined) this.#recorded.set(rememberAs, { ...report, at: this.#clock.now() });
  }
}

const remembered = 100_000;
