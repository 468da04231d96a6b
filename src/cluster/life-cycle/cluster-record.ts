/** The clusters of this user on this machine, as files: each data directory has a record, and directories at other places are listed beside them. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { ProcessIdentity } from '../../host/process-identity.ts';
import type { HostPathVolumes } from '../nodes/machine-drivers.ts';
import { isServed } from './cluster-lock.ts';

export interface ClusterRecord {
  /** Undefined: it was started with a data directory of its own and without a name. */
  readonly name?: string;
  readonly dataDir: string;
  readonly kubeconfig: string;
  readonly url: string;
  /** The last one that served it. */
  readonly process: ProcessIdentity;
  /** Absent: it ran in the foreground. */
  readonly logFile?: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
  readonly runtime: 'hollow' | 'sandbox';
  /** Absent: it has none, or an earlier version made it. */
  readonly hostPathVolumes?: HostPathVolumes;
  /** Everything is removed when it ends; or its deletion has begun. */
  readonly ephemeral: boolean;
}

export const defaultName = 'mooring';

/** Where data directories are; `home`: '~' for the help. */
export const stateDirectory = (home: string = homedir()): string => process.env['XDG_STATE_HOME'] || path.join(home, '.local', 'state');

export const dataDirOf = (name: string = defaultName, home?: string): string =>
  path.join(stateDirectory(home), name === defaultName ? defaultName : `${defaultName}-${name}`);

/** Of a `moor node`. Not in the data directory of a cluster: it may belong to another one. Earlier versions put it there. */
export function nodeDirectoryOf(name: string, home?: string): string {
  const earlier = path.join(dataDirOf(undefined, home), 'nodes', name);
  return existsSync(path.join(earlier, 'pki')) ? earlier : path.join(stateDirectory(home), `${defaultName}.nodes`, name);
}

const fileIn = (dataDir: string): string => path.join(dataDir, 'cluster.json');

/** One file for each data directory that is not at the usual place. */
const otherDirectories = (): string => path.join(stateDirectory(), `${defaultName}.clusters`);
const pointerOf = (dataDir: string): string => path.join(otherDirectories(), createHash('sha256').update(dataDir).digest('hex').slice(0, 16));

/** Returns why a data directory at another place cannot be listed, as with a home directory that is read-only. @throws if the record itself cannot be written */
export function saveRecord(record: ClusterRecord): string | undefined {
  writeWhole(fileIn(record.dataDir), `${JSON.stringify(record, null, 2)}\n`);
  if (record.dataDir === realPath(dataDirOf(record.name))) return undefined;
  try {
    mkdirSync(otherDirectories(), { recursive: true, mode: 0o700 });
    writeWhole(pointerOf(record.dataDir), `${record.dataDir}\n`);
    return undefined;
  } catch (error) {
    return `${stateDirectory()} cannot be written: ${(error as Error).message}`;
  }
}

export function removeRecord(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true });
  rmSync(pointerOf(dataDir), { force: true });
  if (namesIn(otherDirectories()).length > 0) return;
  try {
    rmdirSync(otherDirectories());
  } catch {
    // There is none, or another cluster has just been recorded.
  }
}

/** Undefined: the directory has none that can be read. A copy of another directory names that one, and so neither a process nor volumes or a kubeconfig elsewhere. */
export function readRecord(dataDir: string): ClusterRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as Partial<ClusterRecord> | null;
    const directory = realPath(dataDir);
    if (record === null || typeof record.process?.pid !== 'number' || typeof record.url !== 'string' || typeof record.kubeconfig !== 'string') return undefined;
    if (record.dataDir === directory) return record as ClusterRecord;
    const { hostPathVolumes: _, ...copied } = record as ClusterRecord;
    return { ...copied, dataDir: directory, kubeconfig: path.join(directory, 'kubeconfig'), process: noProcess };
  } catch {
    return undefined;
  }
}

/** No process has this id. */
const noProcess: ProcessIdentity = { pid: 0, startTime: 0 };

/** Of a directory whose record was removed by other means. */
export const recordless = (dataDir: string): ClusterRecord => ({
  dataDir,
  kubeconfig: path.join(dataDir, 'kubeconfig'),
  url: '',
  process: noProcess,
  startedAt: '',
  version: '',
  runtime: 'sandbox',
  ephemeral: false,
});

/** Without links, as far as it exists. */
export function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

/** By name, those without one last. */
export function allRecords(): readonly ClusterRecord[] {
  const usual = namesIn(stateDirectory())
    .filter((name) => name === defaultName || (name.startsWith(`${defaultName}-`) && !name.startsWith(`${defaultName}.`)))
    .map((name) => path.join(stateDirectory(), name));
  const others = namesIn(otherDirectories()).flatMap((name) => {
    const pointer = path.join(otherDirectories(), name);
    const dataDir = readFileSync(pointer, 'utf8').trim();
    // Its directory was removed by other means.
    if (!existsSync(fileIn(dataDir))) rmSync(pointer, { force: true });
    return dataDir;
  });
  const records = [...new Set([...usual, ...others].map(realPath))].flatMap((dataDir) => readRecord(dataDir) ?? []);
  return records.toSorted((a, b) => (a.name ?? '\uffff').localeCompare(b.name ?? '\uffff') || a.dataDir.localeCompare(b.dataDir));
}

export const findRecord = (name: string): ClusterRecord | undefined => allRecords().find((record) => record.name === name);

/** The cluster of this user whose API server this is, for processes beside it on the same machine. */
export async function recordServing(url: string): Promise<ClusterRecord | undefined> {
  for (const record of allRecords()) if (record.url === new URL(url).origin && (await isServed(record.dataDir))) return record;
  return undefined;
}

function writeWhole(file: string, text: string): void {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, file);
}

/** None of a directory that cannot be read. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
