import type { KubeObject } from '../../../api/object.ts';
import { cloneObject, deepEqual } from '../../../api/schema/index.ts';

/**
 * Who has to be asked again. Who may be (reinvocationPolicy IfNeeded) is asked a second time if, after its first, anybody changed the
 * object; nobody is asked a third time.
 */
export class Reinvocation {
  readonly #invoked = new Set<string>();
  readonly #again = new Set<string>();
  #last: KubeObject | undefined;
  #repeats = false;
  /** Somebody has changed the object: everybody who changes objects has another look at it. */
  needed = false;

  /** Before each round. What others have changed since the last one counts as well. */
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
