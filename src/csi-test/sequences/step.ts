import type { Random } from '../../world/world.ts';

/** Calls of a sequence. `restart` is a graceful one, by SIGTERM. */
export const verbs = [
  'create',
  'attach',
  'stage',
  'publish',
  'unpublish',
  'unstage',
  'detach',
  'snapshot',
  'unsnapshot',
  'expand',
  'delete',
  'restart',
] as const;
export type Verb = (typeof verbs)[number];

/** What happens to the call of a step. Each is followed by the call again, until it succeeds. */
export const interruptions = ['lost', 'cut', 'cancelled', 'twice', 'killed'] as const;
export type Interruption = (typeof interruptions)[number];

/** 'create a', 'lost publish b' */
export interface Step {
  readonly interruption?: Interruption;
  readonly verb: Verb;
  readonly slot: Slot;
}

/** A place for a volume. */
export const slots = ['a', 'b'] as const;
export type Slot = (typeof slots)[number];

export const stepText = ({ interruption, verb, slot }: Step): string =>
  [...(interruption === undefined ? [] : [interruption]), verb, ...(verb === 'restart' ? [] : [slot])].join(' ');

/** 'create a; lost publish a'. Throws for a word that is none. */
export function parseSteps(text: string): readonly Step[] {
  return text
    .split(/[;\n]/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map(parseStep);
}

function parseStep(text: string): Step {
  const words = text.split(/\s+/);
  const interruption = interruptions.find((each) => each === words[0]);
  const [verbWord, slotWord = 'a', ...rest] = interruption === undefined ? words : words.slice(1);
  const verb = verbs.find((each) => each === verbWord);
  const slot = slots.find((each) => each === slotWord);
  if (verb === undefined || slot === undefined || rest.length > 0) throw new Error(`"${text}" is no step: write for instance "create a" or "lost publish b"`);
  return { ...(interruption === undefined ? {} : { interruption }), verb, slot };
}

/** Steps of a random sequence. Those that are impossible when they come are left out when it runs. */
export function drawSteps(random: Pick<Random, 'float'>, { length, canKill }: { length: number; canKill: boolean }): readonly Step[] {
  const pick = <T>(values: readonly T[], or: T): T => values[Math.floor(random.float() * values.length)] ?? or;
  const possible = canKill ? interruptions : interruptions.filter((each) => each !== 'killed');
  const calls = verbs.filter((verb) => verb !== 'restart');
  return Array.from({ length }, (): Step => {
    const slot = pick(slots, 'a');
    if (canKill && random.float() < 0.04) return { verb: 'restart', slot };
    const verb = random.float() < 0.5 ? pick(forward, 'create') : pick(calls, 'create');
    return random.float() < 0.4 ? { interruption: pick(possible, 'lost'), verb, slot } : { verb, slot };
  });
}

/** Towards a published volume, so that sequences get that far. */
const forward: readonly Verb[] = ['create', 'attach', 'stage', 'publish'];
