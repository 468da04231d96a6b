#!/usr/bin/env node
// Kubernetes' own end-to-end tests (e2e.test v1.36.4) against a `moor up` of their own: docs/CONFORMANCE.md.
//
//   node scripts/e2e.mjs [--group NAME]… [--procs N] [--minutes N] [--images host] [--cached] [--keep] [FOCUS]
//
// Without FOCUS the groups, or all of them; with it the specs whose name matches the regular expression. The exit code is 1 if a spec fails that is
// not known to fail, or passes though it is (scripts/e2e/known-failures.mjs). N specs run at a time; those that are [Serial] run alone.
// --minutes: of each group; specs that are cut off are neither passed nor failed, but half of them have to be through. --cached: nothing is run where a
// program or the images are not built yet. Needs root, Go 1.26 for what is not built yet, and kubectl.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { groups } from './e2e/groups.mjs';
import { archivePath, imageArchive, imagePeers } from './e2e/images.mjs';
import { knownFailures, reasonOf } from './e2e/known-failures.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const moor = path.join(root, 'dist/main/moor.js');
const peers = path.join(root, 'scripts/peers.mjs');
const cache = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'mooring/peers');

const { values, positionals } = parseArgs({
  options: {
    group: { type: 'string', multiple: true },
    images: { type: 'string', default: 'rebuilt' },
    cached: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '360' },
    procs: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
});

try {
  process.exitCode = canEnterHost() ? await main() : await inOwnProcesses();
} catch (error) {
  console.error(`e2e: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}

/** Specs of local volumes run programs in the mount namespace of the machine's first process, from a privileged pod. */
function canEnterHost() {
  try {
    readlinkSync('/proc/1/ns/mnt');
    return true;
  } catch {
    return false;
  }
}

/** A first process with more rights than this one cannot be entered: cluster and specs get a process namespace with one that can. The shell in it reaps. */
function inOwnProcesses() {
  const script = '"$@"; exit $?';
  const args = ['--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', script, 'sh', process.execPath, ...process.argv.slice(1)];
  const inside = spawn('unshare', args, { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    inside.once('error', reject);
    inside.once('exit', (code) => resolve(code ?? 2));
  });
}

async function main() {
  const selected = selection();
  const missing = values.cached ? notCached() : [];
  if (missing.length > 0) {
    console.log(`e2e: not run, these are not cached: ${missing.join(', ')}`);
    return 0;
  }
  const program = peer('e2e.test');
  const ginkgo = peer('ginkgo');
  const archive = values.images === 'rebuilt' ? imageArchive({ programs: Object.fromEntries(imagePeers.map((name) => [name, peer(name)])), cache }) : undefined;
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-e2e-'));
  console.log(`e2e: reports and logs lie in ${folder}`);
  const results = [];
  for (const [name, { focus, skip }] of selected) {
    const own = path.join(folder, name);
    mkdirSync(own);
    const cluster = await startCluster(own, archive);
    try {
      await runSpecs({ ginkgo, program }, { ...cluster, focus, skip, folder: own });
    } finally {
      await cluster.end();
    }
    results.push({ name, ...judge(path.join(own, 'report.json')) });
  }
  printResults(results);
  const isClean = results.every(({ unexpected, repaired, specs, cutOff }) => unexpected.length + repaired.length === 0 && specs > cutOff);
  if (isClean && !values.keep) rmSync(folder, { recursive: true, force: true });
  return isClean ? 0 : 1;
}

/** Name and pattern of what is run. */
function selection() {
  const [focus] = positionals;
  if (focus !== undefined) return [['focus', { focus }]];
  const names = values.group ?? Object.keys(groups);
  const unknown = names.filter((name) => !(name in groups));
  if (unknown.length > 0) throw new Error(`no group ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}`);
  return names.map((name) => [name, groups[name]]);
}

/** Programs that are not built yet, and the images. */
function notCached() {
  const missing = ['e2e.test', 'ginkgo', ...imagePeers].filter((name) => pathOf(name) === undefined);
  if (missing.length > 0 || values.images !== 'rebuilt') return missing;
  const programs = Object.fromEntries(imagePeers.map((name) => [name, pathOf(name)]));
  return existsSync(archivePath({ programs, cache })) ? [] : ['images'];
}

/** The path of a peer, which is built first where it is missing. */
function peer(name) {
  const built = spawnSync(process.execPath, [peers, 'build', name], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (built.status !== 0) throw new Error(`${name} was not built`);
  return pathOf(name);
}

/** undefined: it is not built. */
function pathOf(name) {
  const { status, stdout } = spawnSync(process.execPath, [peers, 'path', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return status === 0 ? stdout.trim() : undefined;
}

/** A cluster of one sandbox node, with the images loaded; all of it is removed at the end. */
async function startCluster(folder, archive) {
  const dataDir = path.join(folder, 'data');
  const kubeconfig = path.join(folder, 'kubeconfig');
  const env = { ...process.env, XDG_STATE_HOME: folder };
  const command = (args) => spawnSync(process.execPath, [moor, ...args], { env, encoding: 'utf8' });
  const started = command(['up', '--detach', '--runtime', 'sandbox', '--listen', '127.0.0.1:0', '--data-dir', dataDir, '--kubeconfig', kubeconfig]);
  if (started.status !== 0) throw new Error(`moor up: ${started.stderr || started.stdout}`);
  if (archive !== undefined) {
    const loaded = command(['load', archive, '--data-dir', dataDir]);
    if (loaded.status !== 0) throw new Error(`moor load: ${loaded.stderr || loaded.stdout}`);
  }
  const end = async () => {
    const ended = command(['delete', '--data-dir', dataDir, '--yes']);
    if (ended.status !== 0) console.error(`e2e: moor delete: ${ended.stderr || ended.stdout}`);
  };
  return { kubeconfig, end };
}

/** Runs e2e.test; its output goes to a file. */
function runSpecs({ ginkgo, program }, { kubeconfig, focus, skip, folder }) {
  const kubectl = path.join(root, '.tools/bin/kubectl');
  // Ginkgo takes only files that end in .test for suites.
  const suite = path.join(folder, 'e2e.test');
  symlinkSync(program, suite);
  const args = [
    'run',
    `--procs=${values.procs}`,
    `--focus=${focus}`,
    ...(skip === undefined ? [] : [`--skip=${skip}`]),
    '--json-report=report.json',
    `--output-dir=${folder}`,
    `--seed=${values.seed}`,
    '--no-color',
    `--timeout=${values.minutes}m`,
    '-v',
    suite,
    '--',
    `--kubeconfig=${kubeconfig}`,
    '--provider=skeleton',
    '--num-nodes=1',
    '--dump-logs-on-failure=false',
    '--disable-log-dump',
    ...(existsSync(kubectl) ? [`--kubectl-path=${kubectl}`] : []),
    `--report-dir=${folder}`,
  ];
  const output = spawn('sh', ['-c', 'exec "$@" > "$LOG" 2>&1', 'sh', ginkgo, ...args], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, LOG: path.join(folder, 'e2e.log'), PATH: `${path.join(root, '.tools/bin')}:${process.env['PATH'] ?? ''}` },
  });
  return new Promise((resolve, reject) => {
    output.once('error', reject);
    output.once('exit', resolve);
  });
}

/** Which specs of a report passed and failed, and which of them are a surprise. Of those that the end of the time cut off, the report says only how many were meant to be run. */
function judge(report) {
  const suites = JSON.parse(readFileSync(report, 'utf8'));
  const all = suites.flatMap(({ SpecReports }) => SpecReports ?? []).filter(({ LeafNodeType }) => LeafNodeType === 'It');
  const planned = suites.reduce((sum, { PreRunStats }) => sum + PreRunStats.SpecsThatWillRun, 0);
  const ran = all.filter(({ State }) => State === 'passed' || State === 'failed' || State === 'panicked');
  // By its own decision, for lack of something in the cluster.
  const declined = all.filter(({ State, Failure }) => State === 'skipped' && Failure?.Message !== undefined);
  const specs = ran.map(({ ContainerHierarchyTexts, LeafNodeText, State, Failure, RunTime }) => ({
    name: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' '),
    isPassed: State === 'passed',
    message: Failure?.Message ?? '',
    seconds: RunTime / 1e9,
  }));
  const failed = specs.filter(({ isPassed }) => !isPassed);
  return {
    cutOff: planned - ran.length - declined.length,
    specs: specs.length,
    passed: specs.length - failed.length,
    failed,
    unexpected: failed.filter(({ name }) => reasonOf(name) === undefined),
    repaired: specs.filter(({ name, isPassed }) => isPassed && reasonOf(name) !== undefined),
  };
}

function printResults(results) {
  console.log('\n| group | specs | passed | known to fail | unexpected | cut off |\n|---|---|---|---|---|---|');
  for (const { name, specs, passed, failed, unexpected, cutOff } of results) {
    console.log(`| ${name} | ${specs} | ${passed} | ${failed.length - unexpected.length} | ${unexpected.length} | ${cutOff} |`);
  }
  const list = (title, specs) => {
    if (specs.length > 0) console.log(`\n${title}`);
    for (const { name, message } of specs) console.log(`- ${name}\n    ${message.split('\n').slice(0, 6).join('\n    ')}`);
  };
  list(
    'Failed, and not known to:',
    results.flatMap(({ unexpected }) => unexpected),
  );
  list(
    'Passed, though known to fail (scripts/e2e/known-failures.mjs):',
    results.flatMap(({ repaired }) => repaired),
  );
  for (const { name, specs, cutOff } of results) {
    if (specs <= cutOff) console.log(`\n${name}: too few specs were run in ${values.minutes} minutes: ${specs}, and ${cutOff} were cut off`);
  }
  console.log(`\n${knownFailures.length} failures are known.`);
}
