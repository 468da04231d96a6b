import { expect, test } from 'vitest';
import { startTestCluster } from '../../test/client/test-cluster.ts';
import { serviceAccountKind } from '../api/kinds/core/service-account.ts';
import { podKind } from '../api/kinds/pod/pod.ts';
import { createRealWorld } from '../host/world.ts';
import { patchUnboundPodStatus } from './pod-status.ts';

const failed = { condition: { type: 'PodScheduled', status: 'False', reason: 'SchedulerError', message: 'lost' } } as const;

async function setUp() {
  const world = createRealWorld({ logLevel: 'silent' });
  const { client } = await startTestCluster(world);
  const ref = { namespace: 'default', name: 'p' };
  await client.create(serviceAccountKind, { metadata: { namespace: 'default', name: 'default' } });
  const made = await client.create(podKind, { metadata: ref, spec: { containers: [{ name: 'c', image: 'i' }] } });
  if (!made.ok) throw made.error;
  const scheduled = async () => {
    const found = await client.get(podKind, ref);
    return found.ok ? found.value.status.conditions?.find(({ type }) => type === 'PodScheduled')?.reason : found.reason;
  };
  return { client, ref, pod: made.value, scheduled, report: () => patchUnboundPodStatus(made.value, failed, { client, world }) };
}

test('a pod that changed meanwhile gets the condition', async () => {
  const { client, ref, scheduled, report } = await setUp();
  await client.patch(podKind, ref, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
  expect(await report()).toMatchObject({ ok: true });
  expect(await scheduled()).toBe('SchedulerError');
});

test('a pod that was bound meanwhile does not', async () => {
  const { client, ref, pod, scheduled, report } = await setUp();
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { ...ref, uid: pod.metadata.uid }, target: { kind: 'Node', name: 'n' } };
  expect(await client.postSubresource(podKind, { ...ref, subresource: 'binding' }, binding)).toMatchObject({ ok: true });
  expect(await report()).toMatchObject({ ok: true });
  expect(await scheduled()).not.toBe('SchedulerError');
});
