import { expect, test } from 'vitest';
import { storeFailure } from '../apiserver/objects/transaction.ts';
import { StoreError } from '../store/contract.ts';
import { FaultsError } from '../cloud/engine/parse-faults.ts';
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

test('faults that cannot be used are named with their flag', () => {
  const error = new FaultsError('faults.yaml: [0].fault must be one of throttling');
  expect([isDamage(error), explainStartFailure(error, options)]).toEqual([false, '--cloud-faults faults.yaml: [0].fault must be one of throttling.']);
});

test.each([
  [6443, /^127\.0\.0\.1:6443 is in use .* with --listen /],
  [4566, /^127\.0\.0\.1:4566 is in use .* with --cloud-listen /],
])('port %i is in use: the flag that chose it is named', (port, text) => {
  const error = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', address: '127.0.0.1', port });
  expect(explainStartFailure(error, { ...options, cloud: { listen: { host: '127.0.0.1', port: 4566 } } })).toMatch(text);
});

test('a port that only root may use is named with its flag, a directory with its own', () => {
  const denied = (syscall: string) => Object.assign(new Error(`${syscall} EACCES`), { code: 'EACCES', syscall });
  expect(explainStartFailure(denied('listen'), { ...options, listen: { host: '127.0.0.1', port: 80 } })).toMatch(/127\.0\.0\.1:80\. .* with --listen /);
  expect(explainStartFailure(denied('mkdir'), options)).toBe('mkdir EACCES. Choose a directory that you may write with --data-dir.');
});

test('an unexpected error is not explained', () => {
  expect(explainStartFailure(new Error('boom', { cause: new Error('deeper') }), options)).toBeUndefined();
});
