import type { KubeObject } from '../api/object.ts';
import type { Clock } from '../world/world.ts';
import { RecentMap } from './recent-map.ts';
import type { Recorder, Report } from './recorder.ts';

/** What was said, and when: milliseconds since 1970. */
export interface Telling {
  readonly reason: string;
  readonly message: string;
  readonly at: number;
}

/**
 * Events that say how things stand, not what happened: decisions come to the same conclusion again and again, and ask here
 * what was said before. Forgotten with the process, and for the oldest of very many: then it is said once more.
 */
export class Tellings {
  readonly #recorder: Pick<Recorder, 'record'>;
  readonly #clock: Clock;
  readonly #said = new RecentMap<string, Telling>(remembered);

  constructor(recorder: Pick<Recorder, 'record'>, clock: Clock) {
    this.#recorder = recorder;
    this.#clock = clock;
  }

  /** What was last said under this key. */
  readonly told = (key: string): Telling | undefined => this.#said.get(key);

  tell({ about, ...report }: Report & { readonly about: KubeObject }, rememberAs?: string): void {
    this.#recorder.record(about, report);
    if (rememberAs !== undefined) this.#said.set(rememberAs, { ...report, at: this.#clock.now() });
  }
}

const remembered = 100_000;
