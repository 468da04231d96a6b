import type { Violation } from '../invariants/observer.ts';
import { simulate, type SimulatedWorld } from '../world/world.ts';
import { Gate, type GateOption } from '../fuzz/gate.ts';
import { hashOf } from './normal-form.ts';
import { SmallWorld } from './small-world.ts';
import type { ExplorationCase } from './cases.ts';

export interface ExploreOptions {
  /** How many crashes one history may have. */
  readonly crashes: number;
  /** The most states to explore. */
  readonly mostStates: number;
  /** No history begins after so many milliseconds, by the clock `now`. */
  readonly mostMs?: number;
  readonly now?: () => number;
}

/** What was explored. */
export interface Coverage {
  readonly name: string;
  /** Distinct states in which there was a choice. */
  readonly states: number;
  /** Histories that were run: each from the beginning, to its end or to a known state. */
  readonly histories: number;
  /** How many of them ran to their end. */
  readonly endings: number;
  /** The longest sequence of effects. */
  readonly longest: number;
  /** Histories that were found but not run; 0: the exploration is complete. */
  readonly left: number;
  readonly failure: ExplorationFailure | undefined;
}

export interface ExplorationFailure extends Violation {
  readonly choices: readonly number[];
  readonly timeline: readonly string[];
}

/**
 * All histories of a case that differ in the order of effects, or in where a component crashes: depth first, each run from the beginning, since
 * components cannot be copied. A history ends at a known state: what can follow from it is explored, or on the list.
 */
export async function explore(exploration: ExplorationCase, options: ExploreOptions): Promise<Coverage> {
  const { now = () => 0 } = options;
  const began = now();
  const known = new Set<string>();
  const left: (readonly number[])[] = [[]];
  let [histories, endings, longest] = [0, 0, 0];
  const coverage = (failure?: ExplorationFailure): Coverage => ({
    name: exploration.name,
    states: known.size,
    histories,
    endings,
    longest,
    left: left.length,
    failure,
  });
  for (let prefix = left.pop(); prefix !== undefined; prefix = left.pop()) {
    const history = await runHistory(exploration, { prefix, known, crashes: options.crashes });
    histories++;
    if (history.isEnd) endings++;
    longest = Math.max(longest, history.choices.length);
    for (const other of history.others) left.push(other);
    if (history.violation !== undefined) return coverage({ ...history.violation, choices: history.choices, timeline: history.timeline });
    if (known.size >= options.mostStates || now() - began >= (options.mostMs ?? Number.POSITIVE_INFINITY)) break;
  }
  return coverage();
}

interface ExploredHistory {
  readonly choices: readonly number[];
  /** The other ways on, in states that were new. */
  readonly others: readonly (readonly number[])[];
  readonly isEnd: boolean;
  readonly violation: Violation | undefined;
  readonly timeline: readonly string[];
}

interface HistoryOptions {
  readonly prefix: readonly number[];
  readonly known: Set<string>;
  readonly crashes: number;
}

/** A history with more effects ends here. */
const mostChoices = 400;

async function runHistory(exploration: ExplorationCase, { prefix, known, crashes }: HistoryOptions): Promise<ExploredHistory> {
  const [choices, others]: [number[], number[][]] = [[], []];
  const found: { violation?: Violation | undefined; isEnd: boolean; world?: SmallWorld } = { isEnd: false };
  const run = async (world: SimulatedWorld): Promise<void> => {
    const gate = new Gate();
    const ended = new Promise<void>((resolve) => {
      const small = new SmallWorld({ world, exploration, gate, onViolation: (violation) => resolve(void (found.violation ??= violation)) });
      found.world = small;
      let crashesLeft = crashes;
      world.onIdle = () => {
        const options = gate.options(crashesLeft > 0);
        if (options.length === 0) {
          gate.timeMoves();
          return false;
        }
        const number = choices.length;
        if (number >= prefix.length) {
          const hash = hashOf({ facts: small.facts, held: gate.pending, revisions: small.revisions, more: `${crashesLeft} ${small.minute}` });
          // A known state: its ways on are explored, or on the list.
          if (known.has(hash) || number >= mostChoices) return resolve(), false;
          known.add(hash);
          for (let other = options.length - 1; other > 0; other--) others.push([...choices, other]);
        }
        const choice = prefix[number] ?? 0;
        const option: GateOption | undefined = options[choice];
        if (option === undefined) throw new Error(`history ${choices.join(' ')} has no way ${choice}`);
        choices.push(choice);
        if (option.verdict !== 'go') crashesLeft--;
        small.note(option);
        gate.choose(option);
        return true;
      };
      void small.play().then((violation) => {
        found.violation ??= violation;
        found.isEnd = true;
        resolve();
      });
    });
    await ended;
  };
  await simulate(1, run, { steps: 500_000, keepsLog: false });
  return { choices, others, isEnd: found.isEnd, violation: found.violation, timeline: found.world?.timeline ?? [] };
}
