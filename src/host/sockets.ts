import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Sockets } from '../world/sockets.ts';
import type { Cancel, Timers } from '../world/world.ts';

/** Changes come in bursts, and a socket is bound before its server accepts. */
const settleMs = 5;
/** A directory that cannot be watched is tried again. */
const retryMs = 1000;
/** Of directories below each other, and of sockets: what is beyond is not a plugin's. */
const [maxDepth, maxSockets] = [8, 1000];

/** By inotify: nothing is done while nothing changes. */
export const realSockets = (timers: Timers): Sockets => ({ watch: (directory, onChange) => new SocketWatch(directory, onChange, timers).begin() });

class SocketWatch {
  readonly #directory: string;
  readonly #onChange: (sockets: ReadonlyMap<string, string>) => void;
  readonly #timers: Timers;
  readonly #watchers = new Map<string, FSWatcher>();
  #known = '';
  #state: 'idle' | 'waiting' | 'reading' | 'reading, and changed' | 'stopped' = 'idle';

  constructor(directory: string, onChange: (sockets: ReadonlyMap<string, string>) => void, timers: Timers) {
    this.#directory = directory;
    this.#onChange = onChange;
    this.#timers = timers;
  }

  begin(): Cancel {
    void this.#read();
    return () => {
      this.#state = 'stopped';
      for (const watcher of this.#watchers.values()) watcher.close();
      this.#watchers.clear();
    };
  }

  #changed(afterMs = settleMs): void {
    if (this.#state === 'reading') this.#state = 'reading, and changed';
    if (this.#state !== 'idle') return;
    this.#state = 'waiting';
    this.#timers.after(afterMs, () => void (this.#state === 'waiting' ? this.#read() : undefined));
  }

  async #read(): Promise<void> {
    this.#state = 'reading';
    const sockets = new Map<string, string>();
    const directories = new Set<string>();
    const found = await this.#walk(this.#directory, { sockets, directories, depth: 0 });
    if (this.#hasStopped()) return;
    if (found === 'unknown') {
      // As without a free file descriptor: the sockets that were there may still be.
      this.#state = 'idle';
      return this.#changed(retryMs);
    }
    for (const [directory, watcher] of this.#watchers) if (!directories.has(directory)) this.#unwatch(directory, watcher);
    const text = JSON.stringify([...sockets]);
    if (text !== this.#known) this.#onChange(sockets);
    this.#known = text;
    const again = this.#changedMeanwhile() ? settleMs : found === 'watched' ? undefined : retryMs;
    this.#state = 'idle';
    if (again !== undefined) this.#changed(again);
  }

  #hasStopped(): boolean {
    return this.#state === 'stopped';
  }

  #changedMeanwhile(): boolean {
    return this.#state === 'reading, and changed';
  }

  /** Watched before it is listed: what is made between the two is found by one of them. */
  async #walk(
    directory: string,
    found: { readonly sockets: Map<string, string>; readonly directories: Set<string>; readonly depth: number },
  ): Promise<'watched' | 'unwatched' | 'unknown'> {
    const { sockets, directories, depth } = found;
    try {
      if (depth === 0) await mkdir(directory, { recursive: true, mode: 0o755 });
      let result: 'watched' | 'unwatched' = (await this.#watch(directory)) ? 'watched' : 'unwatched';
      directories.add(directory);
      for (const name of (await readdir(directory)).sort()) {
        if (name.startsWith('.') || sockets.size >= maxSockets) continue;
        const file = path.join(directory, name);
        const stat = await lstat(file, { bigint: true }).catch(ifMissing);
        if (stat?.isSocket() === true) sockets.set(file, `${stat.dev}:${stat.ino}:${stat.ctimeNs}`);
        if (stat?.isDirectory() !== true || depth >= maxDepth) continue;
        const below = await this.#walk(file, { ...found, depth: depth + 1 });
        if (below === 'unknown') return below;
        if (below === 'unwatched') result = below;
      }
      return result;
    } catch (error) {
      return isMissing(error) ? 'unwatched' : 'unknown';
    }
  }

  /** Resolves with whether it is watched: the machine limits how many directories are. */
  async #watch(directory: string): Promise<boolean> {
    const { ino } = await lstat(directory);
    const key = `${directory}\0${ino}`;
    const known = this.#inodes.get(directory);
    if (this.#watchers.has(directory) && known === key) return true;
    this.#watchers.get(directory)?.close();
    this.#watchers.delete(directory);
    if (this.#hasStopped()) return false;
    let watcher: FSWatcher;
    try {
      watcher = watchDirectory(directory, { persistent: false }, () => this.#changed());
    } catch {
      return false;
    }
    watcher.on('error', () => this.#changed(retryMs));
    this.#watchers.set(directory, watcher);
    this.#inodes.set(directory, key);
    return true;
  }

  /** A directory that was removed and made again is another one. */
  readonly #inodes = new Map<string, string>();

  #unwatch(directory: string, watcher: FSWatcher): void {
    watcher.close();
    this.#watchers.delete(directory);
    this.#inodes.delete(directory);
  }
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
