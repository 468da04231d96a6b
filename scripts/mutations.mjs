#!/usr/bin/env node
// Proof that the simulator notices bugs: each mutation of test/mutations is put into the source in memory, and worlds are run until an invariant
// breaks: first the one that noticed it last time, then from seed 1 on. The unchanged source has to survive the same seeds. scripts/mutate.mjs does the same with bugs by operator.
//
//   npm run mutations                       all of them; writes docs/mutations.md
//   node scripts/mutations.mjs 06 13        only these; prints, writes nothing. With --update: writes their lines
//   node scripts/mutations.mjs --applies    only whether every mutation still applies
//
// --seeds N   at most N seeds (300)      --jobs N   N at a time (2)      --as-is   the unchanged source, too
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { huntIn } from './mutate/hunt.mjs';
import { splitPage } from './mutate/report.mjs';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'test/mutations');
const table = join(root, 'docs/mutations.md');

/**
 * A mutation is a file of test/mutations: `breaks` says what the bug does, `caughtBy` names the invariant that should notice, and each of its
 * `edits` replaces a piece of code that occurs exactly once in its file. A `find` is code without comments, and as short as it can be. With `worlds` csi,
 * only worlds with CSI drivers behind sockets are run, with `worlds` clouds those of a cloud and the autoscaler, with `worlds`
 * servers those of two API servers on an etcd that misbehaves: no other ones have the code.
 */
export function readMutations() {
  const files = readdirSync(folder).filter((name) => /^\d\d-.*\.json$/.test(name));
  return files.sort().map((file) => {
    const name = basename(file, '.json');
    return { name, number: name.slice(0, 2), ...JSON.parse(readFileSync(join(folder, file), 'utf8')) };
  });
}

/** The files that a mutation changes, with their new text. Every `find` is looked for in the text as it was. */
function mutated({ edits }) {
  return [...new Set(edits.map(({ file }) => file))].map((file) => {
    if (!existsSync(join(root, file))) throw new Error(`there is no ${file}`);
    const text = readFileSync(join(root, file), 'utf8');
    const places = edits.flatMap((edit) => {
      if (edit.file !== file) return [];
      const count = text.split(edit.find).length - 1;
      if (count !== 1) throw new Error(`${file} has this ${count} times: ${edit.find}`);
      return [{ at: text.indexOf(edit.find), ...edit }];
    });
    // From the end, so that the places before keep their offsets.
    places.sort((a, b) => b.at - a.at);
    return { file, text: places.reduce((all, { at, find, replace }) => all.slice(0, at) + replace + all.slice(at + find.length), text) };
  });
}

/** The mutations that do not apply to the source as it is, with the reason. */
export function misfits(mutations) {
  return mutations.flatMap((mutation) => {
    try {
      mutated(mutation);
      return [];
    } catch (error) {
      return [`${mutation.name}: ${error.message}`];
    }
  });
}

/**
 * `first`: the seed to begin with, if any.
 * @returns {Promise<{ seed: number, invariant: string, what: string } | { survived: number }>}
 */
export async function hunt(mutation, { to, first }) {
  const seeds = [...new Set([first ?? 1, ...Array.from({ length: to }, (_, i) => 1 + i)])];
  const ended = await huntIn(root, mutation === undefined ? [] : mutated(mutation), seeds, mutation?.worlds);
  return ended.caught ?? ended;
}

async function runJobs(items, jobs, work) {
  const left = [...items];
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
    }),
  );
}

/** What the page says of a mutation. */
function knownResult(mutation) {
  const line = readFileSync(table, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`| [${mutation.name}]`));
  const [seed, invariant] = /\| (\d+) \| ([^|]+) \|$/.exec(line ?? '')?.slice(1) ?? [];
  return seed === undefined || invariant === undefined ? undefined : { seed: Number(seed), invariant };
}

/** The results that the page has for other mutations. */
function knownResults(mutations) {
  return mutations.map((mutation) => {
    const caught = knownResult(mutation);
    if (caught === undefined) throw new Error(`docs/mutations.md says nothing of ${mutation.name}`);
    return { mutation, caught };
  });
}

const tried = `
## Tried, and not kept
Seven more were tried, and none was noticed:

- A cache that does not know what its own process has written until the watch reports it (12 worlds). Every change is a compare-and-swap, and what is created has a name that follows from what it is
  for, so a controller that decides on something old is refused and decides again. Only pods of ReplicaSets have random names; that no more of them are created than asked for is an invariant now, where nothing fails.
- A write that got no answer and counts as done (7 worlds). Whether something else always wakes the controller in time, or worlds with such losses are only too few, is not known yet.
- A Lost claim that is bound to another volume (11 worlds). Presumably harmless: the server lets no client change the volumeName of a claim that has one.
- A stale cache that decides alone whether a claim is gone, before its volume is released (27 worlds with such volumes). It takes a volume with a class that waits for its first consumer, reserved by the scheduler while
  the controllers have not heard of the claim.
- The scheduler alone forgets ReadWriteOncePod (40 worlds). Nodes refuse the second pod, as kubelets do; it takes both to be wrong (36).
- A volume that becomes free wakes no claim (40 worlds). The binder looks at a waiting claim again for its next event, and finds the volume then: late, but not never.
- Readers that share a request for etcd's revision which began before them (40 worlds of two servers). Another server has to acknowledge a write within the time of one answer on the network;
  \`src/store/etcd/linearizable-revision.test.ts\` finds it.
`;

export function render(results, mostSeeds) {
  const last = Math.max(...results.map(({ caught }) => caught.seed));
  const cell = (text) => text.replaceAll('|', '\\|');
  const rows = results.map(
    ({ mutation, caught }) =>
      `| [${mutation.name}](../test/mutations/${mutation.name}.json) | ${cell(mutation.breaks)} | ${caught.seed} | ${cell(caught.invariant)} |`,
  );
  const notes = results.flatMap(({ mutation }) => (mutation.note === undefined ? [] : `- **${mutation.name}**: ${mutation.note}`));
  return `# Bugs on purpose

Tests that cannot fail prove nothing. So ${results.length} bugs are kept in \`test/mutations/\`, each a mistake that a programmer could make (several of them were made, in Kubernetes or here). \`npm run
mutations\` puts one at a time into a copy of the source and runs random worlds (\`moor fuzz\`) until an invariant breaks: the one that noticed last time, then from seed 1 on. It writes this page, and fails if a
mutation no longer applies or a bug survives ${mostSeeds} seeds. The unchanged source survives the ${last} seeds that it takes to catch the last one, and \`npm test\` runs more. Seeds of the bugs from 75 on are those of \`moor fuzz --worlds clouds\`, from 90 on of \`--worlds servers\`.

A mutation is a JSON file: each of its edits replaces a piece of code that occurs exactly once in a file. The seed is the number of a world in which an invariant broke: a world takes about
a second. The invariant that breaks first is not always the one that a bug is about: \`caughtBy\` in the file names that one.

| bug | what it does | caught by seed | invariant that broke |
|---|---|---|---|
${rows.join('\n')}

## What had to be added
Not every bug was noticed at first. What the simulator lacked, and has since:

${notes.length === 0 ? 'Nothing.' : notes.join('\n')}
${tried}`;
}

/** The unchanged source, in as many worlds of each kind as it took to catch the last bug there. */
async function survivesAsIs(results) {
  let isWhole = true;
  for (const worlds of [undefined, 'clouds', 'servers']) {
    const ofKind = results.filter(({ mutation }) => (mutation.worlds === 'csi' ? undefined : mutation.worlds) === worlds);
    const last = Math.max(0, ...ofKind.map(({ caught }) => caught.seed ?? 0));
    if (last === 0) continue;
    const ended = await hunt({ edits: [], worlds }, { to: last });
    const kind = worlds === undefined ? '' : ` of ${worlds}`;
    console.log(`the unchanged source ${'survived' in ended ? `survives ${last} seeds${kind}` : `breaks at seed ${ended.seed}${kind}: ${ended.what}`}`);
    isWhole &&= 'survived' in ended;
  }
  return isWhole;
}

async function main(args) {
  const option = (name, otherwise) => (args.includes(name) ? Number(args[args.indexOf(name) + 1]) : otherwise);
  const [mostSeeds, jobs] = [option('--seeds', 300), option('--jobs', 2)];
  const numbers = args.filter((arg, i) => /^\d\d$/.test(arg) && args[i - 1] !== '--seeds' && args[i - 1] !== '--jobs');
  const all = readMutations();
  const unfit = misfits(all);
  for (const line of unfit) console.log(`does not apply: ${line}`);
  if (args.includes('--applies') || unfit.length > 0) return unfit.length === 0 ? 0 : 1;
  const chosen = numbers.length === 0 ? all : all.filter(({ number }) => numbers.includes(number));
  const results = [];
  await runJobs(chosen, jobs, async (mutation) => {
    const began = Date.now();
    const caught = await hunt(mutation, { to: mostSeeds, first: knownResult(mutation)?.seed }).catch((error) => ({ error: error.message }));
    const seconds = ((Date.now() - began) / 1000).toFixed(0);
    const outcome =
      'seed' in caught ? `seed ${caught.seed}: ${caught.invariant}: ${caught.what}` : 'error' in caught ? caught.error : `SURVIVED ${caught.survived} seeds`;
    console.log(`${mutation.name} (${seconds} s): ${outcome}`);
    results.push({ mutation, caught });
  });
  const missed = results.filter(({ caught }) => !('seed' in caught));
  const isWhole = numbers.length > 0 && !args.includes('--as-is') ? true : await survivesAsIs(results);
  console.log(`${results.length - missed.length} of ${results.length} bugs caught`);
  if (missed.length > 0 || !isWhole) return 1;
  if (numbers.length > 0 && !args.includes('--update')) return 0;
  results.push(...knownResults(all.filter((mutation) => !chosen.includes(mutation))));
  results.sort((a, b) => (a.mutation.name < b.mutation.name ? -1 : 1));
  // The bugs by operator are those of scripts/mutate.mjs.
  const [, byOperator] = splitPage(readFileSync(table, 'utf8'));
  writeFileSync(table, render(results, mostSeeds) + byOperator);
  return 0;
}

if (process.argv[1] === import.meta.filename) process.exit(await main(process.argv.slice(2)));
