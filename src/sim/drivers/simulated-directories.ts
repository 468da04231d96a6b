import type { Directories } from '../../drivers/directories.ts';

/** Directories in memory. */
export class SimulatedDirectories implements Directories {
  readonly paths = new Set<string>();
  readonly notes = new Map<string, string>();
  /** The errors of the next calls. */
  readonly failures: string[] = [];

  async make(path: string): Promise<void> {
    this.#fail();
    this.paths.add(path);
  }

  /** A simulated machine has one user. */
  async own(): Promise<void> {
    return undefined;
  }

  async remove(path: string): Promise<void> {
    this.#fail();
    this.notes.delete(path);
    for (const each of this.paths) if (each === path || each.startsWith(`${path}/`)) this.paths.delete(each);
  }

  async list(path: string): Promise<readonly string[]> {
    this.#fail();
    return Array.from(this.paths).flatMap((each) => (each.startsWith(`${path}/`) ? [each.slice(path.length + 1)] : []));
  }

  async readFile(path: string): Promise<string | undefined> {
    return this.notes.get(path);
  }

  async writeFile(path: string, text: string): Promise<void> {
    this.#fail();
    this.notes.set(path, text);
  }

  #fail(): void {
    const failure = this.failures.shift();
    if (failure !== undefined) throw new Error(failure);
  }
}
