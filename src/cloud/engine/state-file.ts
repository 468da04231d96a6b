import type { AppendFile, Disk, DiskLock } from '../../world/disk.ts';
import type { Change } from './records.ts';

const name = 'cloud.jsonl';
/** What follows the last complete line was never acknowledged. */
const newline = 10;
/** So many bytes are read at once. */
const mostBytes = 512 * 1024 * 1024;

/** The file has something else than changes: it is not the file of a cloud, or it is damaged. */
export class DamagedStateFile extends Error {}

/** Another process has it: both would write, and one of them would lose what it answered. */
export class StateFileInUse extends Error {}

/** Beyond so many bytes, and four times what is left, it is written anew. */
const rewriteBytes = 16 * 1024 * 1024;

interface Opened {
  readonly disk: Disk;
  readonly directory: string;
  readonly lock: DiskLock;
  /** By collection and id. */
  readonly last: Map<string, Change>;
}

/** The records of a cloud in one file of changes, a JSON list in each line. It is written anew, with what is left, at each start and whenever it has grown. */
export class StateFile {
  /** What an earlier run kept: the last change of each record. */
  readonly records: readonly Change[];
  readonly #opened: Opened;
  #file: AppendFile;
  #bytes: number;
  #rewriteAt: number;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(opened: Opened, { file, bytes }: WrittenFile) {
    this.#opened = opened;
    this.records = [...opened.last.values()];
    this.#file = file;
    this.#bytes = bytes;
    this.#rewriteAt = Math.max(rewriteBytes, 4 * bytes);
  }

  /** @throws DamagedStateFile, StateFileInUse, and what the disk throws */
  static async open(disk: Disk, directory: string): Promise<StateFile> {
    await disk.makeDirectory(directory);
    const lock = await disk.lock(directory);
    if (lock === undefined) throw new StateFileInUse(`${directory} is in use by another process`);
    try {
      const path = `${directory}/${name}`;
      const opened = { disk, directory, lock, last: (await disk.list(directory)).includes(name) ? await readChanges(disk, path) : new Map<string, Change>() };
      return new StateFile(opened, await writeAnew(opened));
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Resolves once they are durable. After a failure, nothing more is written: what follows half a line could not be read again. */
  readonly keep = (changes: readonly Change[]): Promise<void> => {
    for (const change of changes) note(this.#opened.last, change);
    const bytes = new TextEncoder().encode(`${JSON.stringify(changes)}\n`);
    const written = this.#writing.then(() => this.#append(bytes));
    this.#writing = written.catch((error: unknown) => void (this.#failure ??= error));
    return written;
  };

  async #append(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw new Error('the state of the cloud could not be written before', { cause: this.#failure });
    await this.#file.append([bytes]);
    await this.#file.sync();
    this.#bytes += bytes.length;
    if (this.#bytes < this.#rewriteAt) return;
    const outgrown = this.#file;
    const { file, bytes: left } = await writeAnew(this.#opened);
    [this.#file, this.#bytes, this.#rewriteAt] = [file, left, Math.max(rewriteBytes, 4 * left)];
    await outgrown.close();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
    await this.#opened.lock.release();
  }
}

interface WrittenFile {
  readonly file: AppendFile;
  readonly bytes: number;
}

async function writeAnew({ disk, directory, last }: Opened): Promise<WrittenFile> {
  const path = `${directory}/${name}`;
  const next = `${path}.new`;
  if ((await disk.list(directory)).includes(`${name}.new`)) await disk.remove(next);
  const file = await disk.openAppend(next);
  const bytes = new TextEncoder().encode(Array.from(last.values(), (change) => `${JSON.stringify([change])}\n`).join(''));
  if (bytes.length > 0) await file.append([bytes]);
  await file.sync();
  await disk.rename(next, path);
  await disk.syncDirectory(directory);
  return { file, bytes: bytes.length };
}

/** The last change of a record, in the order of these changes; of a record that is gone, none. */
function note(last: Map<string, Change>, change: Change): void {
  last.delete(`${change.in}/${change.id}`);
  if (change.record !== undefined) last.set(`${change.in}/${change.id}`, change);
}

async function readChanges(disk: Disk, path: string): Promise<Map<string, Change>> {
  const size = await disk.size(path);
  if (size > mostBytes) throw new DamagedStateFile(`${path} has ${size} bytes`);
  const bytes = await disk.read(path, 0, size);
  const lines = new TextDecoder().decode(bytes.subarray(0, bytes.lastIndexOf(newline) + 1)).split('\n');
  const last = new Map<string, Change>();
  for (const [i, line] of lines.entries()) {
    if (line === '') continue;
    for (const change of changesIn(line, `${path}:${i + 1}`)) note(last, change);
  }
  return last;
}

const collections: ReadonlySet<unknown> = new Set(['volumes', 'instances', 'snapshots', 'launchTemplates', 'tokens'] satisfies readonly Change['in'][]);

function changesIn(line: string, where: string): readonly Change[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    throw new DamagedStateFile(`${where} is not JSON`);
  }
  const isChange = (each: unknown): boolean =>
    typeof each === 'object' && each !== null && 'in' in each && collections.has(each.in) && 'id' in each && typeof each.id === 'string';
  if (!Array.isArray(parsed) || !parsed.every(isChange)) throw new DamagedStateFile(`${where} has no changes of a cloud`);
  return parsed as readonly Change[];
}
