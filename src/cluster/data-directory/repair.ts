import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { realDisk } from '../../host/disk.ts';
import { ExposedSecret, secretFiles } from '../../host/secret-files.ts';
import { StoreError } from '../../store/contract.ts';
import { lockStore } from '../../store/embedded/open-files.ts';
import { examine } from '../../store/embedded/recovery.ts';
import { planRepair, repairStore } from '../../store/embedded/repair.ts';
import { DataDamage } from './data-damage.ts';
import { type DataManifest, manifestFile, readDataManifest, writeDataManifest } from './data-manifest.ts';
import { checkPrivate, firstKeyNames, keyNames, pkiDirectory, storeDirectory, tracesIn } from './data-directory.ts';
import { fingerprintOf } from './key-files.ts';

/** One thing that is wrong, and what a repair would do about it. */
export interface Finding {
  readonly damage: string;
  /** A sentence: what is kept, and what is lost. */
  readonly remedy: string;
  /** undefined: no repair can help. */
  readonly repair?: (copyTo: string) => Promise<void>;
}

interface RepairOptions {
  readonly dataDir: string;
  readonly newId: () => string;
}

/** Runs `task` while no server can use the directory. @throws StoreError `locked` */
export async function withDataLocked<T>(dataDir: string, task: () => Promise<T>): Promise<T> {
  const directory = storeDirectory(dataDir);
  if ((await stat(directory).catch(() => undefined)) === undefined) return task();
  const lock = await lockStore(realDisk, directory);
  try {
    return await task();
  } finally {
    await lock.release();
  }
}

/** All that is damaged, in the order in which it is to be repaired. Changes nothing. @throws NewerData, StoreError `newer-version` */
export async function inspectData(options: RepairOptions): Promise<readonly Finding[]> {
  const { dataDir } = options;
  const manifest = await readDataManifest(dataDir).catch((error: unknown) => {
    if (error instanceof DataDamage) return error;
    throw error;
  });
  const listed = manifest instanceof DataDamage ? undefined : manifest;
  const found = [
    ...(await exposedDirectories(dataDir)),
    await storeFinding(options, listed),
    ...(await keyFindings(dataDir, listed)),
    await manifestFinding(options, manifest),
  ];
  return found.filter((each) => each !== undefined);
}

async function exposedDirectories(dataDir: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const directory of [storeDirectory(dataDir), pkiDirectory(dataDir)]) {
    await checkPrivate(directory).catch((error: unknown) => {
      if (!(error instanceof DataDamage)) throw error;
      findings.push({ damage: error.message, remedy: error.advice ?? '' });
    });
  }
  return findings;
}

async function storeFinding({ dataDir, newId }: RepairOptions, manifest: DataManifest | undefined): Promise<Finding | undefined> {
  const directory = storeDirectory(dataDir);
  if ((await tracesIn(dataDir)).store === undefined) return undefined;
  const plan = await planRepair(realDisk, directory);
  if (plan === undefined) return undefined;
  const lost = plan.lostRevisions > 0 ? `at least ${plan.lostRevisions} acknowledged revisions after it are lost` : 'no later revision is known to be lost';
  return {
    damage: plan.damage,
    remedy:
      `The store keeps ${plan.keptKeys} keys as of revision ${plan.keptRevision}; ${lost}. It goes on at revision ${plan.revision}, so that no ` +
      'revision is used twice; clients list again. Volumes of claims that are lost stay on disk: see "moor audit".',
    repair: async (copyTo) => {
      await repairStore(realDisk, directory, { copyTo: path.join(copyTo, 'store'), newClusterId: manifest?.clusterId ?? newId() });
    },
  };
}

/** What depends on a key. */
const uses: Readonly<Record<string, string>> = {
  ca: 'a new certificate authority is made: kubeconfigs, certificates of nodes and other clients, and CA bundles in pods are no longer valid',
  sa: 'a new key is made: all service account tokens are no longer valid',
  server: 'a new serving certificate is made; nothing else depends on it',
  admin: 'a new certificate of the administrator is made, and the kubeconfig is written again',
  'front-proxy-ca':
    'a new authority of the aggregation layer is made: aggregated API servers read it from the ConfigMap extension-apiserver-authentication again',
  'front-proxy-client': 'a new certificate for requests to aggregated API servers is made; nothing else depends on it',
};

async function keyFindings(dataDir: string, manifest: DataManifest | undefined): Promise<readonly Finding[]> {
  const directory = pkiDirectory(dataDir);
  const findings: Finding[] = [];
  for (const pair of Object.keys(uses)) {
    const names = keyNames.filter((name) => name.startsWith(`${pair}.`));
    const damages = (await Promise.all(names.map((name) => keyDamage({ directory, name, manifest })))).filter((each) => each !== undefined);
    const [first] = damages;
    if (first === undefined) continue;
    if (first instanceof ExposedSecret)
      findings.push({ damage: first.message, remedy: 'Change its mode or owner by hand: whether the key was read is not known here.' });
    else {
      findings.push({
        damage: first.message,
        remedy: `The files ${names.join(' and ')} are moved away. At the next start ${uses[pair]}.`,
        repair: (copyTo) => moveAway({ dataDir, names, copyTo: path.join(copyTo, 'pki') }),
      });
    }
  }
  return findings;
}

async function keyDamage({ directory, name, manifest }: { directory: string; name: string; manifest: DataManifest | undefined }): Promise<Error | undefined> {
  const file = path.join(directory, name);
  const recorded = manifest?.keys[name];
  try {
    const text = await secretFiles(directory).read(name);
    if (text === undefined) return recorded === undefined ? undefined : new DataDamage({ file, expected: 'the file', found: 'no file' });
    const fingerprint = fingerprintOf(file, text);
    if (recorded === undefined || recorded.includes(fingerprint)) return undefined;
    return new DataDamage({ file, expected: `fingerprint ${recorded.join(' or ')}`, found: fingerprint });
  } catch (error) {
    if (error instanceof DataDamage || error instanceof ExposedSecret) return error;
    throw error;
  }
}

/** The manifest no longer expects the files: the next start makes new ones. */
async function moveAway({ dataDir, names, copyTo }: { dataDir: string; names: readonly string[]; copyTo: string }): Promise<void> {
  await mkdir(copyTo, { recursive: true, mode: 0o700 });
  for (const name of names) await copyFile(path.join(pkiDirectory(dataDir), name), path.join(copyTo, name)).catch(ignoreMissing);
  const manifest = await readDataManifest(dataDir).catch(() => undefined);
  if (manifest !== undefined) {
    const keys = Object.fromEntries(Object.entries(manifest.keys).filter(([name]) => !names.includes(name)));
    await writeDataManifest(dataDir, { ...manifest, keys });
  }
  for (const name of names) await rm(path.join(pkiDirectory(dataDir), name), { force: true });
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** The manifest of the directory against the store and the keys that are there. */
async function manifestFinding({ dataDir, newId }: RepairOptions, manifest: DataManifest | DataDamage | undefined): Promise<Finding | undefined> {
  const traces = await tracesIn(dataDir);
  if (manifest === undefined && traces.store === 'format 1') return upgradeFinding({ dataDir, newId });
  if (manifest === undefined && traces.store === undefined && !traces.hasKeys && !traces.hasImages) return undefined;
  const listed = manifest instanceof DataDamage ? undefined : manifest;
  const stored = await storedClusterId(dataDir);
  const mismatch = listed !== undefined && listed.store === 'embedded' && !listed.isUpgrading && stored.clusterId !== listed.clusterId && stored.isSound;
  if (listed !== undefined && !mismatch) return undefined;
  // A crash before the first start was complete.
  if (manifest === undefined && stored.clusterId !== undefined && stored.revision === 1) return undefined;
  const file = manifestFile(dataDir);
  const found =
    manifest instanceof DataDamage
      ? manifest
      : new DataDamage({ file, expected: expectedIn(listed, stored), found: listed === undefined ? 'no file' : foundIn(stored) });
  const remedy =
    traces.store === undefined
      ? 'A new manifest is written, and the next start creates an empty store: all objects of the cluster are lost. Keys that are there stay in use.'
      : 'A new manifest is written for the store and the keys that are there.';
  return { damage: found.message, remedy, repair: (copyTo) => rewriteManifest({ dataDir, newId }, copyTo) };
}

/** As an older version left it: the next start upgrades it, unless keys are missing. */
async function upgradeFinding(options: RepairOptions): Promise<Finding | undefined> {
  const { dataDir } = options;
  const missing: string[] = [];
  for (const name of firstKeyNames) if ((await stat(path.join(pkiDirectory(dataDir), name)).catch(() => undefined)) === undefined) missing.push(name);
  if (missing.length === 0) return undefined;
  const pairs = [...new Set(missing.map((name) => path.parse(name).name))];
  return {
    damage: `${pkiDirectory(dataDir)} is damaged: expected the keys of the store, found no ${missing.join(', ')}`,
    remedy: `At the next start ${pairs.map((pair) => uses[pair]).join('; ')}.`,
    repair: (copyTo) => rewriteManifest(options, copyTo),
  };
}

interface StoredCluster {
  readonly clusterId: string | undefined;
  readonly revision: number;
  readonly isSound: boolean;
}

const expectedIn = (listed: DataManifest | undefined, { clusterId }: StoredCluster): string =>
  listed === undefined ? `the manifest of cluster ${clusterId ?? 'whose files are here'}` : `a store of cluster ${listed.clusterId} beside it`;
const foundIn = ({ clusterId }: StoredCluster): string => (clusterId === undefined ? 'no store' : `the store of cluster ${clusterId}`);

async function storedClusterId(dataDir: string): Promise<StoredCluster> {
  if ((await tracesIn(dataDir)).store === undefined) return { clusterId: undefined, revision: 0, isSound: true };
  try {
    const { clusterId, tree } = await examine(realDisk, storeDirectory(dataDir));
    return { clusterId, revision: tree.revision, isSound: true };
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return { clusterId: undefined, revision: 0, isSound: false };
    throw error;
  }
}

/** A manifest that is there stays until the new one replaces it. */
async function rewriteManifest({ dataDir, newId }: RepairOptions, copyTo: string): Promise<void> {
  const { clusterId } = await storedClusterId(dataDir);
  const isUpgrading = (await tracesIn(dataDir)).store === 'format 1';
  const keys: Record<string, readonly string[]> = {};
  for (const name of keyNames) {
    const text = await secretFiles(pkiDirectory(dataDir)).read(name);
    if (text !== undefined) keys[name] = [fingerprintOf(path.join(pkiDirectory(dataDir), name), text)];
  }
  const store = clusterId === undefined && !isUpgrading ? 'memory' : 'embedded';
  await mkdir(copyTo, { recursive: true, mode: 0o700 });
  await copyFile(manifestFile(dataDir), path.join(copyTo, 'manifest.json')).catch(ignoreMissing);
  await writeDataManifest(dataDir, { clusterId: clusterId ?? newId(), store, isUpgrading, keys });
}
