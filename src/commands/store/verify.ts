import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Finding, inspectData, withDataLocked } from '../../cluster/data-directory/repair.ts';
import { type Command, type FlagValues, UsageError } from '../command.ts';
import { clusterArgument, dataDirectoryIn, dataDirFlag } from '../life-cycle/cluster-argument.ts';
import { type Output, outputFlag, outputOf, printData } from '../result/output.ts';
import { explainStartFailure } from '../start-failure.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { withProgress } from '../result/progress.ts';

/** `moor store verify`: whether the data of a cluster that does not run is sound. */
export const storeVerifyCommand: Command = {
  arguments: clusterArgument,
  about: `Reads all of the data directory and changes nothing: the store's log and snapshot, the manifests and the keys. Refuses while
a "moor up" uses the directory. docs/DATA-DIRECTORY.md describes the files.`,
  flags: [dataDirFlag, outputFlag],
  examples: [{ line: 'moor store verify', about: 'is the data of the last "moor up" sound?' }],
  run: (flags) => runStore('verify', flags),
};

/** `moor store repair`: what can be kept of damaged data. */
export const storeRepairCommand: Command = {
  arguments: clusterArgument,
  about: `States for each damage what would be kept and lost, and asks. What it changes is first copied to a new directory,
DIR/before-repair-TIME. Refuses while a "moor up" uses the directory. docs/DATA-DIRECTORY.md describes the files.`,
  flags: [dataDirFlag, { name: 'yes', short: 'y', about: 'repair without asking' }, outputFlag],
  examples: [{ line: 'moor store repair --data-dir ./data', about: 'see what a repair would lose, and decide' }],
  run: (flags) => runStore('repair', flags),
};

async function runStore(action: 'verify' | 'repair', flags: FlagValues): Promise<ExitCode> {
  const output = outputOf(flags);
  if (output === 'json' && action === 'repair' && !flags.on('yes')) throw new UsageError('repair -o json cannot ask: it needs --yes');
  const dataDir = dataDirectoryIn(flags);
  if (!['store', 'pki', 'manifest.json', 'cluster.json'].some((name) => existsSync(path.join(dataDir, name)))) {
    process.stderr.write(`moor store: there is no data of a cluster in ${dataDir}\n`);
    return exitCodes.failure;
  }
  try {
    return await withDataLocked(dataDir, () => (action === 'verify' ? verify(dataDir, output) : repair(dataDir, { isAgreed: flags.on('yes'), output })));
  } catch (error) {
    const explanation = explainStartFailure(error, { dataDir });
    if (explanation === undefined) throw error;
    process.stderr.write(`moor store: ${explanation}\n`);
    return exitCodes.failure;
  }
}

const inspect = (dataDir: string): Promise<readonly Finding[]> => withProgress(`Reading ${dataDir}`, () => inspectData({ dataDir, newId: randomUUID }));

const shownOf = ({ damage, remedy, repair: repairIt }: Finding) => ({ damage, remedy, repairable: repairIt !== undefined });

async function verify(dataDir: string, output: Output): Promise<ExitCode> {
  const findings = await inspect(dataDir);
  const isSound = findings.length === 0;
  printData(output, { dataDir, sound: isSound, findings: findings.map(shownOf) }, () =>
    isSound ? `${dataDir} is sound.\n` : findings.map(({ damage }) => `${damage}\n`).join(''),
  );
  return isSound ? exitCodes.success : exitCodes.notInOrder;
}

/** One damage may hide another, as a damaged manifest hides which keys belong to it. */
const mostRounds = 5;

async function repair(dataDir: string, { isAgreed, output }: { readonly isAgreed: boolean; readonly output: Output }): Promise<ExitCode> {
  const copyTo = path.join(dataDir, `before-repair-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  const found: Finding[] = [];
  /** How it ended. Damage was shown as it was found, except as JSON. */
  const end = (isSound: boolean, text = ''): ExitCode => {
    const copies = found.some((each) => each.repair !== undefined) ? copyTo : null;
    printData(output, { dataDir, sound: isSound, findings: found.map(shownOf), copies }, () => text);
    return isSound ? exitCodes.success : exitCodes.notInOrder;
  };
  for (let round = 1; round <= mostRounds; round++) {
    const findings = await inspect(dataDir);
    if (findings.length === 0)
      return end(true, round === 1 ? `${dataDir} is sound: there is nothing to repair.\n` : `Repaired. What was there before is in ${copyTo}.\n`);
    found.push(...findings);
    if (output === 'text') for (const { damage, remedy } of findings) process.stdout.write(`${damage}\n  ${remedy}\n`);
    const repairs = findings.filter((each) => each.repair !== undefined);
    if (repairs.length === 0) return end(false);
    if (!isAgreed && !(await agrees())) return exitCodes.failure;
    await withProgress('', async ({ say }) => {
      for (const [index, each] of repairs.entries()) {
        say(`Repairing ${index + 1} of ${repairs.length}; what is changed is copied to ${copyTo} first`);
        await each.repair?.(path.join(copyTo, `${round}-${index + 1}`));
      }
    });
  }
  process.stderr.write(`moor store: ${dataDir} is still damaged after ${mostRounds} rounds; copies are in ${copyTo}\n`);
  return end(false);
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
