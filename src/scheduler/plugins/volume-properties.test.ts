/** Properties of all plugins about volumes, on random clusters. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attachment,
  boundTo,
  csiDriver,
  csiNode,
  inZone,
  node,
  reachedFrom,
  SmallCluster,
  storageCapacity,
  within,
  zone,
} from '../../../test/scheduler/small-cluster.ts';
import { pod, pv, pvc, reservedFor, storageClass, uidOf } from '../../../test/storage/objects.ts';
import type { KubeObject } from '../../api/object.ts';
import { keyOf } from '../../client/informers/cache.ts';
import type { Plugin } from '../framework.ts';
import { readPod } from '../pod-info.ts';
import { volumePlugins } from '../plugins/volume-plugins.ts';

const names = { node: ['n1', 'n2'], volume: ['v1', 'v2', 'v3'], claim: ['a', 'b'], pod: ['p1', 'p2'] } as const;

const nodes = fc
  .record({ name: fc.constantFrom(...names.node), labels: fc.constantFrom({}, inZone('a'), inZone('b')) })
  .map(({ name, labels }) => node(name, labels));
const affinities = fc.constantFrom<object>({}, reachedFrom([within(zone, 'a')]), reachedFrom([within('kubernetes.io/hostname', 'n2')]), reachedFrom([]));
const volumes = fc
  .record({
    name: fc.constantFrom(...names.volume),
    size: fc.constantFrom('1Gi', '2Gi'),
    affinity: affinities,
    labels: fc.constantFrom<Record<string, string>>({}, {}, inZone('a'), inZone('b__c')),
    claimRef: fc.constantFrom(undefined, undefined, reservedFor('a'), reservedFor('other')),
    csi: fc.boolean(),
    phase: fc.constantFrom('Available', 'Available', 'Bound', 'Pending'),
  })
  .map(({ name, size, affinity, labels, claimRef, csi, phase }) =>
    pv(name, size, {
      metadata: { name, labels },
      spec: {
        ...affinity,
        accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'],
        ...(claimRef === undefined ? {} : { claimRef }),
        ...(csi ? { csi: { driver: 'driver', volumeHandle: `handle-${name}` } } : {}),
      },
      status: { phase },
    }),
  );
const claims = fc
  .record({
    name: fc.constantFrom(...names.claim),
    size: fc.constantFrom('1Gi', '2Gi'),
    mode: fc.constantFrom('ReadWriteOnce', 'ReadWriteOnce', 'ReadWriteOncePod'),
    className: fc.constantFrom('class', 'class', 'class', 'other', ''),
    bound: fc.constantFrom(undefined, undefined, ...names.volume),
    chosen: fc.constantFrom(undefined, undefined, undefined, 'n1'),
    trouble: fc.constantFrom('none', 'none', 'none', 'none', 'lost', 'deleting'),
  })
  .map(({ name, size, mode, className, bound, chosen, trouble }) => {
    const annotations = chosen === undefined ? {} : { annotations: { 'volume.kubernetes.io/selected-node': chosen } };
    const made = pvc(name, size, {
      metadata: { namespace: 'default', name, ...annotations, ...(trouble === 'deleting' ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
      spec: { accessModes: [mode], storageClassName: className },
      status: { phase: trouble === 'lost' ? 'Lost' : 'Pending' },
    });
    return bound === undefined || trouble !== 'none' ? made : boundTo(made, bound);
  });
const classes = fc
  .record({
    name: fc.constantFrom('class', 'class', 'other'),
    provisioner: fc.constantFrom('kubernetes.io/no-provisioner', 'driver'),
    late: fc.constantFrom(true, true, false),
    zones: fc.constantFrom<string[] | undefined>(undefined, undefined, ['a'], ['z']),
  })
  .map(({ name, provisioner, late, zones }) =>
    storageClass(name, {
      provisioner,
      volumeBindingMode: late ? 'WaitForFirstConsumer' : 'Immediate',
      ...(zones === undefined ? {} : { allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: zones }] }] }),
    }),
  );
const users = fc
  .record({ name: fc.constantFrom(...names.pod), claim: fc.constantFrom(...names.claim), nodeName: fc.constantFrom(...names.node), disk: fc.boolean() })
  .map(({ name, claim, nodeName, disk }) => {
    const made = pod(name, [claim]);
    const volumesOfPod = [...(made.spec.volumes ?? []), ...(disk ? [ebs] : [])];
    return { ...made, spec: { ...made.spec, nodeName, volumes: volumesOfPod } };
  });
const ebs = { name: 'disk', awsElasticBlockStore: { volumeID: 'vol-1' } };

const object: fc.Arbitrary<KubeObject> = fc.oneof(
  { weight: 3, arbitrary: nodes },
  { weight: 4, arbitrary: volumes },
  { weight: 4, arbitrary: claims },
  { weight: 2, arbitrary: classes },
  { weight: 2, arbitrary: users },
  {
    weight: 1,
    arbitrary: fc
      .record({ name: fc.constantFrom(...names.node), count: fc.integer({ min: 0, max: 2 }) })
      .map(({ name, count }) => csiNode(name, { driver: count })),
  },
  { weight: 1, arbitrary: fc.boolean().map((reports) => csiDriver('driver', reports)) },
  { weight: 1, arbitrary: fc.constantFrom('1Gi', '2Gi').map((capacity) => storageCapacity('r', { capacity, nodeTopology: { matchLabels: inZone('a') } })) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...names.node), fc.constantFrom(...names.volume)).map(([on, volume]) => attachment('va', on, volume)) },
);

const deletable = fc.constantFrom(
  ...names.node.map((name) => ['Node', name] as const),
  ...names.volume.map((name) => ['PersistentVolume', name] as const),
  ...names.claim.map((name) => ['PersistentVolumeClaim', `default/${name}`] as const),
  ...names.pod.map((name) => ['Pod', `default/${name}`] as const),
  ['StorageClass', 'class'] as const,
  ['CSINode', 'n1'] as const,
  ['CSIDriver', 'driver'] as const,
  ['CSIStorageCapacity', 'default/r'] as const,
  ['VolumeAttachment', 'va'] as const,
);
const events = fc.oneof(
  {
    weight: 4,
    // Volumes and node of a pod are immutable.
    arbitrary: object.map(
      (made) => (cluster: SmallCluster) =>
        cluster.views.pod.getKey(keyOf(made.metadata)) === undefined || made.kind !== 'Pod' ? cluster.set(made)[0] : undefined,
    ),
  },
  {
    weight: 1,
    arbitrary: deletable.map(
      ([kind, key]) =>
        (cluster: SmallCluster) =>
          cluster.has(kind, key) ? cluster.delete(kind, key) : undefined,
    ),
  },
);

const waiting = fc.tuple(fc.subarray([...names.claim], { minLength: 1 }), fc.boolean()).map(([used, disk]) => {
  const made = pod('web', used, { metadata: { namespace: 'default', name: 'web', uid: uidOf('pod', 'web') } });
  return { ...made, spec: { ...made.spec, volumes: [...(made.spec.volumes ?? []), ...(disk ? [ebs] : [])] } };
});

/** SEED=… tries other worlds. */
const seed = Number(process.env['SEED'] ?? 1);

/** Whether this plugin accepts any node. */
function passes(cluster: SmallCluster, plugin: Plugin, pending: Parameters<SmallCluster['verdicts']>[0]): boolean {
  const verdicts = cluster.verdicts(pending, plugin);
  return verdicts === 'skip' ? cluster.cache.nodes.length > 0 : typeof verdicts === 'object' && Object.values(verdicts).includes('');
}

describe.each(volumePlugins({ bindsTogether: true }).map(({ name }, i) => [name, i] as const))('%s', (_, i) => {
  it('has hints that queue every pod that an event makes schedulable', () => {
    fc.assert(
      fc.property(fc.array(object, { maxLength: 14 }), waiting, events, (before, pending, event) => {
        const plugins = volumePlugins({ bindsTogether: true });
        const plugin = plugins[i];
        if (plugin === undefined) throw new Error('no such plugin');
        const cluster = new SmallCluster(plugins);
        cluster.set(...before);
        if (passes(cluster, plugin, pending)) return;
        const change = event(cluster);
        if (change === undefined || !passes(cluster, plugin, pending)) return;
        expect(
          plugin.queueingHints?.events.includes(change.resource) === true && plugin.queueingHints.hint(readPod(pending), change),
          `no hint for ${JSON.stringify(change)}`,
        ).toBe(true);
      }),
      { numRuns: 2000, seed },
    );
  });

  it('lists every node that passes as likely', () => {
    fc.assert(
      fc.property(fc.array(object, { maxLength: 14 }), waiting, (objects, pending) => {
        const plugins = volumePlugins({ bindsTogether: true });
        const cluster = new SmallCluster(plugins);
        cluster.set(...objects);
        const prepared = plugins[i]?.preFilter(readPod(pending), cluster.cache);
        if (prepared === undefined || prepared === 'skip' || 'code' in prepared || prepared.likely === undefined) return;
        for (const each of cluster.cache.nodes) if (prepared.filter?.(each) === undefined) expect([...prepared.likely]).toContain(each.name);
      }),
      { numRuns: 1000, seed },
    );
  });
});
