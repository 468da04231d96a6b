// The part of docs/mutations.md about bugs planted by operator. The part before it is that of scripts/mutations.mjs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const heading = '# Bugs by operator';

/** The page without that part, and the part. */
export function splitPage(text) {
  const at = text.indexOf(`\n${heading}\n`);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

const explanationsFile = (root) => join(root, 'test/mutations/survivors.json');

/** Survivors that change nothing that can be observed, by 'operator: file: original code', with the reason. */
export const readExplanations = (root) => JSON.parse(readFileSync(explanationsFile(root), 'utf8'));

const resultsFile = (root) => join(root, 'test/mutations/by-operator.json');

/** The sample as it was judged last: a run goes on from there on another machine. Which worlds were done is not kept. */
export function readResults(root, { seed, count }) {
  if (!existsSync(resultsFile(root))) return [];
  const kept = JSON.parse(readFileSync(resultsFile(root), 'utf8'));
  if (kept.seed !== seed || kept.count !== count) return [];
  return kept.entries.map(({ result, ...mutant }) => ({ mutant, result }));
}

function writeResults(root, { seed, count, entries }) {
  const kept = entries.map(({ mutant: { operator, file, line, original, nth }, result }) => ({ operator, file, line, original, nth, result }));
  writeFileSync(resultsFile(root), `${JSON.stringify({ seed, count, entries: kept }, undefined, 2)}\n`);
}

const code = (text) => `\`${text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('`', "'").slice(0, 70)}\``;
const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
const percent = (part, all) => `${all === 0 ? 0 : Math.round((100 * part) / all)} %`;

/** With its number, where a file has the same code several times. */
export const nameOf = ({ operator, file, original, nth = 1 }) => `${operator}: ${file}: ${original.replaceAll(/\s+/g, ' ')}${nth === 1 ? '' : ` (${nth})`}`;

/** Which of the three, and by what. */
function caughtBy({ result, mutant, ran = 0, worlds = [] }, explanations) {
  const { simulator, test } = result;
  if (simulator !== undefined) return ['simulator', `seed ${simulator.seed}: ${simulator.invariant}`];
  if (test !== undefined) return ['tests', `${test.file.replace(/^.*?(src|test)\//, '$1/')}: ${test.title}`];
  const why = explanations[nameOf(mutant)];
  if (why !== undefined) return ['equivalent', why];
  return ['nothing', worlds.length === 0 ? 'it makes no difference in any world' : `${ran} of the ${worlds.length} worlds in which it makes a difference`];
}

export function writeReport(root, state) {
  const explanations = readExplanations(root);
  // What changes nothing needs no run.
  const entries = state.entries.map((entry) => (explanations[nameOf(entry.mutant)] === undefined ? entry : { ...entry, result: entry.result ?? {} }));
  const rows = entries.filter(({ result }) => result !== undefined).map((entry) => ({ ...entry, caught: caughtBy(entry, explanations) }));
  const count = (what) => rows.filter(({ caught: [who] }) => who === what).length;
  // Those without a result count as not caught: percentages of the judged alone would be too high, since what is caught is known first.
  const open = entries.length - rows.length;
  const mayStillBeSeen = ({ caught: [who], known = 0, ran = 0, worlds = [] }) => (who === 'tests' || who === 'nothing') && (known < 200 || ran < worlds.length);
  const unseen = open + rows.filter(mayStillBeSeen).length;
  const real = rows.length + open - count('equivalent');
  const [simulator, tests, nothing] = ['simulator', 'tests', 'nothing'].map(count);
  const line = ({ mutant, caught: [who, how] }) =>
    `| ${mutant.operator} | [${mutant.file.slice(4)}:${mutant.line}](../${mutant.file}#L${mutant.line}) ${code(mutant.original)} | ${who} | ${cell(how).slice(0, 160)} |`;
  const text = `
${heading}
\`npm run mutate\` is mutation testing: it plants one bug at a time by operator (negated condition, dropped await, swapped writes, removed precondition, cached instead of live read, revision off by
one), at places of controllers, scheduler, node, storage, store and registry that are drawn from a seed, and as many of each operator. Left out is code that talks to a kernel or a socket (sandbox runtime, kubelet API, DNS, streams,
probes): the simulator has neither. A mutant that does not type-check is replaced by another one, as is one whose code has changed since. Each runs in the random worlds 1 to 200, and in the tests that load its file,
nearest first (without those that start containers or processes); the first violation, or failure, ends it. One pass finds out in which worlds a mutant makes a difference: where its place is reached, where
a comparison or a guard would have had another value, where a cached answer is not the live one. In the others it changes nothing, since every run of a seed is the same; of the rest, the quickest worlds come first. One process holds all mutants and runs
their worlds one after the other; what breaks after another mutant ran there runs again without any, and has to be whole.

The run can be stopped and continued: what is judged is kept in \`test/mutations/by-operator.json\`. \`npm run mutate -- --again simulator\` runs those again that the simulator did not notice.
\`test/mutations/survivors.json\` explains those that change nothing.

Seed ${state.seed}: ${state.entries.length} mutants drawn, ${count('equivalent')} of them equivalent. Of the other ${real}, the simulator alone catches ${simulator} (${percent(simulator, real)}), tests only ${tests}, nothing
${nothing}; ${open === 0 ? 'all are judged' : `${open} are not judged yet`}. Both together: ${percent(simulator + tests, real)}. ${unseen === 0 ? 'All worlds were run.' : `For ${unseen} of them the simulator has not run all worlds yet, so its share is the least that it can be.`}

| operator | place | caught by | how |
|---|---|---|---|
${rows.map(line).join('\n')}
`;
  const page = join(root, 'docs/mutations.md');
  const [before] = splitPage(readFileSync(page, 'utf8'));
  writeFileSync(page, before + text);
  writeResults(root, state);
  console.log(`${rows.length} judged, ${open} not: simulator ${simulator}, tests ${tests}, equivalent ${count('equivalent')}, nothing ${nothing}`);
  return 0;
}
