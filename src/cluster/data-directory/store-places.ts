/** Where the objects of a cluster may be, for copying them from one place to another while no server runs. */
import { readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { sharedKeyNames, sharedKeysKey } from '../../apiserver/certificates/shared-keys.ts';
import { realDisk } from '../../host/disk.ts';
import { secretFiles } from '../../host/secret-files.ts';
import { isSameContent, type StoreContent } from '../../store/content.ts';
import { StoreError } from '../../store/contract.ts';
import { openEmbeddedStore } from '../../store/embedded/embedded-store.ts';
import { examine } from '../../store/embedded/recovery.ts';
import { fillEmbeddedStore } from '../../store/embedded/whole-store.ts';
import { etcdEndpoints } from '../../store/etcd/endpoints.ts';
import { fillEtcdStore, readEtcdStore } from '../../store/etcd/whole-store.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { World } from '../../world/world.ts';
import { SERVER_BEAT_MS, SERVERS_PREFIX } from '../apiserver/live-servers.ts';
import { pkiDirectory, storeDirectory } from './data-directory.ts';
import { readDataManifest, writeDataManifest } from './data-manifest.ts';
import { fingerprintOf } from './key-files.ts';
import { type EtcdOptions, withEncryption } from './open-data.ts';

/** The content includes the keys of the cluster, as servers on etcd share them. */
export interface StorePlace {
  /** For messages: 'etcd', or a directory. */
  readonly name: string;
  /** `servers`: whether they may run meanwhile; those of an embedded store may not. @throws StoreError, DataDamage */
  read(servers: 'may run' | 'must be stopped'): Promise<StoreContent>;
  /** The place has to be empty. What is written is read again and compared. @throws StoreError, DataDamage */
  write(content: StoreContent): Promise<void>;
}

interface PlaceOptions {
  readonly world: World;
  /** Of the keys among the objects; all other values are copied as they are. */
  readonly encryptionConfig: string | undefined;
}

/** Longer than a server waits between two writes of its key. */
const SILENT_MS = SERVER_BEAT_MS + 2_000;

/** The embedded store in a data directory, and the keys beside it. */
export function embeddedPlace(dataDir: string, options: PlaceOptions): StorePlace {
  return {
    name: dataDir,
    async read() {
      const manifest = await readDataManifest(dataDir);
      if (manifest?.store !== 'embedded')
        throw new StoreError('foreign', `${dataDir} has ${manifest === undefined ? 'no cluster' : `a cluster whose objects are in ${manifest.store}`}`);
      const store = await openEmbeddedStore({
        directory: storeDirectory(dataDir),
        disk: realDisk,
        expectedClusterId: manifest.clusterId,
        newClusterId: manifest.clusterId,
      });
      try {
        const { entries, revision } = await store.range({ from: '', to: AFTER_ALL });
        const content = { clusterId: store.clusterId, revision, entries };
        return withSharedKeys(content, await sharedKeysValue(dataDir, options));
      } finally {
        await store.close();
      }
    },
    write: (content) => writeEmbedded(dataDir, content, options),
  };
}

/** No key has it. */
const AFTER_ALL = '\uffff\uffff';

async function writeEmbedded(dataDir: string, content: StoreContent, options: PlaceOptions): Promise<void> {
  const manifest = await readDataManifest(dataDir);
  const directory = storeDirectory(dataDir);
  const files = await readdir(directory).catch(() => []);
  if (files.length > 0) throw new StoreError('foreign', `${directory} is not empty: choose another --data-dir`);
  if (manifest !== undefined && manifest.clusterId !== content.clusterId)
    throw new StoreError('foreign', `${dataDir} belongs to the cluster ${manifest.clusterId}, and not to ${content.clusterId}: choose another --data-dir`);
  const shared = await readSharedKeysOf(content, options);
  const objects = { ...content, entries: content.entries.filter(({ key }) => key !== sharedKeysKey) };
  await fillEmbeddedStore(realDisk, directory, objects);
  const { tree } = await examine(realDisk, directory);
  const { entries } = tree.range({ from: '', to: AFTER_ALL });
  if (!isSameContent(entries, objects.entries)) throw new StoreError('corrupt', `${directory} has other objects than were written`);
  const keys: Record<string, readonly string[]> = { ...manifest?.keys };
  for (const name of sharedKeyNames) {
    const text = shared[name];
    if (text === undefined) continue;
    await secretFiles(pkiDirectory(dataDir)).write(name, text);
    keys[name] = [fingerprintOf(path.join(pkiDirectory(dataDir), name), text)];
  }
  await writeDataManifest(dataDir, { clusterId: content.clusterId, store: 'embedded', isUpgrading: false, keys });
}

/** After its objects were copied to etcd: `moor up --store etcd` goes on with the directory. @returns where the embedded store is now */
export async function leaveToEtcd(dataDir: string, clusterId: string, now: string): Promise<string> {
  const kept = path.join(dataDir, `store-before-migration-${now}`);
  const manifest = await readDataManifest(dataDir);
  await rename(storeDirectory(dataDir), kept);
  await writeDataManifest(dataDir, { clusterId, store: 'etcd', isUpgrading: false, keys: manifest?.keys ?? {} });
  return kept;
}

/** Under a prefix in etcd. */
export function etcdPlace({ servers, prefix, tls }: EtcdOptions, options: PlaceOptions): StorePlace {
  const { timers } = options.world;
  const place = () => ({ endpoints: etcdEndpoints(servers, { tls, timers }), prefix });
  return {
    name: 'etcd',
    async read(allowed) {
      const content = await readEtcdStore(place());
      const running = serversIn(content);
      if (running !== '' && allowed === 'must be stopped') {
        await new Promise<void>((resolve) => void timers.after(SILENT_MS, resolve));
        if (serversIn(await readEtcdStore(place())) !== running)
          throw new StoreError('locked', 'an API server of this cluster runs: stop all of them first, on all machines');
      }
      return { ...content, entries: content.entries.filter(({ key }) => !key.startsWith(SERVERS_PREFIX)) };
    },
    write: (content) => fillEtcdStore(place(), content),
  };
}

const serversIn = ({ entries }: StoreContent): string =>
  entries
    .filter(({ key }) => key.startsWith(SERVERS_PREFIX))
    .map(({ key, modRevision }) => `${key}@${modRevision}`)
    .join();

async function sharedKeysValue(dataDir: string, options: PlaceOptions): Promise<Uint8Array> {
  const files = secretFiles(pkiDirectory(dataDir));
  const found: Record<string, string> = {};
  for (const name of sharedKeyNames) {
    const text = await files.read(name);
    if (text !== undefined) found[name] = text;
  }
  const memory = openMemoryStore();
  const store = await withEncryption(memory, options.encryptionConfig, options.world);
  await store.transact({ compares: [], writes: [{ type: 'put', key: sharedKeysKey, value: Buffer.from(JSON.stringify(found)) }] });
  return (await memory.get(sharedKeysKey))?.value ?? new Uint8Array();
}

async function readSharedKeysOf({ entries }: StoreContent, options: PlaceOptions): Promise<Readonly<Record<string, string>>> {
  const value = entries.find(({ key }) => key === sharedKeysKey)?.value;
  if (value === undefined) throw new StoreError('corrupt', 'the keys of the cluster are missing among its objects');
  const memory = openMemoryStore();
  await memory.transact({ compares: [], writes: [{ type: 'put', key: sharedKeysKey, value }] });
  const store = await withEncryption(memory, options.encryptionConfig, options.world);
  const entry = await store.get(sharedKeysKey);
  return JSON.parse(Buffer.from(entry?.value ?? []).toString()) as Record<string, string>;
}

function withSharedKeys(content: StoreContent, value: Uint8Array): StoreContent {
  const { revision } = content;
  const entries = [...content.entries, { key: sharedKeysKey, value, createRevision: revision, modRevision: revision }];
  return { ...content, entries: entries.sort((a, b) => (a.key < b.key ? -1 : 1)) };
}
