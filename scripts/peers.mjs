#!/usr/bin/env node
// Peers are programs of others that Mooring is tried with, unmodified: sidecars and drivers of kubernetes-csi, csi-sanity, and Kubernetes' own.
// Each folder of tools/peers/ pins one of them (go.mod, go.sum) and has its name, or pins several. docs/PEERS.md lists them.
//
//   node scripts/peers.mjs build [PEER …]              builds those that are missing; without names all that are pinned, but Kubernetes'
//   node scripts/peers.mjs path PEER                   prints where the program lies, and builds nothing
//   node scripts/peers.mjs test [--cached] [FILE …]    runs test/peers; --cached: only the tests whose peers are there
//
// Programs lie in $XDG_CACHE_HOME/mooring/peers (~/.cache/mooring/peers) as <peer>-<hash of pin and flags>. A program that lies there as <peer> is
// used before the pinned one: a version of one's own, or a peer that has no pin.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const pins = path.join(root, 'tools/peers');
const tests = path.join(root, 'test/peers');
const cache = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'mooring/peers');

/** Programs that find no C library where they run. */
const inContainers = new Set(['agnhost', 'nonewprivs', 'regression-issue-74839', 'resource-consumer', 'sample-apiserver']);

/** The peers of one folder: the one that a line `tool PACKAGE` names, or those of a block `tool (…)` and of comments `// test NAME: PACKAGE`. */
function peersIn(folder) {
  const goMod = readFileSync(path.join(pins, folder, 'go.mod'), 'utf8');
  const single = /^tool (\S+)$/m.exec(goMod)?.[1];
  if (single !== undefined && single !== '(') return [{ peer: folder, folder, main: single, goMod, onDemand: false }];
  const block = /^tool \(\n([^)]*)\)/m.exec(goMod)?.[1] ?? '';
  const tools = block.split('\n').flatMap((line) => (line.trim() === '' ? [] : [{ peer: path.basename(line.trim()), main: line.trim() }]));
  const tests = [...goMod.matchAll(/^\/\/ test (\S+): (\S+)$/gm)].map(([, peer, main]) => ({ peer, main, isTest: true }));
  if (tools.length === 0) throw new Error(`tools/peers/${folder}/go.mod needs a "tool" line`);
  return [...tools, ...tests].map((each) => ({ ...each, folder, goMod, onDemand: true }));
}

/** All peers, by name. Those of a folder with several are large, and built on demand. */
const pinned = new Map(
  readdirSync(pins, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? peersIn(entry.name) : []))
    .map((pin) => [pin.peer, pin]),
);

/** How a peer is built: the package, the version of its module, and the command. */
function pinOf(peer) {
  const { folder: name, main, goMod, onDemand, isTest = false } = pinned.get(peer);
  const folder = path.join(pins, name);
  // A folder of several programs names the module of which they are parts, or whose release they belong to.
  const versions = [...goMod.matchAll(onDemand ? /^require (\S+) (v\S+)$/gm : /^(?:require |\t)(\S+) (v\S+)/gm)];
  const version = versions.find(([, module]) => onDemand || main.startsWith(`${module}/`))?.[2];
  if (version === undefined) throw new Error(`tools/peers/${name}/go.mod needs the version of the module of ${main}`);
  // Drivers and sidecars refuse to start, or to be registered, without a version. Kubernetes' programs are large: two packages at a time, and no symbols.
  const large = `-s -w -X k8s.io/component-base/version.gitVersion=${version}`;
  const linker = onDemand ? large + (inContainers.has(peer) ? ' -linkmode external -extldflags -static' : '') : `-X main.version=${version}`;
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', ...(onDemand ? ['-p', '2'] : []), '-ldflags', linker];
  const hash = createHash('sha256')
    .update(goMod)
    .update(readFileSync(path.join(folder, 'go.sum')))
    .update(flags.join('\0'))
    .digest('hex');
  const command = isTest ? ['test', '-c', ...flags] : ['build', ...flags];
  return { folder, main, version, command, program: path.join(cache, `${peer}-${hash.slice(0, 12)}`) };
}

const isProgram = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The program of a peer, or undefined where it has to be built first. */
function programOf(peer) {
  const own = path.join(cache, peer);
  if (isProgram(own)) return own;
  if (!pinned.has(peer)) return undefined;
  const { program } = pinOf(peer);
  return isProgram(program) ? program : undefined;
}

function build(peer) {
  if (!pinned.has(peer)) throw new Error(`${peer} has no pin in tools/peers: put the program into ${cache} under this name (docs/PEERS.md)`);
  const { folder, main, version, command, program } = pinOf(peer);
  mkdirSync(cache, { recursive: true });
  // Two builds at once each have a file of their own; the name appears when the program is whole.
  const partial = `${program}.${process.pid}`;
  console.log(`peers: building ${peer} ${version}`);
  const { status, error, stderr } = spawnSync('go', [...command, '-o', partial, main], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`${peer} needs Go 1.26 to be built: ${error.message}`);
  if (status !== 0) {
    rmSync(partial, { force: true });
    const proxy = spawnSync('go', ['env', 'GOPROXY'], { encoding: 'utf8' }).stdout?.trim();
    const hint = /dial tcp|no such host|i\/o timeout|connection refused|TLS handshake/.test(stderr)
      ? `the Go module proxy (GOPROXY=${proxy}) cannot be reached`
      : 'go build failed';
    throw new Error(`${peer} ${version} was not built, ${hint}:\n${stderr.trim()}`);
  }
  renameSync(partial, program);
}

/** The peers of a test file: its line `// Peers: NAME, NAME`. */
function peersOf(file) {
  const line = /^\/\/ Peers: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
  if (line === undefined) throw new Error(`${path.relative(root, file)} needs a line "// Peers: NAME, NAME"`);
  return line.split(',').map((name) => name.trim());
}

/** Runs the test files, or those whose path contains one of the words. */
function test(words, cachedOnly) {
  const all = readdirSync(tests)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join(tests, name));
  const files = all.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  if (files.length === 0) throw new Error(`no test of test/peers has ${words.join(' or ')} in its path`);
  const needed = new Set(files.flatMap(peersOf));
  if (!cachedOnly) for (const peer of needed) if (programOf(peer) === undefined) build(peer);
  const programs = Object.fromEntries([...needed].flatMap((peer) => (programOf(peer) === undefined ? [] : [[peer, programOf(peer)]])));
  for (const [peer, program] of Object.entries(programs)) console.log(`peers: ${peer} is ${program}`);
  const runnable = files.filter((file) => peersOf(file).every((peer) => peer in programs));
  for (const file of files) {
    const missing = peersOf(file).filter((peer) => !(peer in programs));
    if (missing.length > 0) console.log(`peers: ${path.relative(root, file)} is not run, these are not cached: ${missing.join(', ')}`);
  }
  if (runnable.length === 0) return 0;
  const args = ['vitest', 'run', '--config', 'test/peers/vitest.config.ts', ...runnable.map((file) => path.relative(root, file))];
  return spawnSync('npx', args, { cwd: root, stdio: 'inherit', env: { ...process.env, MOOR_PEERS: JSON.stringify(programs) } }).status ?? 1;
}

const [command, ...rest] = process.argv.slice(2);
try {
  if (command === 'build') {
    const usual = [...pinned.values()].flatMap(({ peer, onDemand }) => (onDemand ? [] : [peer]));
    for (const peer of rest.length > 0 ? rest : usual) if (programOf(peer) === undefined) build(peer);
  } else if (command === 'path' && rest[0] !== undefined) {
    const program = programOf(rest[0]);
    if (program === undefined) throw new Error(`${rest[0]} is not built`);
    console.log(program);
  } else if (command === 'test') {
    process.exitCode = test(
      rest.filter((word) => word !== '--cached'),
      rest.includes('--cached'),
    );
  } else {
    console.error('usage: node scripts/peers.mjs build [PEER …] | path PEER | test [--cached] [FILE …]');
    process.exitCode = 2;
  }
} catch (error) {
  console.error(`peers: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
