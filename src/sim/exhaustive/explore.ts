import type { Violation } from '../invariants/observer.ts';
import { simulate, type SimulatedWorld } from '../world/world.ts';
import { Gate, type GateOption } from '../fuzz/gate.ts';
import { hashOf } from './normal-form.ts';
import { SmallWorld } from './small-world.ts';
import type { ExplorationCase } from './cases.ts';

export interface ExploreOptions {
  /** So many programs may die in one history. */
  readonly crashes: number;
  /** No more states than these are looked into. */
  readonly mostStates: number;
  /** And no more histories are begun after so many milliseconds, by this clock. */
  readonly mostMs?: number;
  readonly now?: () => number;
}

/** How far it went. */
export interface Coverage {
  readonly name: string;
  /** Different states in which there was something to choose. */
  readonly states: number;
  /** Histories that were lived: each from the beginning, to its end or to a state that was known. */
  readonly histories: number;
  /** How many of them were lived to their end. */
  readonly endings: number;
  /** The longest row of effects. */
  readonly longest: number;
  /** Histories that were known of and not lived; 0: all there are have been. */
  readonly left: number;
  readonly failure: ExplorationFailure | undefined;
}

export interface ExplorationFailure extends Violation {
  readonly choices: readonly number[];
  readonly timeline: readonly string[];
}

/**
 * All histories of a exploration that differ in the order of effects, or in where a program dies: depth first, each lived anew from the beginning, since
 * programs cannot be copied. A history ends where it comes to a state that was known before: what can follow from it is already known, or noted.
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
    const lived = await runHistory(exploration, { prefix, known, crashes: options.crashes });
    histories++;
    if (lived.isEnd) endings++;
    longest = Math.max(longest, lived.choices.length);
    for (const other of lived.others) left.push(other);
    if (lived.violation !== undefined) return coverage({ ...lived.violation, choices: lived.choices, timeline: lived.timeline });
    if (known.size >= options.mostStates || now() - began >= (options.mostMs ?? Number.POSITIVE_INFINITY)) break;
  }
  return coverage();
}

interface ExploredHistory {
  readonly choices: readonly number[];
  /** Histories that would have gone another way, in states that nobody had known. */
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

/** So many effects in a row are no exploration any more. */
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
          // Known: whoever was here first went on from here, and left the other ways for later.
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
