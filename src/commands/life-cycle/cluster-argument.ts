/** Which cluster of this machine a command is about: by its name, or by its data directory. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { foreignFileIn } from '../../cluster/data-directory/foreign-files.ts';
import { lockFile } from '../../cluster/life-cycle/cluster-lock.ts';
import {
  allRecords,
  type ClusterRecord,
  dataDirOf,
  defaultName,
  findRecord,
  namesIn,
  readRecord,
  realPath,
  recordless,
} from '../../cluster/life-cycle/cluster-record.ts';
import { TearDownError } from '../../cluster/life-cycle/tear-down.ts';
import { nearestName } from '../../api/nearest-name.ts';
import { dnsLabelProblems } from '../../api/validation/names.ts';
import { type Command, type Flag, type FlagValues, UsageError } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';

export const clusterArgument: NonNullable<Command['arguments']> = {
  usage: '[NAME]',
  about: `the name of the cluster, as "moor list" shows it; "${defaultName}" if there is none`,
  least: 0,
  most: 1,
};

export const dataDirFlag: Flag = {
  name: 'data-dir',
  value: 'DIR',
  about: 'the data directory of the cluster, instead of its name',
  default: `${dataDirOf(undefined, '~')}, or ${dataDirOf('NAME', '~')}`,
};

/** `skipped`: how many arguments come before the name. @throws UsageError */
export function nameOf(flags: FlagValues, skipped = 0): string | undefined {
  const name = flags.arguments[skipped];
  const [problem] = name === undefined ? [] : dnsLabelProblems(name);
  if (problem !== undefined) throw new UsageError(`"${name}" is not a name for a cluster: ${problem}`);
  return name;
}

/** There is no such cluster; the message says which there are. */
export class NoSuchCluster extends Error {}

/** @throws UsageError, NoSuchCluster */
export function recordOf(flags: FlagValues): ClusterRecord {
  const name = nameOf(flags);
  const given = flags.text('data-dir');
  if (given !== undefined) {
    const dataDir = path.resolve(given);
    const record = readRecord(dataDir);
    if (record === undefined) throw new NoSuchCluster(`${dataDir} is not the data directory of a cluster (it has no cluster.json)`);
    if (name !== undefined && record.name !== name)
      throw new NoSuchCluster(`${dataDir} belongs to ${record.name === undefined ? 'a cluster without a name' : `cluster "${record.name}"`}, not to "${name}"`);
    return record;
  }
  const record = findRecord(name ?? defaultName);
  if (record !== undefined) return record;
  throw new NoSuchCluster(
    missingText(
      name,
      allRecords().flatMap((each) => each.name ?? []),
    ),
  );
}

/** `names`: of the clusters that there are. */
export function missingText(name: string | undefined, names: readonly string[]): string {
  if (name !== undefined) {
    const near = nearestName(name, names);
    const hint = near === undefined ? ':' : `; did you mean "${near}"?`;
    return `there is no cluster "${name}"${hint} "moor list" shows all`;
  }
  return names.length === 0
    ? 'there is no cluster yet: "moor up" starts one, "moor list" shows all'
    : `there is no cluster without a name of its own: give a name, such as "${names[0]}"; "moor list" shows all`;
}

/** The data directory of a cluster that may be damaged, or not exist yet. @throws UsageError */
export function dataDirectoryIn(flags: FlagValues, skipped = 0): string {
  const [name, given] = [nameOf(flags, skipped), flags.text('data-dir')];
  if (given === undefined) return findRecord(name ?? defaultName)?.dataDir ?? dataDirOf(name);
  if (name !== undefined) throw new UsageError('give a name or --data-dir, not both');
  return path.resolve(given);
}

/** What follows a command that is about it: '' for the default one, ' shop', or ' --data-dir DIR'. */
export const wordsFor = ({ name, dataDir }: Pick<ClusterRecord, 'name' | 'dataDir'>): string =>
  name === undefined ? ` --data-dir ${dataDir}` : name === defaultName ? '' : ` ${name}`;

/** What is left of a cluster whose record was removed by other means. */
async function remainsOf(flags: FlagValues): Promise<ClusterRecord | undefined> {
  const dataDir = realPath(flags.text('data-dir') ?? dataDirOf(nameOf(flags)));
  const names = namesIn(dataDir);
  // Of a deletion that was killed at its very end, the lock is left.
  const hasParts = names.some((name) => ['store', 'pki', 'nodes', 'manifest.json'].includes(name)) || names.join() === lockFile;
  const isOurs = hasParts && (await foreignFileIn(dataDir)) === undefined;
  return isOurs && !existsSync(path.join(dataDir, 'cluster.json')) ? recordless(dataDir) : undefined;
}

/** The same for a command that ends a cluster: it also ends what is left of one. */
export const forEnding: typeof forCluster = (command, flags, task) =>
  forCluster(command, flags, task, async () => {
    try {
      return recordOf(flags);
    } catch (error) {
      const remains = error instanceof NoSuchCluster ? await remainsOf(flags) : undefined;
      if (remains === undefined) throw error;
      return remains;
    }
  });

/** Runs a command that is about one cluster. Exit code 1: there is no such cluster, or something of it cannot be ended or removed. */
export async function forCluster(
  command: string,
  flags: FlagValues,
  task: (record: ClusterRecord) => Promise<ExitCode>,
  find: () => Promise<ClusterRecord> = async () => recordOf(flags),
): Promise<ExitCode> {
  try {
    return await task(await find());
  } catch (error) {
    if (!(error instanceof NoSuchCluster) && !(error instanceof TearDownError)) throw error;
    process.stderr.write(`moor ${command}: ${error.message}\n`);
    return exitCodes.failure;
  }
}
