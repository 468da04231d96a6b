import { expect, test } from 'vitest';
import { LogSummary } from './log-summary.ts';

const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'vol' }, spec: { hostPath: { path: '/tmp' } } };
const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'data' }, spec: {} };

test('objects are named, however deep they are; everything else stays', () => {
  const actions = [
    { do: 'bind', volume, claim },
    { do: 'recordEvent', event: { about: claim, reason: 'FailedBinding', times: 3, more: null } },
  ];
  expect(JSON.parse(JSON.stringify(new LogSummary(actions)))).toEqual([
    { do: 'bind', volume: 'PersistentVolume vol', claim: 'PersistentVolumeClaim default/data' },
    { do: 'recordEvent', event: { about: 'PersistentVolumeClaim default/data', reason: 'FailedBinding', times: 3, more: null } },
  ]);
});

test('a value that only resembles an object stays as it is', () => {
  expect(JSON.parse(JSON.stringify(new LogSummary([{ kind: 'x', metadata: null }, { kind: 1, metadata: {} }, 'text', undefined])))).toEqual([
    { kind: 'x', metadata: null },
    { kind: 1, metadata: {} },
    'text',
    null,
  ]);
});
