import { readFileSync } from 'node:fs';
import { test as base, expect } from 'vitest';
import { vitestFixtures } from 'mooring/testing';

const manifest = readFileSync(new URL('db.yaml', import.meta.url), 'utf8');
const test = base.extend(vitestFixtures({ nodes: { count: 6 } }));

test('the database loses a zone, and has it back', async ({ cluster, namespace }) => {
  await namespace.apply(manifest);
  await namespace.waitFor('sts/db', 'has 3 ready');

  const dark = await cluster.fail({ zone: 'zone-a' });
  await cluster.time.advance('10m');
  expect((await namespace.get('sts/db')).status.readyReplicas).toBe(2);

  await dark.recover();
  await namespace.waitFor('sts/db', 'has 3 ready');
  await cluster.expectQuiet();
});

test('a replica that is removed keeps its data for the next one', async ({ namespace }) => {
  await namespace.apply(manifest);
  await namespace.waitFor('sts/db', 'has 3 ready');
  const before = await namespace.get('pvc/data-db-2');

  await namespace.patch('sts/db', { spec: { replicas: 2 } });
  await namespace.waitUntilGone('pod/db-2');
  await namespace.patch('sts/db', { spec: { replicas: 3 } });
  await namespace.waitFor('sts/db', 'has 3 ready');
  expect((await namespace.get('pvc/data-db-2')).spec.volumeName).toBe(before.spec.volumeName);
});
