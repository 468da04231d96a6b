import type { AppendFile, Disk } from '../../world/disk.ts';
import type { Clock } from '../../world/world.ts';
import type { AuditBackend } from './audit-log.ts';

interface RotationOptions {
  /** A file that would grow beyond it is rotated first. */
  readonly maxBytes: number;
  /** Rotated files that are kept; 0: all of them. */
  readonly maxBackups: number;
  /** How long they are kept, in days; 0: for ever. */
  readonly maxAgeDays: number;
}

export interface RotatingFileOptions extends RotationOptions {
  readonly directory: string;
  /** 'audit' */
  readonly name: string;
  /** '.log' */
  readonly extension: string;
  readonly disk: Disk;
  readonly clock: Clock;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * A file that is rotated when it is full, named as by Kubernetes' audit log: `audit.log` becomes `audit-2026-11-16T03-04-25.120.log`.
 */
export class RotatingFile implements AuditBackend {
  readonly #options: RotatingFileOptions;
  #file: AppendFile | undefined;
  #size = 0;
  /** The file ends with part of a failed write. */
  #torn = false;

  private constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** @throws what opening throws */
  static async open(options: RotatingFileOptions): Promise<RotatingFile> {
    const file = new RotatingFile(options);
    await options.disk.makeDirectory(options.directory);
    await file.#open();
    await file.#removeOld();
    return file;
  }

  async write(lines: Uint8Array): Promise<void> {
    if (this.#torn) await this.#mend();
    if (this.#size > 0 && this.#size + lines.length > this.#options.maxBytes) await this.#rotate();
    const file = this.#file ?? (await this.#open());
    // Until the write has succeeded.
    this.#torn = true;
    await file.append([lines]);
    this.#torn = false;
    this.#size += lines.length;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #open(): Promise<AppendFile> {
    const { disk } = this.#options;
    const file = await disk.openAppend(this.#path);
    this.#file = file;
    this.#size = await disk.size(this.#path);
    return file;
  }

  /** Half a line would spoil the next one. */
  async #mend(): Promise<void> {
    try {
      await this.#options.disk.truncate(this.#path, this.#size);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') throw error;
      // The file was removed; the next write makes a new one.
      await this.close();
    }
    this.#torn = false;
  }

  async #rotate(): Promise<void> {
    const { disk } = this.#options;
    await this.close();
    await disk.rename(this.#path, await this.#freeName());
    this.#size = 0;
    await this.#open();
    await this.#removeOld();
  }

  /** Two files may be full within a millisecond: neither replaces the other. */
  async #freeName(): Promise<string> {
    const taken = new Set(await this.#backups());
    let at = this.#options.clock.now();
    while (taken.has(this.#backupName(at))) at += 1;
    return this.#within(this.#backupName(at));
  }

  async #removeOld(): Promise<void> {
    const { disk, clock, maxBackups, maxAgeDays } = this.#options;
    const newestFirst = [...(await this.#backups())].reverse();
    const oldest = this.#backupName(clock.now() - maxAgeDays * dayMs);
    const old = newestFirst.filter((name, at) => (maxBackups > 0 && at >= maxBackups) || (maxAgeDays > 0 && name < oldest));
    for (const name of old) await disk.remove(this.#within(name));
  }

  /** Oldest first: that is the order of their names. */
  async #backups(): Promise<readonly string[]> {
    const { disk, directory, name, extension: ext } = this.#options;
    const names = await disk.list(directory);
    return names
      .filter((other) => other.startsWith(`${name}-`) && other.endsWith(ext) && timeFormat.test(other.slice(name.length + 1, other.length - ext.length)))
      .sort();
  }

  #backupName(at: number): string {
    const { name, extension } = this.#options;
    return `${name}-${new Date(at).toISOString().slice(0, -1).replaceAll(':', '-')}${extension}`;
  }

  get #path(): string {
    return this.#within(`${this.#options.name}${this.#options.extension}`);
  }

  #within(file: string): string {
    return `${this.#options.directory}/${file}`;
  }
}

const timeFormat = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/;
