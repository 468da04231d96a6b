import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Manifests } from '../world/manifests.ts';
import type { Cancel, Timers } from '../world/world.ts';

/** A file is written in several steps: it is read when it has been left alone for this long. */
const settleMs = 100;
/** A directory that cannot be read or watched is tried again. */
const retryMs = 20_000;
/** What is beyond is no manifest. */
const [maxFiles, maxBytes] = [1000, 1024 * 1024];

/** By inotify: nothing is done while nothing changes. */
export const realManifests = (timers: Timers): Manifests => ({ watch: (directory, onChange) => new ManifestWatch(directory, onChange, timers).begin() });

class ManifestWatch {
  readonly #directory: string;
  readonly #onChange: (files: ReadonlyMap<string, Uint8Array>) => void;
  readonly #timers: Timers;
  #watcher: FSWatcher | undefined;
  #cancel: Cancel = () => undefined;
  #hasStopped = false;

  constructor(directory: string, onChange: (files: ReadonlyMap<string, Uint8Array>) => void, timers: Timers) {
    this.#directory = directory;
    this.#onChange = onChange;
    this.#timers = timers;
  }

  begin(): Cancel {
    void this.#read();
    return () => {
      this.#hasStopped = true;
      this.#cancel();
      this.#watcher?.close();
    };
  }

  #readAfter(ms: number): void {
    if (this.#hasStopped) return;
    this.#cancel();
    this.#cancel = this.#timers.after(ms, () => void this.#read());
  }

  async #read(): Promise<void> {
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      // Watched before it is read: what changes between the two is found by one of them.
      this.#watch();
      const files = await filesIn(this.#directory);
      if (!this.#hasStopped) this.#onChange(files);
    } catch {
      // The files that were there may still be.
      this.#readAfter(retryMs);
    }
  }

  /** A watcher ends with its directory: that is seen as a change. */
  #watch(): void {
    this.#watcher?.close();
    if (this.#hasStopped) return;
    this.#watcher = watchDirectory(this.#directory, { persistent: false }, () => this.#readAfter(settleMs));
    this.#watcher.on('error', () => this.#readAfter(settleMs));
  }
}

/** A file that is too large to be a manifest is an empty one, which is refused as such. */
async function filesIn(directory: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const name of (await readdir(directory)).sort()) {
    if (name.startsWith('.') || files.size >= maxFiles) continue;
    const file = path.join(directory, name);
    const facts = await stat(file).catch(() => undefined);
    if (facts?.isFile() === true) files.set(file, facts.size > maxBytes ? new Uint8Array() : await readFile(file));
  }
  return files;
}
