import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeClosing } from './conformance/closing.ts';
import { describeCompaction } from './conformance/compaction.ts';
import { bytes, expectCode, record, show } from './conformance/expectations.ts';
import { describeRanges } from './conformance/ranges.ts';
import { describeTransactions } from './conformance/transactions.ts';
import { describeWatches } from './conformance/watches.ts';
import { absent, at, put, type Store } from './contract.ts';

/** Every clause of the contract, for every backend. `open` gives a new, empty store. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  describe(`${name} keeps the store contract`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    describe('transactions', () => describeTransactions(() => store));
    describe('ranges', () => describeRanges(() => store));
    describe('watches', () => describeWatches(() => store));
    describe('compaction', () => describeCompaction(() => store));
    describe('closing', () => describeClosing(() => store));
    test('the worked example of the contract', () => workedExample(store));
  });
}

async function workedExample(store: Store): Promise<void> {
  const [x, y, z] = [bytes('x'), bytes('y'), bytes('z')];
  const all = { from: '/', to: '0' };
  expect(store.revision()).toBe(1);
  expect(await store.transact({ compares: [absent('/a')], writes: [put('/a', x)] })).toMatchObject({ ok: true, revision: 2 });
  const second = await store.transact({ compares: [absent('/a')], writes: [put('/a', y)] });
  expect(second).toMatchObject({ ok: false, revision: 2, conflicts: [{ key: '/a', found: { modRevision: 2 } }] });
  expect(await store.transact({ compares: [at('/a', 2)], writes: [put('/a', y), put('/b', z)] })).toMatchObject({ ok: true, revision: 3 });
  expect(show(await store.range(all))).toBe('@3 /a=y /b=z');
  expect(show(await store.range({ ...all, revision: 2 }))).toBe('@2 /a=x');
  const seen = record(store, '/', 2);
  expect(await seen.until(3)).toEqual(['3: put /a=y was x, put /b=z']);
  seen.stop();
  await store.compact(3);
  await expectCode(store.range({ ...all, revision: 2 }), 'compacted');
}
