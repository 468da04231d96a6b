import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseMountInfo } from '../host/mount-info.ts';

/** Cleanup steps that run once, last in first out. */
export class CleanupStack {
  readonly #steps: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;

  defer(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  run(): Promise<void> {
    this.#running ??= this.#all();
    return this.#running;
  }

  async #all(): Promise<void> {
    for (const step of this.#steps.reverse()) await step();
  }
}

/** Removed at the end, unless something is mounted in it: the mounted data must not be deleted. */
export async function temporaryDirectory(cleanup: CleanupStack): Promise<string> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'mooring-')));
  cleanup.defer(async () => {
    // Absent where nothing can be mounted.
    const mounts = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''));
    if (!mounts.some(({ target }) => target.startsWith(`${directory}/`))) await rm(directory, { recursive: true, force: true });
  });
  return directory;
}
