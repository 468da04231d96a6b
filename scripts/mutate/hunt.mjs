// Runs random worlds (`moor fuzz`) on changed source until an invariant breaks.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

/** Prints a line for each seed, then the result. */
const hunter = (root) => `
import { drawPlan } from '${root}/src/sim/fuzz/plan/draw-plan.ts';
import { runPlan } from '${root}/src/sim/fuzz/run-plan.ts';
const [list, worlds] = process.argv.slice(2);
const seeds = list.split(',').map(Number);
const print = (result) => new Promise((done) => process.stdout.write(JSON.stringify(result) + '\\n', done));
for (const seed of seeds) {
  const plan = drawPlan(seed);
  if (worlds === 'csi' && plan.settings.csi === undefined) continue;
  await print({ seed });
  globalThis.mutantsReached = new Set();
  const { violation } = await runPlan(plan);
  await print({ seed, reached: [...globalThis.mutantsReached] });
  if (violation === undefined) continue;
  await print({ caught: { seed, ...violation } });
  process.exit(0);
}
await print({ survived: seeds.length });
process.exit(0);
`;

/** So long without a new seed: the world does not end. A machine may be slow, and stand still for seconds. */
const silentMs = 120_000;

/**
 * @param {string} root the tree
 * @param {{ file: string, text: string }[]} changed files with other texts
 * @param {number[]} seeds in this order
 * @param {(seed: number, reached: string[]) => void} onSeed called after each world, with what the changed source added to `mutantsReached`
 * @param {'all' | 'csi'} worlds csi: only those with CSI drivers behind sockets
 * @returns {Promise<{ caught: { seed: number, invariant: string, what: string } } | { survived: number }>}
 */
export async function huntIn(root, changed, seeds, onSeed = () => undefined, worlds = 'all') {
  if (seeds.length === 0) return { survived: 0 };
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
    return await run(join(out, 'hunter.mjs'), { seeds, onSeed, worlds, cwd: root });
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** A program that dies, or does not end, is caught as well: no invariant is needed to notice that. */
function run(program, { seeds, onSeed, worlds, cwd }) {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--max-old-space-size=2048', program, seeds.join(','), worlds], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let [rest, err, seed] = ['', '', undefined];
    let result;
    const end = (invariant, what) => done({ caught: { seed, invariant, what } });
    let timer;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        end('a world ends', `seed ${seed} did not end within ${silentMs / 1000} s`);
        child.kill('SIGKILL');
      }, silentMs);
    };
    wait();
    child.stdout.on('data', (data) => {
      wait();
      const lines = (rest + data).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        if (message.seed === undefined) result = message;
        else if (message.reached === undefined) seed = message.seed;
        else onSeed(message.seed, message.reached);
      }
    });
    child.stderr.on('data', (data) => (err = (err + data).slice(-2_000)));
    child.on('close', (code) => {
      clearTimeout(timer);
      if (seed === undefined) failed(new Error(`no world ran: ${err}`));
      else if (result === undefined) end('no component throws', `the process ended with ${code}: ${/\w*Error.*/.exec(err)?.[0] ?? err}`);
      else done(result);
    });
  });
}
