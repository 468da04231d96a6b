import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { dataDirOf } from '../cluster/life-cycle/cluster-record.ts';
import { type Finding, inspectData, withDataLocked } from '../cluster/data-directory/repair.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { damagedExitCode, explainStartFailure } from './start-failure.ts';

/** `moor store`: the data directory of a cluster that does not run. */
export const storeCommand: Command = {
  about: `verify reads all of the data directory and changes nothing: the store's log and snapshot, the manifests and the keys.
repair states for each damage what would be kept and lost, and asks. What it changes is first copied to a new directory,
DIR/before-repair-TIME. Both refuse while a "moor up" uses the directory. docs/DATA-DIRECTORY.md describes the files.

The exit code is 0 if the data is sound, or was repaired; 3 if it is damaged; 1 if that cannot be said, or the repair was
declined or failed; 2 for a wrong command line.`,
  arguments: { usage: 'verify|repair', about: 'what to do', least: 1, most: 1 },
  flags: [
    { name: 'data-dir', value: 'DIR', about: 'the data directory of a "moor up"', default: dataDirOf(undefined, '~') },
    { name: 'yes', about: 'repair without asking' },
  ],
  examples: [
    { line: 'moor store verify', about: 'is the data of the last "moor up" sound?' },
    { line: 'moor store repair --data-dir ./data', about: 'see what a repair would lose, and decide' },
  ],
  run: (flags) => runStore(flags),
};

async function runStore(flags: FlagValues): Promise<number> {
  const [action] = flags.arguments;
  if (action !== 'verify' && action !== 'repair') throw new UsageError(`verify|repair must be one of these, not "${action}"`);
  const dataDir = path.resolve(flags.text('data-dir') ?? dataDirOf());
  try {
    return await withDataLocked(dataDir, () => (action === 'verify' ? verify(dataDir) : repair(dataDir, flags.on('yes'))));
  } catch (error) {
    const explanation = explainStartFailure(error, { dataDir });
    if (explanation === undefined) throw error;
    process.stderr.write(`moor store: ${explanation}\n`);
    return 1;
  }
}

const inspect = (dataDir: string): Promise<readonly Finding[]> => inspectData({ dataDir, newId: randomUUID });

async function verify(dataDir: string): Promise<number> {
  const findings = await inspect(dataDir);
  for (const { damage } of findings) process.stdout.write(`${damage}\n`);
  if (findings.length === 0) process.stdout.write(`${dataDir} is sound.\n`);
  return findings.length === 0 ? 0 : damagedExitCode;
}

/** One damage may hide another, as a damaged manifest hides which keys belong to it. */
const mostRounds = 5;

async function repair(dataDir: string, isAgreed: boolean): Promise<number> {
  const copyTo = path.join(dataDir, `before-repair-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  for (let round = 1; round <= mostRounds; round++) {
    const findings = await inspect(dataDir);
    if (findings.length === 0) {
      process.stdout.write(round === 1 ? `${dataDir} is sound: there is nothing to repair.\n` : `Repaired. What was there before is in ${copyTo}.\n`);
      return 0;
    }
    for (const { damage, remedy } of findings) process.stdout.write(`${damage}\n  ${remedy}\n`);
    const repairs = findings.filter((each) => each.repair !== undefined);
    if (repairs.length === 0) return damagedExitCode;
    if (!isAgreed && !(await agrees())) return 1;
    for (const [index, each] of repairs.entries()) await each.repair?.(path.join(copyTo, `${round}-${index + 1}`));
  }
  process.stderr.write(`moor store: ${dataDir} is still damaged after ${mostRounds} rounds; copies are in ${copyTo}\n`);
  return damagedExitCode;
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write('moor store: nothing was changed. Repair with --yes, or on a terminal, where it asks.\n');
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question('Repair it? What is there now is copied first. [y/N] ');
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
