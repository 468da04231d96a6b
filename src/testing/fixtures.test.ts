import { afterAll, beforeEach, describe, expect, test as base } from 'vitest';
import { useCluster, vitestFixtures } from './index.ts';

const setUp = { setUp: async (cluster: { apply(object: object): Promise<unknown> }) => void (await cluster.apply(map('shared'))) };
const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

describe('fixtures for test.extend', () => {
  const test = base.extend(vitestFixtures(setUp));
  const begun: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    test(`test ${name} begins with what was set up, and nothing of another test`, async ({ cluster, namespace }) => {
      expect((await cluster.list('cm', { namespace: 'default' })).map(({ metadata }) => metadata.name)).toEqual(['kube-root-ca.crt', 'shared']);
      expect(namespace.namespaceName).toMatch(/^test-\d$/);
      await cluster.apply(map(name));
      await namespace.apply({ ...map(name), metadata: { name } });
      begun.push(name);
      expect((await cluster.list('cm', { namespace: '' })).filter(({ metadata }) => begun.includes(metadata.name)).length).toBe(2);
    });
  }
});

describe('hooks of other frameworks', () => {
  const tests = useCluster({ beforeEach, afterAll }, setUp);
  let uid = '';
  base('a test has a namespace', async () => {
    ({ uid } = (await tests.namespace.apply({ ...map('mine'), metadata: { name: 'mine' } })).metadata);
    expect((await tests.namespace.get('cm/mine')).metadata.uid).toBe(uid);
  });
  base('the next one has another', async () => {
    expect(await tests.namespace.find('cm/mine')).toBeUndefined();
    expect((await tests.cluster.list('cm', { namespace: '' })).some(({ metadata }) => metadata.uid === uid)).toBe(false);
  });
  base('outside tests there is none', () => {
    expect(() => useCluster({ beforeEach: () => undefined }).cluster).toThrow('the cluster is there in tests');
  });
});
