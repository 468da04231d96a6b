import { expect, test } from 'vitest';
import type { ConfigMap, Namespace, ServiceAccount } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { decideNamespaceDefaults, type ServiceAccountSnapshot } from './decide.ts';

const metadata = (name: string) => ({ namespace: 'team', name, uid: name, resourceVersion: '5' });
const namespace = (phase: string): Stored<Namespace> => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'team', uid: 'u', resourceVersion: '1' },
  spec: {},
  status: { phase },
});
const account: Stored<ServiceAccount> = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('default') };
const map = (more: Partial<Stored<ConfigMap>> = {}): Stored<ConfigMap> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...metadata('kube-root-ca.crt'), annotations: { 'kubernetes.io/description': 'about' } },
  data: { 'ca.crt': 'PEM' },
  ...more,
});
const seen = (more: Partial<ServiceAccountSnapshot>): ServiceAccountSnapshot => ({
  namespace: namespace('Active'),
  account,
  map: map(),
  rootCa: 'PEM',
  ...more,
});
const types = (snapshot: ServiceAccountSnapshot) => decideNamespaceDefaults(snapshot).actions.map(({ do: verb }) => verb);

test('a new namespace gets its ServiceAccount and the CA certificate', () => {
  expect(decideNamespaceDefaults(seen({ account: undefined, map: undefined })).actions).toMatchObject([
    { do: 'createAccount', account: { metadata: { namespace: 'team', name: 'default' } } },
    {
      do: 'createMap',
      map: {
        metadata: { namespace: 'team', name: 'kube-root-ca.crt', annotations: { 'kubernetes.io/description': expect.stringContaining('CA bundle') as string } },
        data: { 'ca.crt': 'PEM' },
      },
    },
  ]);
});

test('each is replaced when it is deleted', () => {
  expect(types(seen({ account: undefined }))).toEqual(['createAccount']);
  expect(types(seen({ map: undefined }))).toEqual(['createMap']);
});

test('nothing is created in a terminating namespace', () => {
  expect(types(seen({ namespace: namespace('Terminating'), account: undefined, map: undefined }))).toEqual([]);
});

test.each([
  ['another certificate', map({ data: { 'ca.crt': 'OLD' } })],
  ['something added', map({ data: { 'ca.crt': 'PEM', more: 'x' } })],
  ['nothing in it', map({ data: {} })],
  ['no description', map({ metadata: metadata('kube-root-ca.crt') })],
  ['an empty description', map({ metadata: { ...metadata('kube-root-ca.crt'), annotations: { 'kubernetes.io/description': '' } } })],
])('a ConfigMap with %s is repaired, and keeps other metadata', (_, broken) => {
  const labelled: Stored<ConfigMap> = { ...broken, metadata: { ...broken.metadata, labels: { team: 'a' } } };
  const [action] = decideNamespaceDefaults(seen({ map: labelled })).actions;
  if (action?.do !== 'update') throw new Error('not repaired');
  expect(action.object).toMatchObject({ metadata: { labels: { team: 'a' }, resourceVersion: '5' }, data: { 'ca.crt': 'PEM' } });
  expect(types(seen({ map: { ...labelled, ...action.object, metadata: { ...labelled.metadata, ...action.object.metadata } } }))).toEqual([]);
});

test('any description is accepted, and a complete namespace is left alone', () => {
  expect(types(seen({}))).toEqual([]);
});

test('a crash after any action leaves the rest to be done', () => {
  const all = decideNamespaceDefaults(seen({ account: undefined, map: undefined })).actions;
  expect(types(seen({ map: undefined }))).toEqual(all.slice(1).map(({ do: verb }) => verb));
});
