import { expect, test } from 'vitest';
import { storeFailure } from '../apiserver/objects/transaction.ts';
import { StoreError } from '../store/contract.ts';
import { JournalDamage } from '../node/volume-manager/journal.ts';
import { explainStartFailure, isDamage } from './start-failure.ts';

const options = { dataDir: '/data', listen: { host: '127.0.0.1', port: 6443 } } as const;

test.each([
  ['the error of the store', (error: StoreError) => error],
  ['the error of the API, through which roles and namespaces are written', storeFailure],
])('a full disk is named, with the remedy: %s', (_, wrap) => {
  const full = new StoreError('full', 'the disk of /data/store is full');
  expect(explainStartFailure(wrap(full), options)).toBe('the disk that holds /data is full. Free some space, or choose another directory with --data-dir.');
});

test("a node's damaged journal is damage, explained in one line", () => {
  const error = new JournalDamage('/data/mounts.journal is damaged and was not changed');
  expect([isDamage(error), explainStartFailure(error, options)]).toEqual([true, '/data/mounts.journal is damaged and was not changed.']);
});

test('an unexpected error is not explained', () => {
  expect(explainStartFailure(new Error('boom', { cause: new Error('deeper') }), options)).toBeUndefined();
});
