import type { Bench } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { DriverUnavailable } from '../driver.ts';
import { textOf } from '../ledger.ts';
import type { TestCase } from '../test-case.ts';
import { NotApplicable, Violation } from '../violation.ts';
import { runSteps } from './run-steps.ts';
import { shrink } from './shrink.ts';
import { drawSteps, parseSteps, type Step, stepText } from './step.ts';

const length = 24;
/** A shorter sequence is worth this much time, in units of the timeout. */
const shrinkTimeouts = 3;
const mostAttempts = 60;

const shared = {
  part: 'sequences',
  clause: clauses.retried,
  needs: ['controller:CREATE_DELETE_VOLUME'],
  harm: 'kills the driver (SIGKILL), if this command started it',
} as const;

/** A random sequence, from the seed and its number. If it fails, it is shrunk. */
export const randomSequence = (number: number): TestCase => ({
  ...shared,
  id: `sequence ${number}`,
  title: 'after each step the volumes are as the steps say, and nothing is left at the end',
  async run(bench) {
    const steps = drawSteps(bench.context.random, { length, canKill: bench.driver.canRestart });
    const failure = await failureOf(bench, steps);
    if (failure === undefined) return;
    const { shortest, last } = await shrunk(bench, steps, failure);
    const text = shortest.map(stepText).join('; ');
    throw new Violation(`${last.message}\nafter: ${text} (shrunk from ${steps.length} steps)`, last.clause, ['--sequence', text]);
  },
});

/** The steps that a failure printed. */
export const givenSequence = (text: string): TestCase => {
  const steps = parseSteps(text);
  return {
    ...shared,
    id: 'sequence',
    title: text,
    async run(bench) {
      const failure = await failureOf(bench, steps);
      if (failure !== undefined) throw new Violation(failure.message, failure.clause, ['--sequence', text]);
    },
  };
};

async function failureOf(bench: Bench, steps: readonly Step[]): Promise<Violation | undefined> {
  try {
    await runSteps(bench, steps);
    return undefined;
  } catch (error) {
    if (error instanceof NotApplicable) throw error;
    return error instanceof Violation ? error : new Violation(textOf(error));
  }
}

async function shrunk(bench: Bench, steps: readonly Step[], first: Violation): Promise<{ shortest: readonly Step[]; last: Violation }> {
  const { clock } = bench.context.world;
  const end = clock.monotonic() + shrinkTimeouts * bench.context.options.timeoutMs;
  let [last, attempts] = [first, 0];
  const shortest = await shrink(steps, async (candidate) => {
    if (attempts++ >= mostAttempts || clock.monotonic() > end) return false;
    if (!(await revived(bench))) return false;
    const failure = await failureOf(bench, candidate);
    if (failure !== undefined) last = failure;
    return failure !== undefined;
  });
  return { shortest, last };
}

/** A new process has forgotten the locks of the last attempt. */
async function revived(bench: Bench): Promise<boolean> {
  if (!bench.driver.canRestart) return true;
  try {
    await bench.driver.restart('SIGKILL');
    return true;
  } catch (error) {
    if (!(error instanceof DriverUnavailable)) throw error;
    return bench.driver.startEmpty();
  }
}
