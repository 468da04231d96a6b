import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../../../world/world.ts';

/** The kubelet's defaults: 10 MiB a file, five files. */
export interface LogBounds {
  readonly bytes: number;
  readonly files: number;
}

/** Longer lines are split. */
const longestPart = 16 * 1024;

type Stream = 'stdout' | 'stderr';

/**
 * A container's log in CRI's format: '2026-01-02T03:04:05.000000000Z stdout F text'. P instead of F: the next entry of the stream continues the line. Full files
 * are rotated: their names end with the time.
 */
export class LogFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  #descriptor: number;
  #size: number;
  readonly #unfinished: Record<Stream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  /** So that lines of one millisecond keep their order. */
  #lastMs = 0;
  #withinMs = 0;

  constructor(file: string, clock: Clock, bounds: LogBounds) {
    this.#path = file;
    this.#clock = clock;
    this.#bounds = bounds;
    this.#descriptor = openSync(file, 'a', 0o640);
    this.#size = statSync(file).size;
  }

  write(stream: Stream, chunk: Buffer): void {
    const parts: Buffer[] = [];
    const stamp = this.#stamp();
    let rest = this.#unfinished[stream].length === 0 ? chunk : Buffer.concat([this.#unfinished[stream], chunk]);
    for (let end = rest.indexOf(10); end >= 0 || rest.length >= longestPart; end = rest.indexOf(10)) {
      const isWhole = end >= 0 && end <= longestPart;
      const length = isWhole ? end : longestPart;
      parts.push(Buffer.from(`${stamp} ${stream} ${isWhole ? 'F' : 'P'} `), rest.subarray(0, length), newline);
      rest = rest.subarray(isWhole ? length + 1 : length);
    }
    this.#unfinished[stream] = Buffer.from(rest);
    this.#append(Buffer.concat(parts));
  }

  /** Writes the last lines, even without a line break. */
  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#unfinished[stream];
      if (rest.length > 0) this.#append(Buffer.concat([Buffer.from(`${this.#stamp()} ${stream} P `), rest, newline]));
    }
    closeSync(this.#descriptor);
  }

  #append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#size > 0 && this.#size + bytes.length > this.#bounds.bytes) this.#rotate();
    // The disk is full: the container continues without its log.
    try {
      writeSync(this.#descriptor, bytes);
      this.#size += bytes.length;
    } catch {
      this.#size = statSync(this.#path).size;
    }
  }

  #rotate(): void {
    closeSync(this.#descriptor);
    const stamp = this.#stamp().replaceAll(/[-:.TZ]/g, '');
    renameSync(this.#path, `${this.#path}.${stamp}`);
    for (const old of oldFiles(this.#path).slice(0, -(this.#bounds.files - 1))) rmSync(old, { force: true });
    this.#descriptor = openSync(this.#path, 'a', 0o640);
    this.#size = 0;
  }

  #stamp(): string {
    const ms = this.#clock.now();
    this.#withinMs = ms === this.#lastMs ? Math.min(this.#withinMs + 1, 999_999) : 0;
    this.#lastMs = ms;
    return `${new Date(ms).toISOString().slice(0, -1)}${String(this.#withinMs).padStart(6, '0')}Z`;
  }
}

const newline = Buffer.from('\n');

/** Rotated files, oldest first. */
export function oldFiles(file: string): readonly string[] {
  const [folder, name] = [path.dirname(file), path.basename(file)];
  return readdirSync(folder)
    .filter((each) => each.startsWith(`${name}.`))
    .sort()
    .map((each) => path.join(folder, each));
}

/** What the last entries of a log say, as the kubelet's `FallbackToLogsOnError` has it: 80 entries and 2 KiB at most. A line that was not ended stays so. */
export function lastOutput(log: string): string {
  const entries = Array.from(log.matchAll(/^\d{4}-\S+Z (?:stdout|stderr) ([FP]) (.*)$/gm), ([, tag, text = '']) => (tag === 'F' ? `${text}\n` : text));
  return Buffer.from(entries.slice(-80).join('')).subarray(-2048).toString();
}
