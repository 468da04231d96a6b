import { crc32 } from 'node:zlib';
import { SimulatedDisk } from '../../src/sim/world/disk.ts';
import { put, remove, type Store } from '../../src/store/contract.ts';
import { type EmbeddedStore, type EmbeddedStoreOptions, openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';

export const directory = '/data';
export const cluster = '11111111-2222-4333-8444-555555555555';
export const otherCluster = '99999999-2222-4333-8444-555555555555';

/** Small files, so that a few writes make several. */
export const small = { directory, segmentBytes: 300, rewriteBytes: 0, newClusterId: cluster };

/** Timers that the test lets go off. */
export function manualTimers() {
  const due = new Set<() => void>();
  return {
    timers: {
      after: (_: number, callback: () => void) => {
        due.add(callback);
        return () => void due.delete(callback);
      },
      soon: (callback: () => void) => queueMicrotask(callback),
    },
    pending: () => due.size,
    elapse: () => {
      const now = [...due];
      due.clear();
      for (const callback of now) callback();
    },
  };
}

const quiet = { debugs: false, debug() {}, info() {}, warn() {}, error() {}, with: () => quiet };

export const open = (disk: SimulatedDisk, options: Partial<EmbeddedStoreOptions> = {}): Promise<EmbeddedStore> =>
  openEmbeddedStore({ ...small, disk, ...options });

export const worldWith = (timers: ReturnType<typeof manualTimers>['timers']) => ({ log: quiet, timers });

export async function write(store: Store, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const value = new TextEncoder().encode(`value ${i}`);
    await store.transact({ compares: [], writes: [put(`/k/${i % 5}`, value), i % 4 === 3 ? remove('/gone') : put('/gone', value)] });
  }
}

/** Every file of a directory. */
export async function filesOf(disk: SimulatedDisk, of = directory): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const name of await disk.list(of)) files.set(name, Buffer.from(await disk.read(`${of}/${name}`, 0, await disk.size(`${of}/${name}`))));
  return files;
}

export async function diskWith(files: ReadonlyMap<string, Uint8Array>): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  await disk.makeDirectory(directory);
  for (const [name, bytes] of files) {
    const file = await disk.openAppend(`${directory}/${name}`);
    await file.append([bytes]);
    await file.sync();
    await file.close();
  }
  await disk.syncDirectory(directory);
  return disk;
}

/** The newest value of each key. */
export async function contentOf(store: Store, revision?: number): Promise<string> {
  const { entries } = await store.range({ from: '/', to: '0', ...(revision === undefined ? {} : { revision }) });
  return entries.map(({ key, value, createRevision, modRevision }) => `${key}=${new TextDecoder().decode(value)} ${createRevision}..${modRevision}`).join('\n');
}

/** For a process that is killed at one of its operations: `before` is for its disk. */
export function killedAfter(operations: number): { readonly before: () => Promise<void>; readonly died: Promise<'died'> } {
  let left = operations;
  let die = (): void => {};
  const died = new Promise<'died'>((resolve) => {
    die = () => resolve('died');
  });
  const before = async (): Promise<void> => {
    if (left-- > 0) return;
    die();
    await new Promise(() => {});
  };
  return { before, died };
}

/** As Mooring 0.2.0 wrote them: a shorter header, no manifest, no notes. */
export function asFormat1(files: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  const old = new Map<string, Buffer>();
  for (const [name, bytes] of files) {
    if (!/^(log|snapshot)-/.test(name)) continue;
    const header = Buffer.from(bytes.subarray(0, 32));
    header.writeUInt32LE(1, 8);
    header.writeUInt32LE(crc32(header.subarray(0, 28)), 28);
    old.set(name, Buffer.concat([header, bytes.subarray(64)]));
  }
  return old;
}
