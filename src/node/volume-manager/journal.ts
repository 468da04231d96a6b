import { crc32 } from 'node:zlib';
import type { AppendFile, Disk } from '../../world/disk.ts';
import type { CsiSource } from '../../api/volumes/csi-translation.ts';
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
  /** Of a CSI volume; absent: an earlier version wrote it. */
  readonly csi?: CsiSource | undefined;
}

export interface StagedRecord {
  readonly type: 'staged';
  /** Its path. */
  readonly key: string;
  readonly driver: string;
  readonly name: string;
  readonly uniqueName: string;
  readonly attached: string | undefined;
  readonly csi?: CsiSource | undefined;
}

export interface JournalOptions {
  readonly disk: Disk;
  /** For the journal alone. */
  readonly directory: string;
  readonly log: Log;
}

interface PendingChange {
  readonly change: Change;
  /** It is on disk. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The journal is in a state that no crash leaves behind: what is mounted is not known. It is left as it is. */
export class JournalDamage extends Error {}

/**
 * A write-ahead journal of what may be mounted: a line for each change, synced before `put` resolves. Concurrent changes share one sync.
 *
 * The first line says how many records follow at least, and each line has a checksum. An append is one line. If the last one cannot be read it was
 * being written when the machine stopped: nothing was mounted because of it, since `put` had not resolved. Any other that cannot be read is damage.
 */
export class Journal {
  readonly #options: JournalOptions;
  #file: AppendFile;
  readonly #records: Map<string, MountRecord>;
  #pending: PendingChange[] = [];
  /** A refused append may have left part of a line, and a refused sync a line that was answered with an error: the journal is written anew before the next one. */
  #isTorn = false;
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
  #append(change: Change, apply: () => void): Promise<void> {
    return new Promise((done, reject) => {
      const resolve = () => {
        apply();
        done();
      };
      this.#pending.push({ change, resolve, reject });
      if (!this.#busy) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    this.#busy = true;
    while (this.#pending.length > 0) {
      const pending = this.#pending;
      this.#pending = [];
      try {
        if (this.#isTorn) await this.#replaceFile();
        this.#isTorn = true;
        await this.#file.append([utf8.encode(lineOf(pending.map(({ change }) => change)))]);
        await this.#file.sync();
        this.#isTorn = false;
        for (const { resolve } of pending) resolve();
      } catch (error) {
        for (const { reject } of pending) reject(error);
      }
      this.#written += pending.length;
      if (this.#written > linesBeforeRewriting + 4 * this.#records.size) await this.#rewrite();
    }
    this.#busy = false;
  }

  async #replaceFile(): Promise<void> {
    const { disk, directory } = this.#options;
    const next = await rewritten(disk, directory, this.#records);
    const old = this.#file;
    this.#file = next;
    this.#written = 0;
    await old.close();
  }

  async #rewrite(): Promise<void> {
    try {
      await this.#replaceFile();
    } catch (error) {
      this.#options.log.warn('cannot shorten the journal of mounts', { why: String(error) });
      this.#written = 0;
    }
  }
}

const utf8 = new TextEncoder();
/** With a line break on both sides: what a crash leaves before or after it is on a line of its own. */
const lineOf = (change: unknown): string => {
  const text = JSON.stringify(change);
  return `\n${checksumOf(text)} ${text}\n`;
};
const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, '0');
const linesBeforeRewriting = 1000;
const nameOf = (directory: string): string => `${directory}/mounts.journal`;
/** Written once there is a journal: from then on it must be there. */
const marker = 'created';

interface FirstLine {
  readonly journal: 'mounts';
  readonly format: 2;
  /** So many lines with a record each were written, and synced, together with this one. */
  readonly records: number;
}

async function readAll({ disk, directory, log }: JournalOptions): Promise<Map<string, MountRecord>> {
  const names = await disk.list(directory);
  const file = nameOf(directory);
  if (!names.includes('mounts.journal')) {
    if (names.includes(marker)) throw damaged(file, 'a journal of mounts', 'no file');
    return new Map();
  }
  const text = new TextDecoder().decode(await disk.read(file, 0, await disk.size(file)));
  const lines = text.split('\n').filter((line) => line !== '');
  // Before format 2: a change on each line, without checksum and first line.
  if (!names.includes(marker) && (lines[0] ?? '{').startsWith('{')) return recordsOf(lines.flatMap((line) => changesIn(line) ?? []));
  const first = firstLineIn(lines[0]);
  if (first === undefined) throw damaged(file, 'the first line of a journal', lines[0] === undefined ? 'an empty file' : JSON.stringify(lines[0].slice(0, 60)));
  const changes = lines.slice(1).map((line) => changesIn(checked(line)));
  const bad = changes.indexOf(undefined);
  const isTornEnd = bad === changes.length - 1 && bad >= first.records;
  if (changes.length < first.records) throw damaged(file, `at least ${first.records} records`, `${changes.length}`);
  if (bad >= 0 && !isTornEnd) throw damaged(file, `a sound line ${bad + 2}`, JSON.stringify(lines[bad + 1]?.slice(0, 60)));
  if (isTornEnd) log.info('the last line of the journal of mounts was not complete: nothing was mounted for it');
  return recordsOf(changes.flatMap((each) => each ?? []));
}

/** The records in a journal's text, as far as it is complete. */
export const recordsIn = (text: string): ReadonlyMap<string, MountRecord> => recordsOf(text.split('\n').flatMap((line) => changesIn(checked(line)) ?? []));

function recordsOf(changes: readonly Change[]): Map<string, MountRecord> {
  const records = new Map<string, MountRecord>();
  for (const change of changes) {
    if ('put' in change) records.set(change.put.key, change.put);
    else records.delete(change.drop);
  }
  return records;
}

const damaged = (file: string, expected: string, found: string): JournalDamage =>
  new JournalDamage(
    `${file} is damaged and was not changed: expected ${expected}, found ${found}. Restore it from a backup; or unmount what is mounted below this directory (findmnt), and move the file away`,
  );

/** The text of a line; undefined: it is not what was written. */
function checked(line: string): string | undefined {
  const text = line.slice(9);
  return line[8] === ' ' && checksumOf(text) === line.slice(0, 8) ? text : undefined;
}

function firstLineIn(line: string | undefined): FirstLine | undefined {
  const value = parse(line === undefined ? undefined : checked(line));
  const isFirst = typeof value === 'object' && value !== null && 'journal' in value && 'records' in value && typeof value.records === 'number';
  return isFirst ? { journal: 'mounts', format: 2, records: Number(value.records) } : undefined;
}

type Change = { readonly put: MountRecord } | { readonly drop: string };

function changesIn(text: string | undefined): readonly Change[] | undefined {
  const value = parse(text);
  const changes = (Array.isArray(value) ? value : [value]).map(changeOf);
  return changes.some((change) => change === undefined) ? undefined : changes.filter((change) => change !== undefined);
}

function changeOf(value: unknown): Change | undefined {
  const change = value as { put?: MountRecord; drop?: string } | undefined;
  if (typeof change?.drop === 'string') return { drop: change.drop };
  const isRecord = typeof change?.put?.key === 'string' && (change.put.type === 'staged' || change.put.type === 'published');
  return isRecord && change.put !== undefined ? { put: change.put } : undefined;
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function rewritten(disk: Disk, directory: string, records: ReadonlyMap<string, MountRecord>): Promise<AppendFile> {
  const next = `${nameOf(directory)}.next`;
  const names = await disk.list(directory);
  if (names.includes('mounts.journal.next')) await disk.remove(next);
  const file = await disk.openAppend(next);
  await file.append([
    utf8.encode(
      [lineOf({ journal: 'mounts', format: 2, records: records.size } satisfies FirstLine), ...[...records.values()].map((put) => lineOf({ put }))].join(''),
    ),
  ]);
  await file.sync();
  await disk.rename(next, nameOf(directory));
  // If this fails, either name leads to the same records.
  await disk.syncDirectory(directory).catch(() => undefined);
  if (!names.includes(marker)) {
    await (await disk.openAppend(`${directory}/${marker}`)).close();
    await disk.syncDirectory(directory).catch(() => undefined);
  }
  return file;
}
