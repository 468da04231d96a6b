import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { realDisk } from '../../host/disk.ts';
import { secretFiles } from '../../host/secret-files.ts';
import { StoreError } from '../../store/contract.ts';
import { headerOf } from '../../store/embedded/replay.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { World } from '../../world/world.ts';
import { DataDamage } from './data-damage.ts';
import { type DataManifest, manifestFile, readDataManifest, type StoreKind, writeDataManifest } from './data-manifest.ts';
import { fingerprintOf, KeyFiles } from './key-files.ts';

interface DataDirectoryOptions {
  readonly dataDir: string;
  readonly store: StoreKind;
  readonly world: Pick<World, 'log' | 'random'>;
}

/** What the data directory says about the store that is opened next. */
export interface DataDirectory {
  /** The store must be there, and be this cluster's. */
  readonly expectedClusterId?: string;
  /** The identity of a store that is created or upgraded. */
  readonly newClusterId: string;
  /** The keys, checked. `opened`: the store; undefined: it is in memory. @throws DataDamage */
  keyFiles(opened: OpenedStore | undefined): Promise<CheckedKeyFiles>;
}

interface OpenedStore {
  readonly clusterId: string;
  /** Whether anything was ever written to it. */
  hasData(): boolean;
}

interface CheckedKeyFiles {
  readonly files: SecretFiles;
  /** All keys exist: the manifest names them from now on. Before that no client is served. */
  readonly complete: () => Promise<void>;
}

export const storeDirectory = (dataDir: string): string => path.join(dataDir, 'store');
export const pkiDirectory = (dataDir: string): string => path.join(dataDir, 'pki');

/** The keys that a cluster of every version has. */
export const firstKeyNames: readonly string[] = ['ca.key', 'ca.crt', 'server.key', 'server.crt', 'admin.key', 'admin.crt', 'sa.key'];
/** With those of the aggregation layer, which clusters of 0.2.0 lack: the next start makes them. */
export const keyNames: readonly string[] = [...firstKeyNames, 'front-proxy-ca.key', 'front-proxy-ca.crt', 'front-proxy-client.key', 'front-proxy-client.crt'];

/** Judges the data directory before anything in it is opened or created. @throws DataDamage, NewerData */
export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { dataDir, store, world } = options;
  for (const directory of [storeDirectory(dataDir), pkiDirectory(dataDir)]) await checkPrivate(directory);
  const manifest = await readDataManifest(dataDir);
  if (manifest !== undefined) return known(options, manifest);
  if (store === 'memory') return created(options, world.random.uuid());
  const traces = await tracesIn(dataDir);
  if (store === 'etcd' && traces.store !== undefined) throw otherKind(dataDir, 'embedded');
  if (traces.store === 'format 1') return upgrade(options);
  const without = [traces.hasKeys ? 'pki' : undefined, traces.hasImages ? 'images' : undefined].find((each) => each !== undefined);
  if (traces.store === undefined && without !== undefined) {
    throw new DataDamage({
      file: manifestFile(dataDir),
      expected: `the manifest of the cluster whose files are in ${path.join(dataDir, without)}`,
      found: 'no file, and no store',
      advice: `Restore a backup, choose another --data-dir, or run "moor store repair --data-dir ${dataDir}" to start an empty cluster with what is left.`,
    });
  }
  return created(options, world.random.uuid());
}

function known({ dataDir, store, world }: DataDirectoryOptions, manifest: DataManifest): DataDirectory {
  if (store !== 'memory' && manifest.store !== 'memory' && store !== manifest.store) throw otherKind(dataDir, manifest.store);
  const isThere = manifest.store === store && !manifest.isUpgrading && store !== 'memory';
  return {
    ...(isThere ? { expectedClusterId: manifest.clusterId } : {}),
    newClusterId: manifest.clusterId,
    async keyFiles(opened) {
      const clusterId = opened?.clusterId ?? manifest.clusterId;
      if (clusterId !== manifest.clusterId && !manifest.isUpgrading) throw otherStore(dataDir, manifest.clusterId, clusterId);
      if (manifest.isUpgrading && opened !== undefined) world.log.info('upgraded the data directory: it has a manifest now', { dataDir, clusterId });
      const settled: DataManifest = {
        ...manifest,
        clusterId,
        store: opened === undefined ? manifest.store : store,
        isUpgrading: manifest.isUpgrading && opened === undefined,
      };
      const files = keyFilesOf(dataDir, settled, false);
      const isChanged = settled.store !== manifest.store || settled.isUpgrading !== manifest.isUpgrading;
      return { files, complete: () => (isChanged ? files.record() : Promise.resolve()) };
    },
  };
}

/** No manifest yet: a new cluster, or one whose creation a crash ended. */
function created({ dataDir, store }: DataDirectoryOptions, newClusterId: string): DataDirectory {
  return {
    newClusterId,
    async keyFiles(opened) {
      const clusterId = opened?.clusterId ?? newClusterId;
      // Nothing is written to the store before the manifest.
      if (store === 'etcd' && opened?.hasData() === true) throw keysElsewhere(dataDir, clusterId);
      if (opened?.hasData() === true) {
        throw new DataDamage({ file: manifestFile(dataDir), expected: `the manifest of cluster ${clusterId}`, found: 'no file beside its store' });
      }
      const manifest: DataManifest = { clusterId, store, isUpgrading: false, keys: {} };
      const files = keyFilesOf(dataDir, manifest, true);
      // In memory, beside a store that is not opened: its next start finds what it left.
      const complete = async (): Promise<void> => {
        if (opened !== undefined || (await tracesIn(dataDir)).store === undefined) await files.record();
      };
      return { files, complete };
    },
  };
}

/** The manifest comes first: a crash during the upgrade leaves one that says so. */
async function upgrade(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { dataDir, world } = options;
  const files = secretFiles(pkiDirectory(dataDir));
  const keys: Record<string, readonly string[]> = {};
  for (const name of keyNames) {
    const text = await files.read(name);
    const file = path.join(pkiDirectory(dataDir), name);
    if (text !== undefined) keys[name] = [fingerprintOf(file, text)];
    else if (firstKeyNames.includes(name)) throw new DataDamage({ file, expected: 'the file, since there is a store', found: 'no file' });
  }
  const manifest: DataManifest = { clusterId: world.random.uuid(), store: 'embedded', isUpgrading: true, keys };
  await writeDataManifest(dataDir, manifest);
  return known(options, manifest);
}

function keyFilesOf(dataDir: string, manifest: DataManifest, isNew: boolean): KeyFiles {
  const directory = pkiDirectory(dataDir);
  const save = (keys: DataManifest['keys']): Promise<void> => writeDataManifest(dataDir, { ...manifest, keys });
  return new KeyFiles({ directory, files: secretFiles(directory), recorded: manifest.keys, save, isNew });
}

const otherKind = (dataDir: string, kind: StoreKind): StoreError =>
  new StoreError(
    'foreign',
    `${dataDir} has a cluster whose objects are in ${kind === 'etcd' ? 'etcd' : 'an embedded store'}: start it with --store ${kind}, or choose another --data-dir`,
  );

/** Of a version that kept keys in the data directory. A server with keys of its own would accept no token, and no certificate, of the others. */
export const keysElsewhere = (where: string, clusterId: string): StoreError =>
  new StoreError(
    'foreign',
    `etcd has the objects of the cluster ${clusterId}, and ${where} has not its keys: start the server that created it once with this version, which puts them into etcd, or choose another --etcd-prefix`,
  );

const otherStore = (dataDir: string, expected: string, found: string): DataDamage =>
  new DataDamage({ file: storeDirectory(dataDir), expected: `the store of cluster ${expected}`, found: `the one of cluster ${found}` });

export interface Traces {
  /** undefined: no file of a store. */
  readonly store: 'format 1' | 'format 2' | undefined;
  readonly hasKeys: boolean;
  readonly hasImages: boolean;
}

export async function tracesIn(dataDir: string): Promise<Traces> {
  return {
    store: await storeFormat(storeDirectory(dataDir)),
    hasKeys: (await namesIn(pkiDirectory(dataDir))).some((name) => /\.(key|crt)$/.test(name)),
    hasImages: (await namesIn(path.join(dataDir, 'images'))).length > 0,
  };
}

/** Since format 2 there is a manifest, and each file names its cluster. */
async function storeFormat(directory: string): Promise<Traces['store']> {
  const names = await namesIn(directory);
  if (names.includes('manifest.json') || names.includes('progress')) return 'format 2';
  const files = names.filter((name) => /^(log|snapshot)-\d+$/.test(name));
  for (const name of files) if ((await headerOf(realDisk, path.join(directory, name)))?.clusterId !== undefined) return 'format 2';
  return files.length > 0 ? 'format 1' : undefined;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Secrets and keys are in it. @throws DataDamage */
export async function checkPrivate(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (found === undefined || !found.isDirectory() || (found.mode & 0o077) === 0) return;
  throw new DataDamage({
    file: directory,
    expected: 'a directory that only its owner can use (mode 0700)',
    found: `mode 0${(found.mode & 0o777).toString(8)}`,
    advice: `Who could read it may have copied keys and Secrets. "chmod 700 ${directory}" if that is acceptable.`,
  });
}
