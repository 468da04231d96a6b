import type { KubeObject } from '../../../api/object.ts';
import { cloneObject, deepEqual } from '../../../api/schema/index.ts';

/**
 * Which webhooks and policies run a second time (upstream: reinvocationContext). With reinvocationPolicy IfNeeded that is the case if the
 * object changed after the first run. None runs a third time.
 */
export class Reinvocation {
  readonly #invoked = new Set<string>();
  readonly #again = new Set<string>();
  #last: KubeObject | undefined;
  #repeats = false;
  /** The object changed: the plugins in front run again. */
  needed = false;

  /** Before each round. Changes by other plugins since the last round count too. */
  begin(object: KubeObject): void {
    if (this.#last === undefined) return;
    if (!deepEqual(object, this.#last)) this.#require();
    this.#repeats = true;
  }

  /** After each round. */
  end(object: KubeObject): void {
    this.#last = cloneObject(object);
  }

  get round(): 0 | 1 {
    return this.#repeats ? 1 : 0;
  }

  isDue(id: string): boolean {
    return !this.#repeats || this.#again.has(id);
  }

  changed(): void {
    this.#require();
    this.needed = true;
  }

  invoked(id: string): void {
    this.#invoked.add(id);
  }

  #require(): void {
    for (const id of this.#invoked) this.#again.add(id);
    this.#invoked.clear();
  }
}
