import type { Sockets } from '../../../world/sockets.ts';
import type { Cancel, Timers } from '../../../world/world.ts';

/** The registration sockets of the drivers on a simulated machine, as files in `plugins_registry`. */
export class RegistrySockets {
  readonly #sockets = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #made = 0;

  add(path: string): void {
    if (this.#sockets.has(path)) return;
    this.#sockets.set(path, String(++this.#made));
    this.#changed();
  }

  remove(path: string): void {
    if (this.#sockets.delete(path)) this.#changed();
  }

  clear(): void {
    this.#sockets.clear();
    this.#changed();
  }

  /** As a process sees them: `timers` are its own, which stop with it. */
  seenBy(timers: Timers): Sockets {
    return {
      watch: (directory, onChange): Cancel => {
        const tell = (): void => timers.soon(() => onChange(new Map(Array.from(this.#sockets).filter(([path]) => path.startsWith(`${directory}/`)))));
        this.#listeners.add(tell);
        tell();
        return () => void this.#listeners.delete(tell);
      },
    };
  }

  #changed(): void {
    for (const tell of this.#listeners) tell();
  }
}
