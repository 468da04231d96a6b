import type { Directories } from '../drivers/host-path/directories.ts';

/** Directories that are only remembered. */
export class SimulatedDirectories implements Directories {
  readonly paths = new Set<string>();
  /** What the next calls fail with. */
  readonly failures: string[] = [];

  async make(path: string): Promise<void> {
    this.#fail();
    this.paths.add(path);
  }

  async remove(path: string): Promise<void> {
    this.#fail();
    for (const each of this.paths) if (each === path || each.startsWith(`${path}/`)) this.paths.delete(each);
  }

  async list(path: string): Promise<readonly string[]> {
    this.#fail();
    return Array.from(this.paths).flatMap((each) => (each.startsWith(`${path}/`) ? [each.slice(path.length + 1)] : []));
  }

  #fail(): void {
    const failure = this.failures.shift();
    if (failure !== undefined) throw new Error(failure);
  }
}
