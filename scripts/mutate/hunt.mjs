// Runs random worlds (`moor fuzz`) on changed source until an invariant breaks.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * One process runs many worlds: the first one takes seconds more than any other. The source may hold many mutants, of which `globalThis.mutant` is the one
 * that runs. What a mutant leaves behind in the process could break a world of the next one: a world that broke after other mutants runs once more
 * without any, and has to be whole.
 */
const hunter = (root) => `
import { isDeepStrictEqual } from 'node:util';
import { drawPlan } from '${root}/src/sim/fuzz/plan/draw-plan.ts';
import { runPlan } from '${root}/src/sim/fuzz/run-plan.ts';
import { drawCloudPlan } from '${root}/src/sim/clouds/draw-plan.ts';
import { runCloudWorld } from '${root}/src/sim/clouds/cloud-world.ts';
import { runServerWorld } from '${root}/src/sim/histories/server-world.ts';
const jobs = JSON.parse(process.argv[2]);
const print = (line) => new Promise((done) => process.stdout.write(JSON.stringify(line) + '\\n', done));
const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
globalThis.noteRead = (note, known, key, read) => {
  const [before, live] = [known.get(key), read()];
  known.set(key, live);
  if (before !== undefined) Promise.all([before, live]).then(([a, b]) => isDeepStrictEqual(a, b) || note(), note);
  return live;
};
/** Runs the world of a seed; undefined: it is not one of these worlds. */
function worldOf(seed, worlds) {
  if (worlds === 'servers') return () => runServerWorld(seed);
  if (worlds === 'clouds') return () => runCloudWorld(drawCloudPlan(seed));
  const plan = drawPlan(seed);
  return worlds === 'csi' && plan.settings.csi === undefined ? undefined : () => runPlan(plan);
}
async function run(world, mutant) {
  globalThis.mutant = mutant;
  globalThis.mutantsReached = new Set();
  const { violation } = await world();
  globalThis.mutant = undefined;
  return violation;
}
for (const [nth, { id, mutant, seeds, worlds, goesOn }] of jobs.entries()) {
  for (const seed of seeds) {
    const world = worldOf(seed, worlds);
    if (world === undefined) continue;
    await print({ id, seed });
    const began = cpuMs();
    const violation = await run(world, mutant);
    const reached = [...globalThis.mutantsReached];
    if (violation !== undefined && nth > 0 && (await run(world, undefined)) !== undefined) process.exit(3);
    await print({ id, seed, reached, cpuMs: Math.round(cpuMs() - began), violation });
    if (violation !== undefined && !goesOn) break;
  }
  await print({ id, ended: true });
}
process.exit(0);
`;

/** A world that takes so much of a processor, or so long, does not end. A busy machine may stand still for seconds, so time alone says little. */
const most = { cpuMs: 30_000, silentMs: 600_000 };

/**
 * Calls `work` with a program that runs worlds.
 * @param {string} root the tree
 * @param {{ file: string, text: string }[]} changed files with other texts
 */
export async function bundled(root, changed, work) {
  // Where packages are found.
  const out = mkdtempSync(join(root, 'node_modules/.hunt-'));
  const texts = new Map(changed.map(({ file, text }) => [resolve(root, file), text]));
  const entry = join(root, 'hunter.ts');
  try {
    const bundle = await rolldown({
      input: entry,
      platform: 'node',
      external: /^[^./]/,
      logLevel: 'silent',
      plugins: [
        {
          name: 'changed',
          resolveId: (id) => (id === entry ? id : undefined),
          load: (id) => (id === entry ? hunter(root) : texts.get(id)),
        },
      ],
    });
    await bundle.write({ dir: out, entryFileNames: 'hunter.mjs' });
    await bundle.close();
    return await work({ program: join(out, 'hunter.mjs'), cwd: root });
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** @returns {Promise<{ caught: { seed: number, invariant: string, what: string } } | { survived: number }>} */
export async function huntIn(root, changed, seeds, worlds = 'all') {
  let caught;
  let survived = 0;
  const onWorld = ({ seed, violation }) => {
    survived++;
    if (violation !== undefined) caught = { seed, ...violation };
  };
  await bundled(root, changed, (hunt) => runJobs(hunt, [{ id: 0, seeds, worlds }], onWorld));
  return caught === undefined ? { survived } : { caught };
}

/**
 * Runs the worlds of each job until an invariant breaks.
 * @param {{ id: number, mutant?: number, seeds: number[], worlds?: string, goesOn?: boolean }[]} jobs
 * @param {(world: { id: number, seed: number, reached: number[], cpuMs: number, violation?: { invariant: string, what: string } }) => void} onWorld
 */
export async function runJobs(hunt, jobs, onWorld) {
  let left = jobs.filter(({ seeds }) => seeds.length > 0);
  while (left.length > 0) {
    const ran = new Map();
    const ended = new Set();
    const { id, seed, broken } = await runProcess(hunt, left, (line) => {
      if (line.ended) ended.add(line.id);
      else onWorld(line);
      if (!line.ended) ran.set(line.id, [...(ran.get(line.id) ?? []), line.seed]);
    });
    const isFirst = left[0]?.id === id;
    left = left.filter((job) => !ended.has(job.id)).map((job) => ({ ...job, seeds: job.seeds.filter((each) => !(ran.get(job.id) ?? []).includes(each)) }));
    // A process that dies with its first mutant was broken by that one. Another mutant goes on in a process of its own.
    if (broken !== undefined && isFirst) {
      onWorld({ id, seed, reached: [], cpuMs: 0, violation: broken });
      left = left.filter((job) => job.id !== id);
    }
    left = left.filter(({ seeds }) => seeds.length > 0);
  }
}

/** Processor time in milliseconds; on Linux. */
function cpuMsOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}

/** A program that dies, or does not end, is caught as well: no invariant is needed to notice that. */
function runProcess({ program, cwd }, jobs, onLine) {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--max-old-space-size=2048', '--max-semi-space-size=64', program, JSON.stringify(jobs)], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [rest, err, world] = ['', '', undefined];
    let broken;
    let heard = { at: Date.now(), cpuMs: 0 };
    const timer = setInterval(() => {
      if (Date.now() - heard.at < most.silentMs && cpuMsOf(child.pid) - heard.cpuMs < most.cpuMs) return;
      broken = { invariant: 'a world ends', what: `seed ${world?.seed} did not end` };
      child.kill('SIGKILL');
    }, 1_000);
    child.stdout.on('data', (data) => {
      heard = { at: Date.now(), cpuMs: cpuMsOf(child.pid) };
      const lines = (rest + data).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        if (message.ended || message.reached !== undefined) onLine(message);
        else world = message;
      }
    });
    child.stderr.on('data', (data) => (err = (err + data).slice(-2_000)));
    child.on('close', (code) => {
      clearInterval(timer);
      if (world === undefined && code !== 0) return failed(new Error(`no world ran: ${err}`));
      if (code !== 0 && code !== 3)
        broken ??= { invariant: 'no component throws', what: `the process ended with ${code}: ${/\w*Error.*/.exec(err)?.[0] ?? err}` };
      done({ id: world?.id, seed: world?.seed, broken });
    });
  });
}
