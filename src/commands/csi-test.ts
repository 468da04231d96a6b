import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { allCases } from '../csi-test/cases.ts';
import { Driver, DriverUnavailable } from '../csi-test/driver.ts';
import { jsonReport } from '../csi-test/report/json.ts';
import { junitReport } from '../csi-test/report/junit.ts';
import { countOf, type Report } from '../csi-test/report/result.ts';
import { resultText, summaryText } from '../csi-test/report/text.ts';
import { runTests } from '../csi-test/run.ts';
import { givenSequence } from '../csi-test/sequences/sequence.ts';
import type { TestCase } from '../csi-test/test-case.ts';
import { realHostFiles } from '../host/files.ts';
import { imagesWithDevice } from '../host/loop-devices.ts';
import { readMounts, realMounts } from '../host/mounts.ts';
import { realProcesses } from '../host/processes.ts';
import { createRealWorld } from '../host/world.ts';
import { Prng } from '../sim/world/prng.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { csiTestFlags, type CsiTestSettings, readSettings } from './csi-test-flags.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { withProgress } from './result/progress.ts';

/** `moor csi test`: finds the bugs of a CSI driver. */
export const csiTestCommand: Command = {
  about: `Tests a CSI driver by its sockets, without a cluster, as root or not. The driver is DRIVER, which this command starts, kills and
starts again; or it runs already (--endpoint), and is never killed. In ARGS, {endpoint} is the endpoint that the driver has to
listen at (also in the variable CSI_ENDPOINT), {socket} its path, {dir} an empty folder for its data, {node} the name of the node.

The parts: specs (a table by call, each with its clause of the CSI specification), idempotency (each call repeated, with other
arguments, after a restart, twice in flight, after its inverse), network (answers lost, late and duplicated, connections cut),
crashes (SIGKILL before, during and after each call), concurrency, sequences (random ones, from the seed, shrunk if they fail).
After each case, what it made is deleted, and volumes, snapshots, mounts, loop devices and files that are left are named.
What the driver's capabilities do not offer is reported as not applicable, with the reason. Volumes that the tests did not create
are never touched; but a driver that is faulty may be damaged by them: use one whose data may be lost.`,
  arguments: { usage: '-- DRIVER ARGS', about: 'the program of the driver and its arguments', least: 0, most: Number.POSITIVE_INFINITY },
  flags: csiTestFlags,
  examples: [
    { line: 'moor csi test -- hostpathplugin --endpoint={endpoint} --nodeid={node} --statedir={dir}', about: 'a driver that this command starts' },
    { line: 'moor csi test --endpoint unix:///run/csi.sock --parameters class.yaml -o junit --report csi.xml', about: 'one that runs, for a CI' },
    { line: 'moor csi test --focus CreateVolume -- DRIVER ARGS', about: 'only cases whose name matches' },
  ],
  run: (flags) => runCsiTest(flags),
};

async function runCsiTest(flags: FlagValues): Promise<ExitCode> {
  const workDir = await makeWorkDir();
  // Timers and calls do not keep a process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  try {
    return await testDriver(await readSettings(flags, workDir), workDir);
  } finally {
    clearInterval(alive);
    await removeWorkDir(workDir);
  }
}

async function makeWorkDir(): Promise<string> {
  try {
    return await realpath(await mkdtemp(path.join(tmpdir(), 'moor-csi-')));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new UsageError(`no folder can be made in ${tmpdir()}: ${problem}; TMPDIR=DIR names another place`);
  }
}

async function testDriver(settings: CsiTestSettings, workDir: string): Promise<ExitCode> {
  const world = createRealWorld({ logLevel: 'silent' });
  const { options, format, report: reportFile } = settings;
  const cases = chosenCases(settings);
  if (cases.length === 0) throw new UsageError(`no case matches --focus ${settings.focus?.source}`);
  const dataDir = path.join(workDir, 'data');
  const reset = async (): Promise<void> => {
    await realHostFiles.removeTree(dataDir);
    await realHostFiles.makeDirectory(dataDir, 0o755);
  };
  const [first, ...others] = settings.drivers.map(
    (each) => new Driver({ ...each, ...(settings.usesDataDir ? { reset } : {}), processes: realProcesses, ...world, timeoutMs: options.timeoutMs }),
  );
  if (first === undefined) throw new UsageError('name the driver: -- DRIVER ARGS, or --endpoint unix:///PATH');
  const drivers = [first, ...others] as const;
  for (const name of ['data', 'n0', 'n1']) await realHostFiles.makeDirectory(path.join(workDir, name), 0o755);
  const isText = format === 'text' || reportFile !== undefined;
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  try {
    const report = await withProgress('Starting the driver', ({ say, clear }) => {
      let done = 0;
      return runTests({
        drivers,
        cases,
        options,
        machine: { mounts: { table: readMounts }, files: realHostFiles, processes: realProcesses, imagesWithDevice },
        world,
        randomOf: (seed) => new Prng(seed),
        onResult: (result) => {
          done++;
          if (isText) {
            clear();
            print(resultText(result, settings.commandLine));
          }
          say(`${done} of ${cases.length} cases done, next: ${cases[done]?.id ?? 'none'}`);
        },
      });
    });
    if (isText) print(summaryText(report));
    if (reportFile !== undefined) await writeFile(reportFile, rendered(report, settings));
    else if (!isText) process.stdout.write(rendered(report, settings));
    if (report.aborted !== undefined) return exitCodes.notInOrder;
    return countOf(report, 'failed') > 0 ? exitCodes.failure : exitCodes.success;
  } catch (error) {
    if (!(error instanceof DriverUnavailable)) throw error;
    process.stderr.write(`moor csi test: ${error.message}\n${first.log().slice(-4000)}`);
    return exitCodes.notInOrder;
  } finally {
    for (const driver of drivers) await driver.close();
  }
}

function chosenCases({ sequence, focus, options }: CsiTestSettings): readonly TestCase[] {
  if (sequence !== undefined) return [sequenceOf(sequence)];
  const cases = allCases(options);
  return focus === undefined ? cases : cases.filter(({ id, part }) => focus.test(id) || focus.test(part));
}

function sequenceOf(text: string): TestCase {
  try {
    return givenSequence(text);
  } catch (error) {
    throw new UsageError(`--sequence: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function rendered(report: Report, { format, commandLine }: CsiTestSettings): string {
  switch (format) {
    case 'text':
      return `${[...report.results.map((each) => resultText(each, commandLine)), summaryText(report)].join('\n')}\n`;
    case 'json':
      return jsonReport(report);
    case 'junit':
      return junitReport(report);
  }
}

/** The folder is this command's, and so are the mounts that a driver left in it: the report has named them. */
async function removeWorkDir(workDir: string): Promise<void> {
  const left = (await readMounts()).filter(({ target }) => target.startsWith(`${workDir}/`));
  const mounts = realMounts();
  try {
    for (const { target } of left.reverse()) await mounts.unmount(target);
    await realHostFiles.removeTree(workDir);
  } catch (error) {
    process.stderr.write(`moor csi test: ${workDir} is kept: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
