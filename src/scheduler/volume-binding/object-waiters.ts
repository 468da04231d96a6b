import type { Cancel } from '../../world/world.ts';

/** Who waits for which object to change. */
export class ObjectWaiters {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Nobody waits for anything: keys need not be made. */
  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** `key`: 'pv/name', 'pvc/namespace/name', 'node/name'. */
  notify(key: string): void {
    for (const listener of this.#listeners.get(key) ?? []) listener();
  }

  /** Called at each ring of any of the keys. */
  wait(keys: readonly string[], listener: () => void): Cancel {
    for (const key of keys) {
      const listeners = this.#listeners.get(key);
      if (listeners === undefined) this.#listeners.set(key, new Set([listener]));
      else listeners.add(listener);
    }
    return () => {
      for (const key of keys) {
        const listeners = this.#listeners.get(key);
        listeners?.delete(listener);
        if (listeners?.size === 0) this.#listeners.delete(key);
      }
    };
  }
}
