// Which mutants are judged: drawn from a seed.
import { join } from 'node:path';
import { TypeChecker } from './copy.mjs';
import { mutantsOf, operatorNames } from './operators.mjs';
import { nameOf } from './report.mjs';

const areas = ['src/controllers', 'src/scheduler', 'src/node', 'src/storage', 'src/store', 'src/apiserver/registry'];
/** Code for tests; and code that talks to a kernel or a socket, of which the simulator has none. */
const leftOut = /\.test\.ts$|\/samples\.ts$|^src\/store\/(conformance|model)|^src\/node\/(runtimes\/sandbox|kubelet-api|dns|streams|pod-worker\/probes)\//;

/** mulberry32 */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(list, next) {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** Takes one of each list in turn. */
function inTurn(lists) {
  const all = [];
  for (let i = 0; lists.some((list) => i < list.length); i++) for (const list of lists) if (i < list.length) all.push(list[i]);
  return all;
}

const allMutants = (copy) =>
  copy
    .files()
    .filter((file) => file.endsWith('.ts') && areas.some((area) => file.startsWith(`${area}/`)) && !leftOut.test(file))
    .flatMap((file) => mutantsOf(file, copy.text(file)));

/**
 * As many of each operator as of each other, and of each area. Mutants that do not type-check are not bugs that could land: others replace them. What
 * was drawn before, and is still there, is kept.
 */
export async function drawSample(copy, { seed, count, kept }) {
  if (kept.length >= count) return kept;
  const next = random(seed);
  const all = allMutants(copy);
  const candidates = operatorNames.map((operator) => {
    const ofArea = (area, rank) => shuffled(all, next).filter((each) => each.operator === operator && each.rank === rank && each.file.startsWith(`${area}/`));
    return inTurn([0, 1].map((rank) => inTurn(areas.map((area) => ofArea(area, rank)))));
  });
  const sample = [...kept];
  const known = new Set(kept.map(nameOf));
  const drawn = (operator) => sample.filter((each) => each.operator === operator).length;
  const checker = new TypeChecker(copy.root);
  while (sample.length < count && candidates.some((list) => list.length > 0)) {
    const [fewest] = operatorNames.filter((_, i) => candidates[i].length > 0).sort((a, b) => drawn(a) - drawn(b));
    const list = candidates[operatorNames.indexOf(fewest)];
    for (let mutant = list.shift(); mutant !== undefined; mutant = list.shift()) {
      const { file } = mutant;
      if (known.has(nameOf(mutant)) || !(await copy.with(mutant, () => checker.accepts(join(copy.root, file))))) continue;
      sample.push(mutant);
      break;
    }
  }
  checker.close();
  return sample;
}

/** The same place in the source as it is now. */
export function placeNow(copy, { operator, file, original, nth }) {
  if (!copy.files().includes(file)) return undefined;
  return mutantsOf(file, copy.text(file)).find((each) => each.operator === operator && each.original === original && each.nth === nth);
}
