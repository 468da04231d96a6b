import type { Cancel } from '../../world/world.ts';

/** Callbacks that wait for a change of certain objects. */
export class ObjectWaiters {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Then no keys need to be built. */
  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** `key`: 'pv/name', 'pvc/namespace/name', 'node/name'. */
  notify(key: string): void {
    for (const listener of this.#listeners.get(key) ?? []) listener();
  }

  /** Calls back at each change of any of the objects, until cancelled. */
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
