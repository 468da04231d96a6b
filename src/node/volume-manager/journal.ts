import type { AppendFile, Disk } from '../../world/disk.ts';
import type { Log } from '../../world/world.ts';

/** Something that may be mounted: recorded before it is mounted, and removed after it is unmounted. */
export type MountRecord = PublishedRecord | StagedRecord;

export interface PublishedRecord {
  readonly type: 'published';
  /** 'pod uid/name in the pod' */
  readonly key: string;
  readonly podUid: string;
  /** 'namespace/name' */
  readonly pod: string;
  readonly podVolume: string;
  readonly driver: string;
  /** The driver's name for it. */
  readonly name: string;
  readonly uniqueName: string;
  readonly target: string;
  readonly stagingPath: string | undefined;
  readonly claim: string | undefined;
  /** As node statuses name it; undefined: it needs no attachment. */
  readonly attached: string | undefined;
}

export interface StagedRecord {
  readonly type: 'staged';
  /** Its path. */
  readonly key: string;
  readonly driver: string;
  readonly name: string;
  readonly uniqueName: string;
  readonly attached: string | undefined;
}

export interface JournalOptions {
  readonly disk: Disk;
  /** For the journal alone. */
  readonly directory: string;
  readonly log: Log;
}

interface Line {
  readonly text: string;
  /** It is on disk. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A write-ahead journal of what may be mounted: a line for each change, synced before `put` resolves. Concurrent changes share one sync. A line
 * that cannot be read was being written when the machine stopped: nothing was mounted because of it, since `put` had not resolved.
 */
export class Journal {
  readonly #options: JournalOptions;
  #file: AppendFile;
  readonly #records: Map<string, MountRecord>;
  #lines: Line[] = [];
  #written = 0;
  #busy = false;

  /** Reads the records of an earlier process. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { disk, directory } = options;
    await disk.makeDirectory(directory);
    const records = await readAll(options);
    return new Journal(options, records, await rewritten(disk, directory, records));
  }

  private constructor(options: JournalOptions, records: Map<string, MountRecord>, file: AppendFile) {
    this.#options = options;
    this.#records = records;
    this.#file = file;
  }

  get records(): Iterable<MountRecord> {
    return this.#records.values();
  }

  async put(record: MountRecord): Promise<void> {
    const known = this.#records.get(record.key);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(record)) return;
    await this.#append({ put: record }, () => void this.#records.set(record.key, record));
  }

  async drop(key: string): Promise<void> {
    await this.#append({ drop: key }, () => void this.#records.delete(key));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** `apply` is called as soon as the line is on disk, so that a rewrite contains it. */
  #append(change: unknown, apply: () => void): Promise<void> {
    return new Promise((done, reject) => {
      const resolve = () => {
        apply();
        done();
      };
      this.#lines.push({ text: lineOf(change), resolve, reject });
      if (!this.#busy) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    this.#busy = true;
    while (this.#lines.length > 0) {
      const lines = this.#lines;
      this.#lines = [];
      try {
        await this.#file.append([utf8.encode(lines.map(({ text }) => text).join(''))]);
        await this.#file.sync();
        for (const { resolve } of lines) resolve();
      } catch (error) {
        for (const { reject } of lines) reject(error);
      }
      this.#written += lines.length;
      if (this.#written > linesBeforeRewriting + 4 * this.#records.size) await this.#rewrite();
    }
    this.#busy = false;
  }

  async #rewrite(): Promise<void> {
    const { disk, directory, log } = this.#options;
    try {
      const next = await rewritten(disk, directory, this.#records);
      const old = this.#file;
      this.#file = next;
      this.#written = 0;
      await old.close();
    } catch (error) {
      log.warn('cannot shorten the journal of mounts', { why: String(error) });
      this.#written = 0;
    }
  }
}

const utf8 = new TextEncoder();
/** With a line break on both sides: what a crash leaves before or after it is on a line of its own. */
const lineOf = (change: unknown): string => `\n${JSON.stringify(change)}\n`;
const linesBeforeRewriting = 1000;
const nameOf = (directory: string): string => `${directory}/mounts.journal`;

async function readAll({ disk, directory, log }: JournalOptions): Promise<Map<string, MountRecord>> {
  const records = new Map<string, MountRecord>();
  const names = await disk.list(directory);
  if (!names.includes('mounts.journal')) return records;
  const file = nameOf(directory);
  const bytes = await disk.read(file, 0, await disk.size(file));
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    if (line === '') continue;
    const change = changeIn(line);
    if (change === undefined) log.warn('a line of the journal of mounts cannot be read', { line: line.slice(0, 200) });
    else if ('put' in change) records.set(change.put.key, change.put);
    else records.delete(change.drop);
  }
  return records;
}

function changeIn(line: string): { readonly put: MountRecord } | { readonly drop: string } | undefined {
  try {
    const change = JSON.parse(line) as { put?: MountRecord; drop?: string };
    if (typeof change.drop === 'string') return { drop: change.drop };
    const isRecord = typeof change.put?.key === 'string' && (change.put.type === 'staged' || change.put.type === 'published');
    return isRecord && change.put !== undefined ? { put: change.put } : undefined;
  } catch {
    return undefined;
  }
}

async function rewritten(disk: Disk, directory: string, records: ReadonlyMap<string, MountRecord>): Promise<AppendFile> {
  const next = `${nameOf(directory)}.next`;
  if ((await disk.list(directory)).includes('mounts.journal.next')) await disk.remove(next);
  const file = await disk.openAppend(next);
  await file.append([utf8.encode([...records.values()].map((put) => lineOf({ put })).join(''))]);
  await file.sync();
  await disk.rename(next, nameOf(directory));
  // If this fails, either name leads to the same records.
  await disk.syncDirectory(directory).catch(() => undefined);
  return file;
}
