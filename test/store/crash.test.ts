import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedDisk } from '../../src/sim/world/disk.ts';
import { Prng } from '../../src/sim/world/prng.ts';
import { type Store, StoreError, type Transaction } from '../../src/store/contract.ts';
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';
import { emptyModel, type Model, step } from '../../src/store/model.ts';
import { ask, follow, runs, showResult, transaction } from './commands.ts';

/**
 * The process is killed or power fails at any operation of the disk, also during recovery, again and again; the disk is
 * full at times, and a sync may fail.
 * Whatever happens: every acknowledged transaction is there, the others are wholly there or wholly absent, those that are
 * there are the first ones in the order of submission, and no reader or watcher ever saw a lost one.
 */
const command = fc.oneof(
  { weight: 60, arbitrary: transaction.map((submitted) => ({ type: 'transact' as const, submitted })) },
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 40 }).map((turns) => ({ type: 'pause' as const, turns })) },
  { weight: 10, arbitrary: fc.integer({ min: 0, max: 3 }).map((back) => ({ type: 'compact' as const, back })) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 500 }).map((room) => ({ type: 'fill' as const, room })) },
  { weight: 5, arbitrary: fc.constant({ type: 'free' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'break' as const }) },
);

const round = fc.record({
  commands: fc.array(command, { maxLength: 40, size: 'max' }),
  operationsToLive: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 300 })),
  powerFails: fc.boolean(),
  seed: fc.integer(),
});
type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never;

test('after any crash the store holds what it acknowledged, and a prefix of what it was asked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 5, size: 'max' }), async (rounds) => {
      let disk = new SimulatedDisk();
      let model = emptyModel;
      for (const next of rounds) {
        const session = await run(disk, next);
        disk = next.powerFails ? session.disk.crash(new Prng(next.seed)) : session.disk.kill();
        model = await check(disk, model, session);
      }
    }),
    runs(500),
  );
});

interface Session {
  readonly disk: SimulatedDisk;
  readonly submitted: { readonly transaction: Transaction; response: string | undefined }[];
  readonly compactions: { readonly revision: number; done: boolean }[];
  everFull: boolean;
  /** The newest revision that a reader or watcher saw. */
  shown: number;
}

const small = { directory: '/data', segmentBytes: 700, rewriteBytes: 300 };

/** Serves the commands until the power fails, which it does once more before. */
async function run(before: SimulatedDisk, { commands, operationsToLive, seed }: Round): Promise<Session> {
  const random = new Prng(seed);
  let left = operationsToLive;
  let broken = false;
  const { promise: died, resolve: die } = promiseWithResolvers();
  const disk = before.crash(random, {
    before: async ({ name }) => {
      if (left-- <= 0) {
        die();
        await new Promise(() => {});
      }
      for (let turns = random.below(5); turns > 0; turns--) await Promise.resolve();
      if (broken && name === 'sync') throw Object.assign(new Error('EIO'), { code: 'EIO' });
    },
  });
  const session: Session = { disk, submitted: [], compactions: [], everFull: false, shown: 0 };
  const serve = async (): Promise<void> => {
    const store = await openEmbeddedStore({ ...small, disk });
    const watcher = follow(store, { prefix: '/', after: store.revision() });
    const underWay: Promise<unknown>[] = [];
    for (const next of commands) {
      if (next.type === 'transact') underWay.push(submit(store, next.submitted, session));
      else if (next.type === 'compact') underWay.push(compact(store, store.revision() - next.back, session));
      else if (next.type === 'fill') disk.capacity = disk.used + next.room;
      else if (next.type === 'free') disk.capacity = Number.POSITIVE_INFINITY;
      else if (next.type === 'break') broken = true;
      else for (let turn = 0; turn < next.turns; turn++) await Promise.resolve();
      session.everFull ||= next.type === 'fill';
      session.shown = Math.max(store.revision(), Number(/\n?(\d+):[^\n]*$/.exec(watcher.told())?.[1] ?? 0));
    }
    await Promise.all(underWay);
    session.shown = store.revision();
  };
  await Promise.race([serve(), died]);
  return session;
}

async function submit(store: Store, made: Transaction, session: Session): Promise<void> {
  const one: Session['submitted'][number] = { transaction: made, response: undefined };
  session.submitted.push(one);
  try {
    one.response = showResult(await store.transact(made));
  } catch (error) {
    one.response = error instanceof StoreError ? error.code : String(error);
  }
}

async function compact(store: Store, revision: number, session: Session): Promise<void> {
  const one = { revision, done: false };
  session.compactions.push(one);
  one.done = (await ask(store, { type: 'compact', revision })) === 'done';
}

/** Opens what the crash left, and returns the model of it. */
async function check(disk: SimulatedDisk, before: Model, session: Session): Promise<Model> {
  const store = await openEmbeddedStore({ ...small, disk });
  const found = store.revision();
  expect(found).toBeGreaterThanOrEqual(session.shown);
  let model = before;
  for (const { transaction: made, response } of session.submitted) {
    if (response === 'full') continue;
    const next = step(model, { type: 'transact', transaction: made });
    const writes = next.model.revision > model.revision;
    if (writes && next.model.revision > found) {
      // Not there: then it was not acknowledged, and neither was anything that wrote after it.
      expect([undefined, 'failed']).toContain(response);
      continue;
    }
    if (response !== undefined && response !== 'failed') expect(withoutRevision(response, writes)).toBe(withoutRevision(next.response, writes));
    model = next.model;
  }
  expect(found).toBe(model.revision);
  model = { ...model, compacted: checkCompaction(store.compactedRevision(), before, session) };
  await checkHistory(store, model);
  await store.close();
  return model;
}

/** A transaction that writes nothing reports the revision that readers see when it is answered. */
const withoutRevision = (response: string, writes: boolean): string => (writes ? response : response.replace(/^ok @\d+/, 'ok'));

function checkCompaction(found: number, before: Model, { compactions, everFull }: Session): number {
  const asked = Math.max(before.compacted, ...compactions.map(({ revision }) => revision));
  const done = Math.max(before.compacted, ...compactions.map((one) => (one.done && !everFull ? one.revision : 0)));
  expect(found).toBeLessThanOrEqual(asked);
  expect(found).toBeGreaterThanOrEqual(done);
  return found;
}

/** Every revision that is not compacted can be read and watched. */
async function checkHistory(store: Store, model: Model): Promise<void> {
  for (let revision = Math.max(model.compacted, 1); revision <= model.revision; revision++) {
    const whole = { type: 'range', from: '', to: '\uffff', revision } as const;
    expect(await ask(store, whole)).toBe(step(model, whole).response);
  }
  const watcher = follow(store, { prefix: '/', after: model.compacted });
  expect(watcher.told()).toBe(step(model, { type: 'watched', prefix: '/', after: model.compacted }).response);
}

function promiseWithResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
