import { type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type LineOptions, LogPrinter } from './log-lines.ts';

export interface LogSource {
  /** The file that grows. */
  readonly file: string;
  /** The container has ended. */
  readonly hasEnded: () => boolean;
  /** Calls back when that may have changed. */
  readonly onChange: (listener: () => void) => () => void;
}

export interface ReadOptions extends LineOptions {
  readonly follow: boolean;
  readonly tailLines: number | undefined;
}

const blockBytes = 64 * 1024;
/** The shim splits lines at 16 KiB: a longer one is not from its log. */
const longestLine = 1024 * 1024;

/** The log as `kubectl logs` shows it: of the current file, and with `follow` of its successors. */
export const readLog = (source: LogSource, options: ReadOptions): Readable => Readable.from(pieces(source, options), { objectMode: false });

async function* pieces(source: LogSource, options: ReadOptions): AsyncGenerator<Buffer> {
  const printer = new LogPrinter(options);
  const changes = new Changes(source);
  let file = await open(source.file, 'r').catch(() => undefined);
  if (file === undefined) return;
  try {
    let offset = await startOf(file, options.tailLines);
    let unread: Buffer = Buffer.alloc(0);
    for (;;) {
      // Checked before reading: everything that was written before the end is read now.
      const isLast = !options.follow || source.hasEnded();
      const block = Buffer.allocUnsafe(blockBytes);
      const { bytesRead } = await file.read(block, 0, blockBytes, offset);
      offset += bytesRead;
      if (bytesRead > 0) {
        unread = Buffer.concat([unread, block.subarray(0, bytesRead)]);
        const { printed, rest } = printLines(unread, printer);
        unread = rest.length > longestLine ? Buffer.alloc(0) : Buffer.from(rest);
        if (printed.length > 0) yield printed;
        if (printer.isFull) return;
        continue;
      }
      const next: FileHandle | undefined = await successor(source.file, file);
      if (next !== undefined && options.follow) {
        await file.close();
        [file, offset, unread] = [next, 0, Buffer.alloc(0)];
        continue;
      }
      await next?.close();
      if (isLast) return;
      await changes.next();
    }
  } finally {
    changes.close();
    await file.close();
  }
}

function printLines(bytes: Buffer, printer: LogPrinter): { readonly printed: Buffer; readonly rest: Buffer } {
  const printed: Buffer[] = [];
  let from = 0;
  for (let end = bytes.indexOf(10); end >= 0 && !printer.isFull; end = bytes.indexOf(10, from)) {
    printed.push(printer.print(bytes.subarray(from, end)));
    from = end + 1;
  }
  return { printed: Buffer.concat(printed), rest: bytes.subarray(from) };
}

/** Where the last lines begin. */
async function startOf(file: FileHandle, lines: number | undefined): Promise<number> {
  if (lines === undefined) return 0;
  const { size } = await file.stat();
  if (lines === 0) return size;
  let left = lines + 1;
  for (let end = size; end > 0; end -= Math.min(end, blockBytes)) {
    const from = Math.max(0, end - blockBytes);
    const block = Buffer.allocUnsafe(end - from);
    await file.read(block, 0, block.length, from);
    for (let at = block.lastIndexOf(10); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(10, at - 1)) if (--left === 0) return from + at + 1;
  }
  return 0;
}

/** The file of that name, if the log was rotated. */
async function successor(name: string, file: FileHandle): Promise<FileHandle | undefined> {
  const next = await open(name, 'r').catch(() => undefined);
  if (next === undefined) return undefined;
  const [old, now] = await Promise.all([file.stat(), next.stat()]);
  if (old.ino !== now.ino) return next;
  await next.close();
  return undefined;
}

/** Waits until the log may have changed: its directory, or the container's end. */
class Changes {
  readonly #watcher: FSWatcher | undefined;
  readonly #cancel: () => void;
  #changed = false;
  #wake: () => void = () => undefined;

  constructor({ file, onChange }: LogSource) {
    const changed = (): void => {
      this.#changed = true;
      this.#wake();
    };
    this.#cancel = onChange(changed);
    try {
      this.#watcher = watch(path.dirname(file), changed);
      this.#watcher.on('error', changed);
    } catch {
      this.#watcher = undefined;
    }
  }

  async next(): Promise<void> {
    if (!this.#changed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#changed = false;
  }

  close(): void {
    this.#cancel();
    this.#watcher?.close();
    this.#wake();
  }
}
