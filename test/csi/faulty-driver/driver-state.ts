import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RpcError } from '../../../src/grpc/status.ts';
import type { Fault } from './faults.ts';

export interface StoredVolume {
  readonly id: string;
  readonly name: string;
  size: number;
  /** 'snapshot s1', 'volume v1', or nothing. */
  readonly source: string;
  readonly isBlock: boolean;
  readonly mode: number;
  node: string;
  isReadonly: boolean;
}

export interface StoredSnapshot {
  readonly id: string;
  readonly name: string;
  readonly sourceVolumeId: string;
  readonly size: number;
  readonly groupId: string;
  readonly createdAt: number;
}

interface Stored {
  next: number;
  volumes: Record<string, StoredVolume>;
  snapshots: Record<string, StoredSnapshot>;
  /** Group id → name. */
  groups: Record<string, string>;
  /** Target or staging path → how it was mounted. */
  mounts: Record<string, string>;
  locks: string[];
}

/** What the driver knows, in one file that is replaced at once. */
export class DriverState {
  readonly directory: string;
  readonly faults: ReadonlySet<Fault>;
  readonly nodeId: string;
  /** Whether it was read from the file of an earlier process. */
  readonly isRestarted: boolean;
  readonly data: Stored;
  readonly #locks = new Set<string>();

  constructor(options: { directory: string; faults: ReadonlySet<Fault>; nodeId: string }) {
    this.directory = options.directory;
    this.faults = options.faults;
    this.nodeId = options.nodeId;
    this.isRestarted = existsSync(this.#file);
    const empty: Stored = { next: 1, volumes: {}, snapshots: {}, groups: {}, mounts: {}, locks: [] };
    const read: Stored = this.isRestarted ? JSON.parse(readFileSync(this.#file, 'utf8')) : empty;
    this.data = this.has('state-lost') ? { ...empty, next: read.next } : read;
    if (this.has('lock-kept-after-crash')) for (const key of this.data.locks) this.#locks.add(key);
  }

  has(fault: Fault): boolean {
    return this.faults.has(fault);
  }

  get #file(): string {
    return path.join(this.directory, 'state.json');
  }

  save(): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.data));
    renameSync(`${this.#file}.new`, this.#file);
  }

  newId(kind: string): string {
    return `${kind}-${this.data.next++}`;
  }

  pathOf(id: string): string {
    return path.join(this.directory, id);
  }

  volume(id: string): StoredVolume {
    const volume = this.data.volumes[required(id, 'volume_id')];
    if (volume === undefined) throw new RpcError('NotFound', `volume ${id} does not exist`);
    return volume;
  }

  /** One call for a key at a time: the second one is refused. A moment passes within it, so that calls meet. */
  async locked<T>(key: string, signal: AbortSignal, task: () => T | Promise<T>): Promise<T> {
    if (this.#locks.has(key)) throw new RpcError('Aborted', `an operation for ${key} is pending`);
    this.#locks.add(key);
    if (this.has('lock-kept-after-crash')) {
      this.data.locks = [...this.#locks];
      this.save();
    }
    try {
      if (this.has('lock-kept-when-cancelled')) await cancelledOrLate(signal);
      await moment();
      return await task();
    } finally {
      if (!(this.has('lock-kept-when-cancelled') && signal.aborted)) this.#locks.delete(key);
      this.data.locks = this.data.locks.filter((each) => each !== key);
      if (this.has('lock-kept-after-crash')) this.save();
    }
  }
}

/** Long enough for a crash or a second call. */
export const moment = (ms = 2): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Until the call is cancelled; a second at most. */
export const cancelledOrLate = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

export function required(value: string, field: string): string {
  if (value === '') throw new RpcError('InvalidArgument', `${field} is missing`);
  return value;
}
