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

async function createSet(scene: WorkloadCluster, spec: Draft<DaemonSetSpec> = {}, template: Template = {}): Promise<void> {
  const pod = { containers: [{ name: 'c', image: 'v1' }], ...template };
  ok(
    await scene.client.create(daemonSetKind, {
      metadata: inDefault('driver'),
      spec: { selector: { matchLabels: app }, ...spec, template: { metadata: { labels: app }, spec: pod } },
    }),
  );
  await scene.wait();
}

async function addNode(
  scene: WorkloadCluster,
  name: string,
  labels: Record<string, string> = {},
  taints: readonly { key: string; effect: string }[] = [],
): Promise<void> {
  ok(await scene.client.create(nodeKind, { metadata: { name, labels }, spec: { taints } }));
  await scene.wait();
}

const addNodes = async (scene: WorkloadCluster, ...names: readonly string[]): Promise<void> => {
  for (const name of names) await addNode(scene, name);
};

/** 'n1 v1', for each pod that is not terminating; sorted. */
async function places(scene: WorkloadCluster): Promise<string[]> {
  const pods = (await scene.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return pods.map((pod) => `${targetNode(pod) ?? ''} ${pod.spec.containers?.[0]?.image ?? ''}`).sort();
}

async function changeImage(scene: WorkloadCluster, image: string): Promise<void> {
  const set = await scene.getSet();
  const { template } = set.spec;
  const containers = (template.spec.containers ?? []).map((container) => ({ ...container, image }));
  ok(await scene.client.update(daemonSetKind, { ...set, spec: { ...set.spec, template: { ...template, spec: { ...template.spec, containers } } } }));
  await scene.wait();
}

/** Binds the pod and makes it ready, as scheduler and kubelet would. */
async function run(scene: WorkloadCluster, pod: Pod): Promise<void> {
  if ((pod.spec.nodeName ?? '') === '') {
    const { name = '' } = pod.metadata;
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: inDefault(name), target: { kind: 'Node', name: targetNode(pod) ?? '' } };
    // The binding subresource answers with a Status, not with the pod.
    await scene.client.createSubresource(podKind, { ...inDefault(name), subresource: 'binding' }, binding);
  }
  await scene.set(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' }] });
}

async function runAll(scene: WorkloadCluster): Promise<void> {
  for (const pod of await scene.activePods()) if (pod.status.phase !== 'Running') await run(scene, pod);
}

/** Ends deleted pods, as kubelets would. */
async function finishDeletions(scene: WorkloadCluster): Promise<void> {
  for (const { metadata } of await scene.pods()) {
    if (metadata.deletionTimestamp !== undefined) ok(await scene.client.delete(podKind, inDefault(metadata.name ?? ''), { gracePeriodSeconds: 0 }));
  }
  await scene.wait();
}

/** The revision numbers of its history. */
async function revisions(scene: WorkloadCluster): Promise<number[]> {
  return ok(await scene.client.list(controllerRevisionKind))
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
  inCluster(async (scene) => {
    await addNodes(scene, 'n1', 'n2');
    await createSet(scene);
    expect(await places(scene)).toEqual(['n1 v1', 'n2 v1']);
    const pod = (await scene.pods()).find((each) => targetNode(each) === 'n1');
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
    await runAll(scene);
    expect(counts(await scene.getSet())).toEqual({ desired: 2, current: 2, ready: 2, updated: 2, available: 2, misscheduled: 0 });
    await addNode(scene, 'n3');
    expect(await places(scene)).toEqual(['n1 v1', 'n2 v1', 'n3 v1']);
    expect((await scene.getSet()).status).toMatchObject({ desiredNumberScheduled: 3, numberUnavailable: 1, observedGeneration: 1 });
    ok(await scene.client.delete(nodeKind, { name: 'n3' }));
    await scene.wait();
    expect(await places(scene)).toEqual(['n1 v1', 'n2 v1']);
    expect((await scene.getSet()).status.desiredNumberScheduled).toBe(2);
    expect(await scene.events()).toEqual(expect.arrayContaining([`SuccessfulCreate: Created pod: ${pod?.metadata.name}`]));
  }),
);

test(
  'labels, affinity and taints say which nodes; a new NoSchedule taint lets pods stay, a NoExecute taint does not',
  inCluster(async (scene) => {
    await addNode(scene, 'disk', { disk: 'ssd', zone: 'a' });
    await addNode(scene, 'far', { disk: 'ssd', zone: 'b' });
    await addNode(scene, 'plain', { zone: 'a' });
    await addNode(scene, 'master', { disk: 'ssd', zone: 'a' }, [{ key: 'master', effect: 'NoSchedule' }]);
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }];
    await createSet(
      scene,
      {},
      { nodeSelector: { disk: 'ssd' }, affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } },
    );
    expect(await places(scene)).toEqual(['disk v1']);
    const node = ok(await scene.client.get(nodeKind, { name: 'disk' }));
    const taint = async (effect: string) => {
      const found = ok(await scene.client.get(nodeKind, { name: 'disk' }));
      ok(await scene.client.update(nodeKind, { ...found, spec: { ...found.spec, taints: [{ key: 'maintenance', effect }] } }));
      await scene.wait();
    };
    await taint('NoSchedule');
    expect(await places(scene)).toEqual(['disk v1']);
    expect(counts(await scene.getSet())).toMatchObject({ desired: 0, misscheduled: 1 });
    await taint('NoExecute');
    expect(await places(scene)).toEqual([]);
    ok(await scene.client.update(nodeKind, { ...ok(await scene.client.get(nodeKind, { name: 'disk' })), spec: node.spec }));
    await scene.wait();
    expect(await places(scene)).toEqual(['disk v1']);
  }),
);

test(
  'a new template replaces pods one at a time, and can be rolled back',
  inCluster(async (scene) => {
    await addNodes(scene, 'n1', 'n2', 'n3');
    await createSet(scene);
    await runAll(scene);
    await changeImage(scene, 'v2');
    const seen: string[][] = [];
    for (let i = 0; i < 8; i++) {
      seen.push(await places(scene));
      await finishDeletions(scene);
      await runAll(scene);
    }
    expect(seen.every((pods) => pods.length >= 2)).toBe(true);
    expect(await places(scene)).toEqual(['n1 v2', 'n2 v2', 'n3 v2']);
    expect(counts(await scene.getSet())).toEqual({ desired: 3, current: 3, ready: 3, updated: 3, available: 3, misscheduled: 0 });
    expect(await revisions(scene)).toEqual([1, 2]);
    // As kubectl rollout undo does.
    const first = ok(await scene.client.list(controllerRevisionKind)).items.find(({ revision }) => revision === 1);
    ok(await scene.client.patch(daemonSetKind, inDefault('driver'), { type: 'strategic', body: first?.data as object }));
    for (let i = 0; i < 8; i++) {
      await scene.wait();
      await finishDeletions(scene);
      await runAll(scene);
    }
    expect(await places(scene)).toEqual(['n1 v1', 'n2 v1', 'n3 v1']);
    expect(await revisions(scene)).toEqual([2, 3]);
  }),
);

test(
  'with maxSurge the new pod comes first, and the old one is deleted once the new one is available',
  inCluster(async (scene) => {
    await addNodes(scene, 'n1', 'n2');
    await createSet(scene, { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await runAll(scene);
    await changeImage(scene, 'v2');
    const surging = await places(scene);
    expect(surging).toHaveLength(3);
    expect(surging.filter((place) => place.endsWith('v1'))).toHaveLength(2);
    for (let i = 0; i < 6; i++) {
      await runAll(scene);
      expect((await places(scene)).length).toBeGreaterThanOrEqual(2);
      await finishDeletions(scene);
    }
    expect(await places(scene)).toEqual(['n1 v2', 'n2 v2']);
  }),
);

test(
  'OnDelete waits for deletions; the history has its limit',
  inCluster(async (scene) => {
    await addNodes(scene, 'n1');
    await createSet(scene, { updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 1 });
    await runAll(scene);
    for (const image of ['v2', 'v3', 'v4']) await changeImage(scene, image);
    expect(await places(scene)).toEqual(['n1 v1']);
    // The pod has the oldest revision.
    expect(await revisions(scene)).toEqual([1, 4]);
    ok(await scene.client.delete(podKind, inDefault((await scene.onePod()).metadata.name ?? ''), { gracePeriodSeconds: 0 }));
    await scene.wait();
    expect(await places(scene)).toEqual(['n1 v4']);
    await changeImage(scene, 'v5');
    expect(await revisions(scene)).toEqual([4, 5]);
  }),
);

test(
  'failed pods are replaced with back-off; succeeded ones are replaced too',
  inCluster(async (scene) => {
    await addNodes(scene, 'n1');
    await createSet(scene);
    const first = await scene.onePod();
    await run(scene, first);
    await scene.fail(first);
    await finishDeletions(scene);
    const second = await scene.onePod();
    expect(second.metadata.name).not.toBe(first.metadata.name);
    expect(await scene.events()).toContain(`FailedDaemonPod: Found failed daemon pod default/${first.metadata.name} on node n1, will try to kill it`);
    await run(scene, second);
    await scene.fail(second);
    expect((await scene.pods()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined]);
    await scene.wait(1_000);
    await finishDeletions(scene);
    const third = await scene.onePod();
    await run(scene, third);
    await scene.succeed(third);
    await finishDeletions(scene);
    expect(await scene.activePods()).toHaveLength(1);
    expect(await scene.events()).toContain(`SucceededDaemonPod: Found succeeded daemon pod default/${third.metadata.name} on node n1, will try to delete it`);
  }),
);

test(
  'pods are available only after minReadySeconds',
  inCluster(async (scene, world) => {
    await addNodes(scene, 'n1');
    await createSet(scene, { minReadySeconds: 30 });
    const pod = await scene.onePod();
    const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+/, '');
    await scene.set(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime }] });
    expect(counts(await scene.getSet())).toMatchObject({ ready: 1, available: 0 });
    await scene.wait(31_000);
    expect(counts(await scene.getSet())).toMatchObject({ ready: 1, available: 1 });
  }),
);

test(
  'pods of a deleted DaemonSet can be adopted by the next',
  inCluster(async (scene) => {
    await addNodes(scene, 'n1');
    await createSet(scene);
    const pod = await scene.onePod();
    // As the garbage collector does when the DaemonSet is deleted with propagation Orphan.
    ok(await scene.client.delete(daemonSetKind, inDefault('driver')));
    ok(await scene.client.patch(podKind, inDefault(pod.metadata.name ?? ''), { type: 'merge', body: { metadata: { ownerReferences: null } } }));
    for (const { metadata } of ok(await scene.client.list(controllerRevisionKind)).items) {
      ok(await scene.client.patch(controllerRevisionKind, inDefault(metadata.name ?? ''), { type: 'merge', body: { metadata: { ownerReferences: null } } }));
    }
    await createSet(scene);
    expect((await scene.pods()).map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.kind])).toEqual([[pod.metadata.name, 'DaemonSet']]);
    expect(ok(await scene.client.list(controllerRevisionKind)).items).toHaveLength(1);
    expect(counts(await scene.getSet())).toMatchObject({ desired: 1, current: 1, updated: 1 });
  }),
);

test(
  'refused pods do not keep the status from being written',
  inCluster(async (scene) => {
    await addNodes(scene, 'n1');
    ok(await scene.client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard: { pods: '0' } } }));
    await createSet(scene);
    expect((await scene.getSet()).status).toMatchObject({ desiredNumberScheduled: 1, currentNumberScheduled: 0, observedGeneration: 1 });
    expect((await scene.events())[0]).toContain('FailedCreate: Error creating: pods "driver-');
  }),
);
