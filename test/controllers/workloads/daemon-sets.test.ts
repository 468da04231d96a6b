/** The DaemonSet controller, in simulated time. */
import { expect, test } from 'vitest';
import type { DaemonSet, DaemonSetSpec, Pod } from '../../../src/api/generated/types.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { controllerRevisionKind } from '../../../src/api/kinds/apps/controller-revision.ts';
import { daemonSetKind } from '../../../src/api/kinds/apps/daemon-set.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { Draft } from '../../../src/client/client.ts';
import { targetNode } from '../../../src/controllers/workloads/daemon-set/daemon-pod.ts';
import { inCluster, inDefault, ok, type WorkloadCluster } from './workload-cluster.ts';

type Template = Draft<DaemonSetSpec['template']['spec']>;

const app = { app: 'driver' };

async function createSet(workloads: WorkloadCluster, spec: Draft<DaemonSetSpec> = {}, template: Template = {}): Promise<void> {
  const pod = { containers: [{ name: 'c', image: 'v1' }], ...template };
  ok(
    await workloads.client.create(daemonSetKind, {
      metadata: inDefault('driver'),
      spec: { selector: { matchLabels: app }, ...spec, template: { metadata: { labels: app }, spec: pod } },
    }),
  );
  await workloads.wait();
}

async function addNode(
  workloads: WorkloadCluster,
  name: string,
  labels: Record<string, string> = {},
  taints: readonly { key: string; effect: string }[] = [],
): Promise<void> {
  ok(await workloads.client.create(nodeKind, { metadata: { name, labels }, spec: { taints } }));
  await workloads.wait();
}

const addNodes = async (workloads: WorkloadCluster, ...names: readonly string[]): Promise<void> => {
  for (const name of names) await addNode(workloads, name);
};

/** 'n1 v1', for each pod that is not terminating; sorted. */
async function places(workloads: WorkloadCluster): Promise<string[]> {
  const pods = (await workloads.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return pods.map((pod) => `${targetNode(pod) ?? ''} ${pod.spec.containers?.[0]?.image ?? ''}`).sort();
}

async function changeImage(workloads: WorkloadCluster, image: string): Promise<void> {
  const set = await workloads.getSet();
  const { template } = set.spec;
  const containers = (template.spec.containers ?? []).map((container) => ({ ...container, image }));
  ok(await workloads.client.update(daemonSetKind, { ...set, spec: { ...set.spec, template: { ...template, spec: { ...template.spec, containers } } } }));
  await workloads.wait();
}

/** Binds the pod and makes it ready, as scheduler and kubelet would. */
async function run(workloads: WorkloadCluster, pod: Pod): Promise<void> {
  if ((pod.spec.nodeName ?? '') === '') {
    const { name = '' } = pod.metadata;
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: inDefault(name), target: { kind: 'Node', name: targetNode(pod) ?? '' } };
    // The binding subresource answers with a Status, not with the pod.
    await workloads.client.createSubresource(podKind, { ...inDefault(name), subresource: 'binding' }, binding);
  }
  await workloads.set(pod, {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  });
}

async function runAll(workloads: WorkloadCluster): Promise<void> {
  for (const pod of await workloads.activePods()) if (pod.status.phase !== 'Running') await run(workloads, pod);
}

/** Ends deleted pods, as kubelets would. */
async function finishDeletions(workloads: WorkloadCluster): Promise<void> {
  for (const { metadata } of await workloads.pods()) {
    if (metadata.deletionTimestamp !== undefined) ok(await workloads.client.delete(podKind, inDefault(metadata.name ?? ''), { gracePeriodSeconds: 0 }));
  }
  await workloads.wait();
}

/** The revision numbers of its history. */
async function revisions(workloads: WorkloadCluster): Promise<number[]> {
  return ok(await workloads.client.list(controllerRevisionKind))
    .items.map(({ revision }) => revision)
    .sort((a, b) => a - b);
}

const counts = ({ status }: DaemonSet) => ({
  desired: status.desiredNumberScheduled,
  current: status.currentNumberScheduled,
  ready: status.numberReady,
  updated: status.updatedNumberScheduled ?? 0,
  available: status.numberAvailable ?? 0,
  misscheduled: status.numberMisscheduled,
});

test(
  'every node gets a pod, also a later one; a deleted node loses its pod',
  inCluster(async (workloads) => {
    await addNodes(workloads, 'n1', 'n2');
    await createSet(workloads);
    expect(await places(workloads)).toEqual(['n1 v1', 'n2 v1']);
    const pod = (await workloads.pods()).find((each) => targetNode(each) === 'n1');
    expect(pod?.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
    ]);
    const tolerated = (pod?.spec.tolerations ?? []).map(({ key, operator, effect }) => `${key} ${operator} ${effect}`);
    expect(tolerated).toEqual([
      'node.kubernetes.io/not-ready Exists NoExecute',
      'node.kubernetes.io/unreachable Exists NoExecute',
      'node.kubernetes.io/disk-pressure Exists NoSchedule',
      'node.kubernetes.io/memory-pressure Exists NoSchedule',
      'node.kubernetes.io/pid-pressure Exists NoSchedule',
      'node.kubernetes.io/unschedulable Exists NoSchedule',
    ]);
    expect(pod?.metadata.labels).toMatchObject({ ...app, 'controller-revision-hash': expect.any(String), 'pod-template-generation': '1' });
    await runAll(workloads);
    expect(counts(await workloads.getSet())).toEqual({ desired: 2, current: 2, ready: 2, updated: 2, available: 2, misscheduled: 0 });
    await addNode(workloads, 'n3');
    expect(await places(workloads)).toEqual(['n1 v1', 'n2 v1', 'n3 v1']);
    expect((await workloads.getSet()).status).toMatchObject({ desiredNumberScheduled: 3, numberUnavailable: 1, observedGeneration: 1 });
    ok(await workloads.client.delete(nodeKind, { name: 'n3' }));
    await workloads.wait();
    expect(await places(workloads)).toEqual(['n1 v1', 'n2 v1']);
    expect((await workloads.getSet()).status.desiredNumberScheduled).toBe(2);
    expect(await workloads.events()).toEqual(expect.arrayContaining([`SuccessfulCreate: Created pod: ${pod?.metadata.name}`]));
  }),
);

test(
  'labels, affinity and taints say which nodes; a new NoSchedule taint lets pods stay, a NoExecute taint does not',
  inCluster(async (workloads) => {
    await addNode(workloads, 'disk', { disk: 'ssd', zone: 'a' });
    await addNode(workloads, 'far', { disk: 'ssd', zone: 'b' });
    await addNode(workloads, 'plain', { zone: 'a' });
    await addNode(workloads, 'master', { disk: 'ssd', zone: 'a' }, [{ key: 'master', effect: 'NoSchedule' }]);
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }];
    await createSet(
      workloads,
      {},
      { nodeSelector: { disk: 'ssd' }, affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } },
    );
    expect(await places(workloads)).toEqual(['disk v1']);
    const node = ok(await workloads.client.get(nodeKind, { name: 'disk' }));
    const taint = async (effect: string) => {
      const found = ok(await workloads.client.get(nodeKind, { name: 'disk' }));
      ok(await workloads.client.update(nodeKind, { ...found, spec: { ...found.spec, taints: [{ key: 'maintenance', effect }] } }));
      await workloads.wait();
    };
    await taint('NoSchedule');
    expect(await places(workloads)).toEqual(['disk v1']);
    expect(counts(await workloads.getSet())).toMatchObject({ desired: 0, misscheduled: 1 });
    await taint('NoExecute');
    expect(await places(workloads)).toEqual([]);
    ok(await workloads.client.update(nodeKind, { ...ok(await workloads.client.get(nodeKind, { name: 'disk' })), spec: node.spec }));
    await workloads.wait();
    expect(await places(workloads)).toEqual(['disk v1']);
  }),
);

test(
  'a new template replaces pods one at a time, and can be rolled back',
  inCluster(async (workloads) => {
    await addNodes(workloads, 'n1', 'n2', 'n3');
    await createSet(workloads);
    await runAll(workloads);
    await changeImage(workloads, 'v2');
    const seen: string[][] = [];
    for (let i = 0; i < 8; i++) {
      seen.push(await places(workloads));
      await finishDeletions(workloads);
      await runAll(workloads);
    }
    expect(seen.every((pods) => pods.length >= 2)).toBe(true);
    expect(await places(workloads)).toEqual(['n1 v2', 'n2 v2', 'n3 v2']);
    expect(counts(await workloads.getSet())).toEqual({ desired: 3, current: 3, ready: 3, updated: 3, available: 3, misscheduled: 0 });
    expect(await revisions(workloads)).toEqual([1, 2]);
    // As kubectl rollout undo does.
    const first = ok(await workloads.client.list(controllerRevisionKind)).items.find(({ revision }) => revision === 1);
    ok(await workloads.client.patch(daemonSetKind, inDefault('driver'), { type: 'strategic', body: first?.data as object }));
    for (let i = 0; i < 8; i++) {
      await workloads.wait();
      await finishDeletions(workloads);
      await runAll(workloads);
    }
    expect(await places(workloads)).toEqual(['n1 v1', 'n2 v1', 'n3 v1']);
    expect(await revisions(workloads)).toEqual([2, 3]);
  }),
);

test(
  'with maxSurge the new pod comes first, and the old one is deleted once the new one is available',
  inCluster(async (workloads) => {
    await addNodes(workloads, 'n1', 'n2');
    await createSet(workloads, { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await runAll(workloads);
    await changeImage(workloads, 'v2');
    const surging = await places(workloads);
    expect(surging).toHaveLength(3);
    expect(surging.filter((place) => place.endsWith('v1'))).toHaveLength(2);
    for (let i = 0; i < 6; i++) {
      await runAll(workloads);
      expect((await places(workloads)).length).toBeGreaterThanOrEqual(2);
      await finishDeletions(workloads);
    }
    expect(await places(workloads)).toEqual(['n1 v2', 'n2 v2']);
  }),
);

test(
  'OnDelete waits for deletions; the history has its limit',
  inCluster(async (workloads) => {
    await addNodes(workloads, 'n1');
    await createSet(workloads, { updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 1 });
    await runAll(workloads);
    for (const image of ['v2', 'v3', 'v4']) await changeImage(workloads, image);
    expect(await places(workloads)).toEqual(['n1 v1']);
    // The pod has the oldest revision.
    expect(await revisions(workloads)).toEqual([1, 4]);
    ok(await workloads.client.delete(podKind, inDefault((await workloads.onePod()).metadata.name ?? ''), { gracePeriodSeconds: 0 }));
    await workloads.wait();
    expect(await places(workloads)).toEqual(['n1 v4']);
    await changeImage(workloads, 'v5');
    expect(await revisions(workloads)).toEqual([4, 5]);
  }),
);

test(
  'failed pods are replaced with back-off; succeeded ones are replaced too',
  inCluster(async (workloads) => {
    await addNodes(workloads, 'n1');
    await createSet(workloads);
    const first = await workloads.onePod();
    await run(workloads, first);
    await workloads.fail(first);
    await finishDeletions(workloads);
    const second = await workloads.onePod();
    expect(second.metadata.name).not.toBe(first.metadata.name);
    expect(await workloads.events()).toContain(`FailedDaemonPod: Found failed daemon pod default/${first.metadata.name} on node n1, will try to kill it`);
    await run(workloads, second);
    await workloads.fail(second);
    expect((await workloads.pods()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined]);
    await workloads.wait(1_000);
    await finishDeletions(workloads);
    const third = await workloads.onePod();
    await run(workloads, third);
    await workloads.succeed(third);
    await finishDeletions(workloads);
    expect(await workloads.activePods()).toHaveLength(1);
    expect(await workloads.events()).toContain(
      `SucceededDaemonPod: Found succeeded daemon pod default/${third.metadata.name} on node n1, will try to delete it`,
    );
  }),
);

test(
  'pods are available only after minReadySeconds',
  inCluster(async (workloads, world) => {
    await addNodes(workloads, 'n1');
    await createSet(workloads, { minReadySeconds: 30 });
    const pod = await workloads.onePod();
    const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+/, '');
    await workloads.set(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime }] });
    expect(counts(await workloads.getSet())).toMatchObject({ ready: 1, available: 0 });
    await workloads.wait(31_000);
    expect(counts(await workloads.getSet())).toMatchObject({ ready: 1, available: 1 });
  }),
);

test(
  'pods of a deleted DaemonSet can be adopted by the next',
  inCluster(async (workloads) => {
    await addNodes(workloads, 'n1');
    await createSet(workloads);
    const pod = await workloads.onePod();
    // As the garbage collector does when the DaemonSet is deleted with propagation Orphan.
    ok(await workloads.client.delete(daemonSetKind, inDefault('driver')));
    ok(await workloads.client.patch(podKind, inDefault(pod.metadata.name ?? ''), { type: 'merge', body: { metadata: { ownerReferences: null } } }));
    for (const { metadata } of ok(await workloads.client.list(controllerRevisionKind)).items) {
      ok(
        await workloads.client.patch(controllerRevisionKind, inDefault(metadata.name ?? ''), { type: 'merge', body: { metadata: { ownerReferences: null } } }),
      );
    }
    await createSet(workloads);
    expect((await workloads.pods()).map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.kind])).toEqual([[pod.metadata.name, 'DaemonSet']]);
    expect(ok(await workloads.client.list(controllerRevisionKind)).items).toHaveLength(1);
    expect(counts(await workloads.getSet())).toMatchObject({ desired: 1, current: 1, updated: 1 });
  }),
);

test(
  'refused pods do not keep the status from being written',
  inCluster(async (workloads) => {
    await addNodes(workloads, 'n1');
    ok(await workloads.client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard: { pods: '0' } } }));
    await createSet(workloads);
    expect((await workloads.getSet()).status).toMatchObject({ desiredNumberScheduled: 1, currentNumberScheduled: 0, observedGeneration: 1 });
    expect((await workloads.events())[0]).toContain('FailedCreate: Error creating: pods "driver-');
  }),
);
