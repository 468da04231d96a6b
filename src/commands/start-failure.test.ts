import { expect, test } from 'vitest';
import { storeFailure } from '../apiserver/objects/transaction.ts';
import { StoreError } from '../store/contract.ts';
import { explainStartFailure } from './start-failure.ts';

const options = { dataDir: '/data', listen: { host: '127.0.0.1', port: 6443 } } as const;

test.each([
  ['what the store says itself', (error: StoreError) => error],
  ['what the API makes of it for clients: roles and namespaces are written through it', storeFailure],
])('a disk that is full is named, with the way out: %s', (_, told) => {
  const full = new StoreError('full', 'the disk of /data/store is full');
  expect(explainStartFailure(told(full), options)).toBe('the disk that holds /data is full. Make room, or choose another directory with --data-dir.');
});

test('what nobody foresaw is not explained', () => {
  expect(explainStartFailure(new Error('boom', { cause: new Error('deeper') }), options)).toBeUndefined();
});
