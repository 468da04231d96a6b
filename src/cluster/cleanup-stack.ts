import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseMountInfo } from '../host/mount-info.ts';

/** What has to be taken down again, in the opposite order; once, however often it is asked for. */
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

/** It stays if anything is mounted in it at the end: somebody's data is behind that. */
export async function temporaryDirectory(undo: CleanupStack): Promise<string> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'mooring-')));
  undo.defer(async () => {
    // There is no such file where nothing can be mounted.
    const mounts = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''));
    if (!mounts.some(({ target }) => target.startsWith(`${directory}/`))) await rm(directory, { recursive: true, force: true });
  });
  return directory;
}
