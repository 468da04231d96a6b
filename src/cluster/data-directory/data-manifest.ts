import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { writeSecret } from '../../host/secret-files.ts';
import { DataDamage, NewerData } from './data-damage.ts';
import { readIfThere } from '../../host/read-if-there.ts';

/** Where the objects of a cluster are: in `store/` of its data directory, in etcd, or nowhere, since they were in memory. */
export const storeKinds = ['embedded', 'etcd', 'memory'] as const;
export type StoreKind = (typeof storeKinds)[number];

/** What a data directory holds besides the store's own manifest: whose it is, and which keys belong to it. */
export interface DataManifest {
  readonly clusterId: string;
  readonly store: StoreKind;
  /** A directory of format 1 is being upgraded: its store may not have the cluster's id yet. */
  readonly isUpgrading: boolean;
  /** File in `pki/` → fingerprint. Two while the file is being replaced. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
}

export const DATA_FORMAT = 2;
const NAME = 'manifest.json';

export const manifestFile = (dataDir: string): string => path.join(dataDir, NAME);

/** undefined: there is none. @throws DataDamage, NewerData */
export async function readDataManifest(dataDir: string): Promise<DataManifest | undefined> {
  const file = manifestFile(dataDir);
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const parsed = parse(text);
  const format = parsed?.['format'];
  if (typeof format === 'number' && format > DATA_FORMAT) {
    throw new NewerData(`${file} was written by a newer Mooring: its format is ${format}, this one reads up to ${DATA_FORMAT}`);
  }
  const manifest = parsed === undefined ? undefined : manifestIn(parsed);
  if (manifest === undefined || manifestText(manifest) !== text) {
    const found = text === '' ? 'an empty file' : `${text.length} characters that ${manifest === undefined ? 'are none' : 'fail their checksum'}`;
    throw new DataDamage({ file, expected: `a manifest of format ${DATA_FORMAT} as Mooring writes it`, found });
  }
  return manifest;
}

/** Durably and atomically: a crash leaves the old one or the new one. */
export async function writeDataManifest(dataDir: string, manifest: DataManifest): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeSecret(manifestFile(dataDir), manifestText(manifest));
}

function manifestText({ clusterId, store, isUpgrading, keys }: DataManifest): string {
  const sorted = Object.fromEntries(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1)));
  const body = { format: DATA_FORMAT, clusterId, store, isUpgrading, keys: sorted };
  const checksum = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  return `${JSON.stringify({ ...body, checksum }, undefined, 2)}\n`;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function manifestIn({ clusterId, store, isUpgrading, keys }: Record<string, unknown>): DataManifest | undefined {
  if (typeof clusterId !== 'string' || !isStoreKind(store) || typeof isUpgrading !== 'boolean' || !areKeys(keys)) return undefined;
  return { clusterId, store, isUpgrading, keys };
}

const isStoreKind = (value: unknown): value is StoreKind => storeKinds.some((kind) => kind === value);

const areKeys = (value: unknown): value is DataManifest['keys'] =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((prints) => Array.isArray(prints) && prints.every((each) => typeof each === 'string'));
