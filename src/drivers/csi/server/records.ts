/** What the driver knows of its volumes and snapshots. Each record is a file, replaced atomically before the effect that it announces. */
import type { Directories } from '../../directories.ts';

export interface VolumeRecord {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly block: boolean;
  readonly source: ContentSource | undefined;
  /** False: a call was interrupted, or is under way. The same call, repeated, finishes it. */
  readonly ready: boolean;
  /** Node id → whether it is read-only. */
  readonly attachedTo: Readonly<Record<string, boolean>>;
  readonly onNode: NodeUse;
}

export interface NodeUse {
  /** The staging path, and the capability that it was staged with. */
  readonly staged: { readonly path: string; readonly capability: string } | undefined;
  /** Target path → how it was published. */
  readonly published: Readonly<Record<string, Publication>>;
}

export interface Publication {
  readonly mode: number;
  readonly readOnly: boolean;
  readonly capability: string;
}

export interface SnapshotRecord {
  readonly id: string;
  readonly name: string;
  readonly volumeId: string;
  readonly bytes: number;
  readonly block: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly ready: boolean;
}

export type ContentSource = { readonly type: 'snapshot' | 'volume'; readonly id: string };

/** The records of one kind, in memory and in a directory. */
export class Records<T extends { readonly id: string }> {
  readonly #directories: Directories;
  readonly #folder: string;
  readonly #byId = new Map<string, T>();

  private constructor(directories: Directories, folder: string) {
    this.#directories = directories;
    this.#folder = folder;
  }

  static async load<T extends { readonly id: string }>(directories: Directories, folder: string): Promise<Records<T>> {
    await directories.make(folder);
    const records = new Records<T>(directories, folder);
    const names = await directories.list(folder);
    // A crash in the middle of a write leaves the file that was to replace the record.
    for (const name of names.filter((each) => /\.json\.\d+$/.test(each))) await directories.remove(`${folder}/${name}`);
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      const record = JSON.parse((await directories.readFile(`${folder}/${name}`)) ?? 'null') as T | null;
      if (record !== null) records.#byId.set(record.id, record);
    }
    return records;
  }

  get(id: string): T | undefined {
    return this.#byId.get(id);
  }

  /** By id. */
  sorted(): readonly T[] {
    return [...this.#byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async put(record: T): Promise<void> {
    await this.#directories.writeFile(this.#fileOf(record.id), JSON.stringify(record));
    this.#byId.set(record.id, record);
  }

  async remove(id: string): Promise<void> {
    await this.#directories.remove(this.#fileOf(id));
    this.#byId.delete(id);
  }

  #fileOf(id: string): string {
    return `${this.#folder}/${id}.json`;
  }
}

/** Pages by id: a token is the id to go on with, so that volumes which come and go between two pages move no other. */
export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  { startingToken, maxEntries }: { readonly startingToken: string; readonly maxEntries: number },
): { readonly page: readonly T[]; readonly nextToken: string } | undefined {
  if (startingToken !== '' && !isId(startingToken)) return undefined;
  const rest = all.filter(({ id }) => id >= startingToken);
  const page = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  return { page, nextToken: rest[page.length]?.id ?? '' };
}

export const isId = (id: string): boolean => /^(vol|snap)-[0-9a-f]{32}$/.test(id);
