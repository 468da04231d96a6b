#!/usr/bin/env node
// Proof that the simulator sees bugs: each patch of test/mutations is put into a copy of the source, and worlds are run from seed 1 on until
// one of them breaks. The code as it is has to survive the same seeds.
//
//   npm run mutations                       all of them; writes docs/mutations.md
//   node scripts/mutations.mjs 06 13        only these; prints, writes nothing. With --update: writes their lines
//   node scripts/mutations.mjs --applies    only whether every patch still applies
//
// --seeds N   so many seeds at most (300)      --jobs N   so many at a time (2)      --as-is   the code as it is, too
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'test/mutations');
const table = join(root, 'docs/mutations.md');

/** What a patch says of itself, in the lines before the first that starts with 'diff'. */
export function readPatches() {
  const files = readdirSync(folder).filter((name) => name.endsWith('.patch'));
  return files.sort().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const field = (name) => new RegExp(`^${name}: (.+)$`, 'm').exec(text.split('\ndiff ')[0])?.[1];
    const name = basename(file, '.patch');
    const [breaks, caughtBy, note] = [field('Breaks'), field('Caught by'), field('Note')];
    if (breaks === undefined || caughtBy === undefined) throw new Error(`${file} does not say what it breaks, or what should notice`);
    return { name, number: name.slice(0, 2), path: join(folder, file), breaks, caughtBy, note };
  });
}

const applyPatch = (patch, into, ...more) => run('git', ['apply', '--whitespace=nowarn', ...more, patch.path], { cwd: into });

/** Those that do not apply to the source as it is. */
export async function misfits(patches) {
  const copy = copyOfSource();
  try {
    const found = [];
    for (const patch of patches)
      await applyPatch(patch, copy, '--check').catch((error) => found.push(`${patch.name}: ${String(error.stderr ?? error).trim()}`));
    return found;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copyOfSource() {
  const copy = mkdtempSync(join(tmpdir(), 'moor-mutation-'));
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs worlds until one breaks; says which, and what. */
const hunter = `
import { drawPlan } from './src/sim/fuzz/plan/draw-plan.ts';
import { runPlan } from './src/sim/fuzz/run-plan.ts';
const [from, to] = process.argv.slice(2).map(Number);
for (let seed = from; seed <= to; seed++) {
  const { violation } = await runPlan(drawPlan(seed));
  if (violation !== undefined) {
    process.stdout.write(JSON.stringify({ seed, ...violation }));
    process.exit(0);
  }
}
process.stdout.write(JSON.stringify({ survived: to - from + 1 }));
process.exit(0);
`;

/** @returns {Promise<{ seed: number, invariant: string, what: string } | { survived: number }>} */
export async function hunt(patch, { from = 1, to }) {
  const copy = copyOfSource();
  try {
    if (patch !== undefined) await applyPatch(patch, copy);
    writeFileSync(join(copy, 'hunter.ts'), hunter);
    const bundle = await rolldown({ input: join(copy, 'hunter.ts'), platform: 'node', external: /^[^./]/, logLevel: 'silent' });
    await bundle.write({ dir: join(copy, 'out'), entryFileNames: 'hunter.mjs' });
    await bundle.close();
    return JSON.parse(await output(process.execPath, [join(copy, 'out/hunter.mjs'), String(from), String(to)]));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What a program prints. One that dies of the mutation has noticed it, too: but nobody checked an invariant, so it counts as an error here. */
function output(command, args) {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (err = (err + data).slice(-2_000)));
    child.on('close', (code) => (code === 0 ? done(out) : failed(new Error(`it ended with ${code}: ${err}`))));
  });
}

async function inTurns(items, jobs, work) {
  const left = [...items];
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
    }),
  );
}

/** What the page says of other bugs. */
function knownResults(patches) {
  const lines = readFileSync(table, 'utf8').split('\n');
  return patches.map((patch) => {
    const [seed, invariant] = /\| (\d+) \| ([^|]+) \|$/.exec(lines.find((line) => line.startsWith(`| [${patch.name}]`)) ?? '')?.slice(1) ?? [];
    if (seed === undefined || invariant === undefined) throw new Error(`docs/mutations.md says nothing of ${patch.name}`);
    return { patch, caught: { seed: Number(seed), invariant } };
  });
}

const tried = `
## Tried, and not kept
Six more were tried, and none was noticed:

- A cache that does not know what its own process has written until the watch says so (12 worlds). Every change is a compare-and-swap, and what is made has a name that follows from what it is
  for, so whoever decides on something old is refused and decides again. Only pods of ReplicaSets have drawn names; that no more of them are made than asked for is an invariant now, where nothing fails.
- A write that got no answer and counts as done (7 worlds). Whether something else always wakes the controller in time, or worlds with such losses are only too few, is not known yet.
- A Lost claim that is given another volume (11 worlds). Presumably harmless: the server lets nobody change the volumeName of a claim that has one.
- A stale cache that decides alone whether a claim is gone, before its volume is released (27 worlds with such volumes). It takes a volume with a class that waits for its first pod, reserved by the scheduler while
  the controllers have not heard of the claim.
- The scheduler alone forgets ReadWriteOncePod (40 worlds). Nodes refuse the second pod, as kubelets do; it takes both to be wrong (36).
- A volume that becomes free wakes no claim (40 worlds). A claim that waits is looked at again for its next event, and finds the volume then: late, but not never.
`;

export function render(results, mostSeeds) {
  const last = Math.max(...results.map(({ caught }) => caught.seed));
  const cell = (text) => text.replaceAll('|', '\\|');
  const rows = results.map(
    ({ patch, caught }) => `| [${patch.name}](../test/mutations/${patch.name}.patch) | ${cell(patch.breaks)} | ${caught.seed} | ${cell(caught.invariant)} |`,
  );
  const notes = results.flatMap(({ patch }) => (patch.note === undefined ? [] : `- **${patch.name}**: ${patch.note}`));
  return `# Bugs on purpose

Tests that cannot fail prove nothing. So ${results.length} bugs are kept as patches in \`test/mutations/\`, each a mistake that somebody could make (several of them were made, in Kubernetes or here). \`npm run
mutations\` puts one at a time into a copy of the source and runs random worlds from seed 1 on until an invariant breaks. It writes this page, and fails if a
patch no longer applies or a bug survives ${mostSeeds} seeds. The code without patches survives the ${last} seeds that it takes to catch the last one, and \`npm test\` runs more.

What it took is the number of the first world in which something was noticed: a world takes a few tenths of a second. Which invariant notices first is not always the one that a bug is
about: what the patch itself expects is in its head.

| bug | what it does | caught by seed | what noticed |
|---|---|---|---|
${rows.join('\n')}

## What had to be added
Not every bug was seen at first. What the simulator lacked, and has since:

${notes.length === 0 ? 'Nothing.' : notes.join('\n')}
${tried}`;
}

async function main(args) {
  const option = (name, otherwise) => (args.includes(name) ? Number(args[args.indexOf(name) + 1]) : otherwise);
  const [mostSeeds, jobs] = [option('--seeds', 300), option('--jobs', 2)];
  const numbers = args.filter((arg, i) => /^\d\d$/.test(arg) && args[i - 1] !== '--seeds' && args[i - 1] !== '--jobs');
  const all = readPatches();
  const unfit = await misfits(all);
  for (const line of unfit) console.log(`does not apply: ${line}`);
  if (args.includes('--applies') || unfit.length > 0) return unfit.length === 0 ? 0 : 1;
  const chosen = numbers.length === 0 ? all : all.filter(({ number }) => numbers.includes(number));
  const results = [];
  await inTurns(chosen, jobs, async (patch) => {
    const began = Date.now();
    const caught = await hunt(patch, { to: mostSeeds }).catch((error) => ({ error: error.message }));
    const seconds = ((Date.now() - began) / 1000).toFixed(0);
    const said =
      'seed' in caught ? `seed ${caught.seed}: ${caught.invariant}: ${caught.what}` : 'error' in caught ? caught.error : `SURVIVED ${caught.survived} seeds`;
    console.log(`${patch.name} (${seconds} s): ${said}`);
    results.push({ patch, caught });
  });
  const missed = results.filter(({ caught }) => !('seed' in caught));
  const last = Math.max(0, ...results.map(({ caught }) => caught.seed ?? 0));
  const asIs = numbers.length === 0 || args.includes('--as-is') ? await hunt(undefined, { to: last }) : undefined;
  if (asIs !== undefined)
    console.log('survived' in asIs ? `the code as it is survives ${last} seeds` : `the code as it is breaks at seed ${asIs.seed}: ${asIs.what}`);
  console.log(`${results.length - missed.length} of ${results.length} bugs caught`);
  if (missed.length > 0 || (asIs !== undefined && 'seed' in asIs)) return 1;
  if (numbers.length > 0 && !args.includes('--update')) return 0;
  results.push(...knownResults(all.filter((patch) => !chosen.includes(patch))));
  results.sort((a, b) => (a.patch.name < b.patch.name ? -1 : 1));
  writeFileSync(table, render(results, mostSeeds));
  return 0;
}

if (process.argv[1] === import.meta.filename) process.exit(await main(process.argv.slice(2)));
