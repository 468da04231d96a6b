import { RpcError } from '../../grpc/status.ts';
import type { Bench } from '../bench.ts';
import { type Clause, clauses } from '../clauses.ts';
import type { Need } from '../capabilities.ts';
import { expectCode, expectOk, expectSame } from '../expect.ts';
import { textOf } from '../ledger.ts';
import type { NetworkFault } from '../proxy.ts';
import type { Part, TestCase } from '../test-case.ts';
import { NotApplicable, Violation } from '../violation.ts';
import { controllerOperations } from './controller-operations.ts';
import { nodeOperations } from './node-operations.ts';
import type { Operation, Prepared } from './operation.ts';

/** A column of the matrix. */
interface Variant {
  readonly name: string;
  readonly part: Part;
  readonly title: string;
  readonly needs?: readonly Need[];
  readonly harm?: string;
  /** If another one than the call's. */
  readonly clause?: Clause;
  run(bench: Bench, prepared: Prepared, call: string): Promise<void>;
}

const repeated: Variant = {
  name: 'repeated',
  part: 'idempotency',
  title: 'the same call again answers the same',
  async run(_, prepared, call) {
    const first = await expectOk(call, () => prepared.perform());
    expectSame(`a repeated ${call} answers otherwise`, first, await expectOk(`a repeated ${call}`, () => prepared.perform()));
    await prepared.check();
  },
};

const otherArguments: Variant = {
  name: 'other arguments',
  part: 'idempotency',
  title: 'the call with arguments that do not fit is refused, and changes nothing',
  async run(_, prepared, call) {
    const { other } = prepared;
    if (other === undefined) throw new NotApplicable('all other arguments are another object');
    const first = await expectOk(call, () => prepared.perform());
    try {
      await expectCode(other.what, () => other.perform(), other.codes);
    } catch (error) {
      throw error instanceof Violation ? new Violation(error.message, other.clause) : error;
    }
    expectSame(`${call} answers otherwise after a refused one`, first, await expectOk(`${call} after a refused one`, () => prepared.perform()));
    await prepared.check();
  },
};

const afterRestart: Variant = {
  name: 'after a restart',
  part: 'idempotency',
  title: 'the call answers the same after a restart of the driver',
  needs: ['restart'],
  harm: 'restarts the driver',
  async run(bench, prepared, call) {
    const first = await expectOk(call, () => prepared.perform());
    await bench.driver.restart();
    expectSame(`${call} answers otherwise after a restart`, first, await expectOk(`${call} after a restart`, () => prepared.perform()));
    await prepared.check();
  },
};

const twiceInFlight: Variant = {
  name: 'twice in flight',
  part: 'idempotency',
  title: 'two equal calls at the same time make one thing; one of them may be ABORTED',
  clause: clauses.aborted,
  async run(bench, prepared, call) {
    const results = await Promise.allSettled([prepared.perform(), prepared.perform()]);
    const answers: unknown[] = [];
    for (const result of results) {
      if (result.status === 'fulfilled') answers.push(result.value);
      else if (!(result.reason instanceof RpcError) || result.reason.code !== 'Aborted')
        throw new Violation(`one of two equal ${call} in flight answers ${textOf(result.reason)}, neither OK nor Aborted`);
    }
    answers.push(await expectOk(`${call} after two in flight`, () => bench.settle(() => prepared.perform())));
    for (const answer of answers.slice(1)) expectSame(`two equal ${call} in flight answer differently`, answers[0], answer);
    await prepared.check();
  },
};

const afterInverse: Variant = {
  name: 'after its inverse',
  part: 'idempotency',
  title: 'the call succeeds again after the call that undoes it, which may be repeated',
  async run(_, prepared, call) {
    const { inverse } = prepared;
    if (inverse === undefined) throw new NotApplicable('no call undoes it');
    await expectOk(call, () => prepared.perform());
    await expectOk(`the inverse of ${call}`, inverse);
    await expectOk(`the inverse of ${call}, repeated`, inverse);
    await expectOk(`${call} after its inverse`, () => prepared.perform());
    await prepared.check();
  },
};

/** After an interruption the CO repeats the call until it is answered. */
async function repeatUntilOk(bench: Bench, prepared: Prepared, what: string): Promise<void> {
  const first = await expectOk(what, () => bench.settle(() => prepared.perform()));
  expectSame(`${what} answers otherwise than once more`, first, await expectOk(`${what}, and once more`, () => bench.settle(() => prepared.perform())));
  await prepared.check();
}

/** The answer is not expected: the call was interrupted. Only a failure of the test itself counts. */
async function interrupted(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
  }
}

const network = (name: string, title: string, ...faults: readonly ((bench: Bench) => NetworkFault)[]): Variant => ({
  name,
  part: 'network',
  title,
  clause: clauses.retried,
  async run(bench, prepared, call) {
    for (const fault of faults) {
      prepared.proxy.inject(fault(bench));
      await interrupted(() => prepared.perform());
    }
    await repeatUntilOk(bench, prepared, `${call} after ${name}`);
  },
});

/** Short, so that some calls are interrupted and some have just been answered. */
const someMs = (bench: Bench): number => Math.floor(bench.context.random.float() * 4);

const killed = (name: string, title: string, run: Variant['run']): Variant => ({
  name,
  part: 'crashes',
  title,
  needs: ['restart'],
  harm: 'kills the driver (SIGKILL)',
  clause: clauses.retried,
  run,
});

const killedBefore = killed('killed before', 'the call succeeds after the driver was killed and started again', async (bench, prepared, call) => {
  await bench.driver.restart('SIGKILL');
  await repeatUntilOk(bench, prepared, `${call} after a crash before it`);
});

/** How long after the call the driver is killed. Growing, so that a quick driver is interrupted by the first, and a slow one at several points. */
const killDelaysMs = (bench: Bench): readonly number[] => [someMs(bench), 20, 100, 500];

const killedDuring = killed('killed during', 'the call is finished when it is repeated after a crash in the middle of it', async (bench, prepared, call) => {
  for (const delayMs of killDelaysMs(bench)) {
    let isAnswered = false;
    const interruptedCall = interrupted(() => prepared.perform().then(() => (isAnswered = true)));
    await new Promise<void>((resolve) => void bench.context.world.timers.after(delayMs, resolve));
    // A call that is answered has no later point to crash at.
    const wasAnswered = isAnswered;
    await bench.driver.kill();
    await interruptedCall;
    await bench.driver.start();
    if (wasAnswered) break;
  }
  await repeatUntilOk(bench, prepared, `${call} after a crash in the middle of it`);
});

const killedAfter = killed('killed after', 'the call answers the same after the driver was killed and started again', async (bench, prepared, call) => {
  const first = await expectOk(call, () => prepared.perform());
  await bench.driver.restart('SIGKILL');
  const again = await expectOk(`${call} after a crash`, () => bench.settle(() => prepared.perform()));
  expectSame(`${call} answers otherwise after a crash`, first, again);
  await prepared.check();
});

const variants: readonly Variant[] = [
  repeated,
  otherArguments,
  afterRestart,
  twiceInFlight,
  afterInverse,
  network('a lost answer', 'the call is repeated after its answer was lost', () => ({ type: 'drop' })),
  network('a late answer', 'the call is repeated after a late answer', () => ({ type: 'delay', afterMs: 20 })),
  network('a duplicate', 'the call is repeated after its request came twice', () => ({ type: 'duplicate' })),
  network('a cut connection', 'the call is repeated after the connection was cut', (bench) => ({ type: 'cut', afterMs: someMs(bench) })),
  // A quick driver is interrupted by the first, a slow one by the others.
  network(
    'a cancelled call',
    'the call is repeated after it was cancelled',
    (bench) => ({ type: 'cancel', afterMs: someMs(bench) }),
    () => ({ type: 'cancel', afterMs: 100 }),
    () => ({ type: 'cancel', afterMs: 500 }),
  ),
  killedBefore,
  killedDuring,
  killedAfter,
];

const caseOf = (operation: Operation, variant: Variant): TestCase => ({
  id: `${operation.call}/${variant.name}`,
  part: variant.part,
  title: variant.title,
  clause: variant.clause ?? operation.clause,
  needs: [...operation.needs, ...(variant.needs ?? [])],
  ...(variant.harm === undefined ? {} : { harm: variant.harm }),
  run: async (bench) => variant.run(bench, await operation.prepare(bench), operation.call),
});

/** Each call × each variant. */
export const matrix: readonly TestCase[] = variants.flatMap((variant) =>
  [...controllerOperations, ...nodeOperations].map((operation) => caseOf(operation, variant)),
);
