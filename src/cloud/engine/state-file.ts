import type { AppendFile, Disk } from '../../world/disk.ts';
import type { Change } from './records.ts';

const name = 'cloud.jsonl';
/** What follows the last complete line was never acknowledged. */
const newline = 10;
/** So many bytes are read at once, and a file has so many lines before it is written anew. */
const mostBytes = 512 * 1024 * 1024;

/** The file has something else than changes: it is not the file of a cloud, or it is damaged. */
export class DamagedStateFile extends Error {}

/** The records of a cloud in one file of changes, a JSON list in each line. It is written anew at each start, with what is left. */
export class StateFile {
  /** What an earlier run kept: the last change of each record. */
  readonly records: readonly Change[];
  readonly #file: AppendFile;
  #writing: Promise<void> = Promise.resolve();

  private constructor(records: readonly Change[], file: AppendFile) {
    this.records = records;
    this.#file = file;
  }

  /** @throws DamagedStateFile, and what the disk throws */
  static async open(disk: Disk, directory: string): Promise<StateFile> {
    await disk.makeDirectory(directory);
    const path = `${directory}/${name}`;
    const records = (await disk.list(directory)).includes(name) ? await readChanges(disk, path) : [];
    const next = `${path}.new`;
    if ((await disk.list(directory)).includes(`${name}.new`)) await disk.remove(next);
    const file = await disk.openAppend(next);
    const text = records.map((change) => `${JSON.stringify([change])}\n`).join('');
    if (text !== '') await file.append([new TextEncoder().encode(text)]);
    await file.sync();
    await disk.rename(next, path);
    await disk.syncDirectory(directory);
    return new StateFile(records, file);
  }

  /** Resolves once they are durable. */
  readonly keep = (changes: readonly Change[]): Promise<void> => {
    const bytes = new TextEncoder().encode(`${JSON.stringify(changes)}\n`);
    const written = this.#writing.then(async () => {
      await this.#file.append([bytes]);
      await this.#file.sync();
    });
    this.#writing = written.catch(() => undefined);
    return written;
  };

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }
}

async function readChanges(disk: Disk, path: string): Promise<readonly Change[]> {
  const size = await disk.size(path);
  if (size > mostBytes) throw new DamagedStateFile(`${path} has ${size} bytes`);
  const bytes = await disk.read(path, 0, size);
  const lines = new TextDecoder().decode(bytes.subarray(0, bytes.lastIndexOf(newline) + 1)).split('\n');
  const last = new Map<string, Change>();
  for (const [i, line] of lines.entries()) {
    if (line === '') continue;
    for (const change of changesIn(line, `${path}:${i + 1}`)) {
      last.delete(`${change.in}/${change.id}`);
      if (change.record !== undefined) last.set(`${change.in}/${change.id}`, change);
    }
  }
  return [...last.values()];
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
