// What the simulator says of mutants: which worlds run their code, and in which an invariant breaks.
import { bundled, runJobs } from './hunt.mjs';
import { chosen, noted } from './operators.mjs';

/** The files of mutants with other texts at their places. Two places that overlap cannot both have one: those that had to be left out. */
function rewritten(copy, entries, textOf) {
  const [files, later] = [new Map(), []];
  for (const entry of [...entries].sort((a, b) => b.mutant.start - a.mutant.start)) {
    const { file, start, end, appended = '' } = entry.mutant;
    const { text, from, tail } = files.get(file) ?? { text: copy.text(file), from: Infinity, tail: '' };
    if (end > from) later.push(entry);
    else files.set(file, { text: text.slice(0, start) + textOf(entry) + text.slice(end), from: start, tail: tail.includes(appended) ? tail : tail + appended });
  }
  return { changed: Array.from(files, ([file, { text, tail }]) => ({ file, text: text + tail })), later };
}

/** Calls `work` with a program that holds all of these mutants, or with several where their places overlap. */
async function inBundles(copy, entries, textOf, work) {
  for (let left = entries; left.length > 0; ) {
    const { changed, later } = rewritten(copy, left, textOf);
    const held = left.filter((entry) => !later.includes(entry));
    await bundled(copy.root, changed, (hunt) => work(hunt, held));
    left = later;
  }
}

/**
 * Adds to each mutant the worlds in which it could make a difference: where its code runs and, for comparisons, guards and reads, gives another value. In
 * the others it changes nothing, since every run of a seed is the same. A world that breaks as the source is shows nothing.
 */
export async function findWorlds(copy, entries, { from, to }) {
  const seeds = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const note = (entry) => noted(entry.mutant, `globalThis.mutantsReached?.add(${entries.indexOf(entry)})`);
  await inBundles(copy, entries, note, (hunt) =>
    runJobs(hunt, [{ id: 0, seeds, goesOn: true }], ({ seed, reached, cpuMs, violation }) => {
      if (violation !== undefined) console.log(`the unchanged source breaks: seed ${seed}: ${violation.invariant}: ${violation.what}`);
      else for (const index of reached) entries[index]?.worlds.push({ seed, cpuMs });
    }),
  );
}

/** Runs every mutant in its next worlds, until an invariant breaks or `most` of them were run. */
export async function runWorlds(copy, entries, { most, onWorld }) {
  const due = entries.filter(({ worlds, ran }) => ran < Math.min(most, worlds.length));
  const job = (entry) => ({ id: due.indexOf(entry), mutant: due.indexOf(entry), seeds: entry.worlds.slice(entry.ran, most).map(({ seed }) => seed) });
  await inBundles(
    copy,
    due,
    (entry) => chosen(entry.mutant, `globalThis.mutant === ${due.indexOf(entry)}`),
    (hunt, held) => runJobs(hunt, held.map(job), ({ id, seed, violation }) => onWorld(due[id], violation === undefined ? undefined : { seed, ...violation })),
  );
}
