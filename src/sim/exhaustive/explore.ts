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
  readonly story: string;
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
 * All histories of a story that differ in the order of effects, or in where a program dies: depth first, each lived anew from the beginning, since
 * programs cannot be copied. A history ends where it comes to a state that was seen before: what can follow from it is already known, or noted.
 */
export async function explore(story: ExplorationCase, options: ExploreOptions): Promise<Coverage> {
  const { now = () => 0 } = options;
  const began = now();
  const seen = new Set<string>();
  const left: (readonly number[])[] = [[]];
  let [histories, endings, longest] = [0, 0, 0];
  const tell = (failure?: ExplorationFailure): Coverage => ({ story: story.name, states: seen.size, histories, endings, longest, left: left.length, failure });
  for (let prefix = left.pop(); prefix !== undefined; prefix = left.pop()) {
    const lived = await runHistory(story, { prefix, seen, crashes: options.crashes });
    histories++;
    if (lived.isEnd) endings++;
    longest = Math.max(longest, lived.choices.length);
    for (const other of lived.others) left.push(other);
    if (lived.violation !== undefined) return tell({ ...lived.violation, choices: lived.choices, timeline: lived.timeline });
    if (seen.size >= options.mostStates || now() - began >= (options.mostMs ?? Number.POSITIVE_INFINITY)) break;
  }
  return tell();
}

interface ExploredHistory {
  readonly choices: readonly number[];
  /** Histories that would have gone another way, in states that nobody had seen. */
  readonly others: readonly (readonly number[])[];
  readonly isEnd: boolean;
  readonly violation: Violation | undefined;
  readonly timeline: readonly string[];
}

interface HistoryOptions {
  readonly prefix: readonly number[];
  readonly seen: Set<string>;
  readonly crashes: number;
}

/** So many effects in a row are no story any more. */
const mostChoices = 400;

async function runHistory(story: ExplorationCase, { prefix, seen, crashes }: HistoryOptions): Promise<ExploredHistory> {
  const [choices, others]: [number[], number[][]] = [[], []];
  const found: { violation?: Violation | undefined; isEnd: boolean; world?: SmallWorld } = { isEnd: false };
  const run = async (world: SimulatedWorld): Promise<void> => {
    const gate = new Gate();
    const ended = new Promise<void>((resolve) => {
      const small = new SmallWorld({ world, story, gate, onViolation: (violation) => resolve(void (found.violation ??= violation)) });
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
          const hash = hashOf({ facts: small.facts, held: gate.held, revisions: small.revisions, more: `${crashesLeft} ${small.minute}` });
          // Known: whoever was here first went on from here, and left the other ways for later.
          if (seen.has(hash) || number >= mostChoices) return resolve(), false;
          seen.add(hash);
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
