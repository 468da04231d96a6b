import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundTo, csiDriver, csiNode, inZone, node, reachedFrom, SmallCluster, storageCapacity, within, zone } from '../../../test/scheduler/small-cluster.ts';
import { available, pod, pv, pvc, reservedFor, storageClass, uidOf } from '../../../test/storage/objects.ts';
import type { Pod } from '../../api/generated/types.ts';
import { readClaim } from '../../storage/volumes/claim.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import { readVolume } from '../../storage/volumes/volume.ts';
import type { ClusterEvent } from '../framework.ts';
import { readPod } from '../pod-info.ts';
import { volumeBinding } from './volume-binding-plugin.ts';

const late = { volumeBindingMode: 'WaitForFirstConsumer' };
const made = { ...late, provisioner: 'driver' };
const makeCluster = () => new SmallCluster([volumeBinding({ bindsTogether: true })]);
const [n1, n2] = [node('n1', inZone('a')), node('n2', inZone('b'))];
const web = pod('web', ['data']);
const scratchPod = pod('web', [], { spec: { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { metadata: {}, spec: { resources: {} } } } }] } });
const free = (name: string, size: string, spec: Parameters<typeof pv>[2] = {}) => pv(name, size, { status: available, ...spec });
const noVolume = "unresolvable: node(s) didn't find available persistent volumes to bind";
const elsewhere = "unresolvable: node(s) didn't match PersistentVolume's node affinity";
const notEnoughSpace = 'unresolvable: node(s) did not have enough free storage';

describe('PreFilter rejects a claim', () => {
  it.each([
    ['that does not exist', [], web, 'persistentvolumeclaim "data" not found'],
    [
      'that the ephemeral volume controller has not created yet',
      [],
      scratchPod,
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-scratch"',
    ],
    [
      'that is Lost',
      [pvc('data', '1Gi', { spec: { volumeName: 'gone' }, status: { phase: 'Lost' } })],
      web,
      'persistentvolumeclaim "data" bound to non-existent persistentvolume "gone"',
    ],
    [
      'that is being deleted',
      [pvc('data', '1Gi', { metadata: { namespace: 'default', name: 'data', deletionTimestamp: '2025-01-01T00:00:00Z' } })],
      web,
      'persistentvolumeclaim "data" is being deleted',
    ],
    ['that is not owned by the pod', [pvc('web-scratch', '1Gi')], scratchPod, 'PVC default/web-scratch was not created for pod default/web (pod is not owner)'],
    ['that is Immediate and unbound', [storageClass('class'), pvc('data', '1Gi')], web, 'pod has unbound immediate PersistentVolumeClaims'],
    ['with a class that does not exist', [pvc('data', '1Gi')], web, 'pod has unbound immediate PersistentVolumeClaims'],
    [
      'that names a PV and is not bound yet',
      [storageClass('class', late), pvc('data', '1Gi', { spec: { volumeName: 'vol' } })],
      web,
      'pod has unbound immediate PersistentVolumeClaims',
    ],
  ])('%s', (_, objects, asking: Pod, text) => {
    const cluster = makeCluster();
    cluster.set(n1, ...objects);
    expect(cluster.verdicts(asking)).toBe(`unresolvable: ${text}`);
  });

  it('but not one that is owned by the pod', () => {
    const cluster = makeCluster();
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: uidOf('pod', 'web'), controller: true };
    cluster.set(
      n1,
      storageClass('class', made),
      pvc('web-scratch', '1Gi', { metadata: { namespace: 'default', name: 'web-scratch', ownerReferences: [owner] } }),
    );
    expect(cluster.verdicts(scratchPod)).toEqual({ n1: '' });
  });

  it('and skips pods without claims', () => {
    const cluster = makeCluster();
    cluster.set(n1);
    expect(cluster.verdicts(pod('web', []))).toBe('skip');
  });
});

describe('bound claims', () => {
  it('restrict the pod to nodes that can access the PV', () => {
    const cluster = makeCluster();
    cluster.set(n1, n2, free('vol', '1Gi', { spec: reachedFrom([within(zone, 'b', 'c')]) }), boundTo(pvc('data', '1Gi'), 'vol'));
    expect(cluster.verdicts(web)).toEqual({ n1: elsewhere, n2: '' });
  });

  it.each([
    ['one', [within('kubernetes.io/hostname', 'n2')], ['n2']],
    ['several', [within(zone, 'a', 'b')], ['n1', 'n2']],
    ['unnamed', [{ key: zone, operator: 'NotIn', values: ['a'] }], undefined],
  ])('have likely nodes: %s', (_, terms, names) => {
    const cluster = makeCluster();
    cluster.set(n1, n2, node('n3'), free('vol', '1Gi', { spec: reachedFrom(terms) }), boundTo(pvc('data', '1Gi'), 'vol'));
    const { likely } = cluster.cycle(web);
    expect(likely === undefined ? undefined : [...likely]).toEqual(names);
  });

  it('without their PV fit nowhere', () => {
    const cluster = makeCluster();
    cluster.set(n1, boundTo(pvc('data', '1Gi'), 'vol'));
    expect(cluster.verdicts(web)).toEqual({ n1: 'unresolvable: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)' });
  });

  it('and unbound ones are reported together', () => {
    const cluster = makeCluster();
    cluster.set(
      n1,
      storageClass('class', late),
      free('vol', '1Gi', { spec: reachedFrom([within(zone, 'b')]) }),
      boundTo(pvc('a', '1Gi'), 'vol'),
      pvc('b', '1Gi'),
    );
    expect(cluster.verdicts(pod('web', ['a', 'b']))).toEqual({ n1: `${elsewhere} + node(s) didn't find available persistent volumes to bind` });
  });

  it('of an in-tree plugin use the zone label of the CSI driver, on nodes with CSI migration', () => {
    const cluster = makeCluster();
    const ebs = { hostPath: undefined, awsElasticBlockStore: { volumeID: 'vol-1' }, ...reachedFrom([within(zone, 'a')]) };
    const handedOver = { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/aws-ebs,kubernetes.io/gce-pd' };
    cluster.set(
      n1,
      node('n3', { 'topology.ebs.csi.aws.com/zone': 'a' }),
      node('n4', inZone('a')),
      csiNode('n3', {}, handedOver),
      csiNode('n4', {}, handedOver),
    );
    cluster.set(free('vol', '1Gi', { spec: ebs as never }), boundTo(pvc('data', '1Gi'), 'vol'));
    expect(cluster.verdicts(web)).toEqual({ n1: '', n3: '', n4: elsewhere });
    expect(cluster.cycle(web).likely).toBeUndefined();
  });
});

describe('claims with WaitForFirstConsumer', () => {
  it('get the smallest PV that the node can access', () => {
    const cluster = makeCluster();
    cluster.set(n1, n2, storageClass('class', late), pvc('data', '2Gi'));
    cluster.set(
      free('big', '9Gi', { spec: reachedFrom([within(zone, 'a')]) }),
      free('small', '1Gi'),
      free('right', '3Gi', { spec: reachedFrom([within(zone, 'b')]) }),
    );
    expect(cluster.verdicts(web)).toEqual({ n1: '', n2: '' });
    cluster.delete('PersistentVolume', 'big');
    expect(cluster.verdicts(web)).toEqual({ n1: noVolume, n2: '' });
  });

  it('of one pod get different PVs, the smaller claim the smaller PV', () => {
    const cluster = makeCluster();
    cluster.set(n1, storageClass('class', late), pvc('a', '2Gi'), pvc('b', '1Gi'), free('two', '2Gi'), free('one', '1Gi'));
    const both = pod('web', ['a', 'b']);
    expect(cluster.verdicts(both)).toEqual({ n1: '' });
    cluster.delete('PersistentVolume', 'one');
    expect(cluster.verdicts(both)).toEqual({ n1: noVolume });
  });

  it('used twice by one pod count once', () => {
    const cluster = makeCluster();
    cluster.set(n1, storageClass('class', late), pvc('data', '1Gi'), free('vol', '1Gi'));
    expect(cluster.verdicts(pod('web', ['data', 'data']))).toEqual({ n1: '' });
  });

  it('get their pre-bound PV and no other, even on nodes that cannot access it', () => {
    const cluster = makeCluster();
    cluster.set(n1, n2, storageClass('class', late), pvc('data', '1Gi'), free('any', '1Gi'));
    cluster.set(free('mine', '5Gi', { spec: { claimRef: reservedFor('data'), ...reachedFrom([within(zone, 'b')]) } }));
    expect(cluster.verdicts(web)).toEqual({ n1: noVolume, n2: '' });
  });

  it('fit on their selected node only', () => {
    const cluster = makeCluster();
    const chosen = pvc('data', '1Gi', { metadata: { namespace: 'default', name: 'data', annotations: { 'volume.kubernetes.io/selected-node': 'n2' } } });
    cluster.set(n1, n2, storageClass('class', made), chosen, free('vol', '1Gi'));
    expect(cluster.verdicts(web)).toEqual({ n1: noVolume, n2: '' });
    expect([...(cluster.cycle(web).likely ?? [])]).toEqual(['n2']);
  });

  it('are provisioned where allowedTopologies permit it', () => {
    const cluster = makeCluster();
    const allowedTopologies = [{ matchLabelExpressions: [{ key: zone, values: ['b', 'z'] }] }];
    cluster.set(n1, n2, node('n3'), storageClass('class', { ...made, allowedTopologies }), pvc('data', '1Gi'));
    expect(cluster.verdicts(web)).toEqual({ n1: noVolume, n2: '', n3: noVolume });
  });

  it('with an invalid selector are an error, not a rejection', () => {
    const cluster = makeCluster();
    cluster.set(n1, storageClass('class', late), pvc('data', '1Gi', { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } } }));
    expect(cluster.verdicts(web)).toEqual({
      n1: 'error: error creating internal label selector for claim: default/data: "Near" is not a valid label selector operator',
    });
  });
});

describe('storage capacity for dynamic provisioning', () => {
  const setUp = (driver: boolean, ...capacities: Parameters<typeof storageCapacity>[1][]) => {
    const cluster = makeCluster();
    cluster.set(
      n1,
      n2,
      storageClass('class', made),
      pvc('data', '10Gi'),
      csiDriver('driver', driver),
      ...capacities.map((more, i) => storageCapacity(`r${i}`, more)),
    );
    return cluster;
  };
  const here = { nodeTopology: { matchLabels: inZone('a') } };

  it.each<[string, Parameters<typeof storageCapacity>[1][], string]>([
    ['no CSIStorageCapacity', [], notEnoughSpace],
    ['enough', [{ ...here, capacity: '10Gi' }], ''],
    ['too little', [{ ...here, capacity: '9Gi' }], notEnoughSpace],
    [
      'enough, with two objects',
      [
        { ...here, capacity: '1Gi' },
        { ...here, capacity: '11Gi' },
      ],
      '',
    ],
    ['enough, but not for one volume', [{ ...here, capacity: '100Gi', maximumVolumeSize: '9Gi' }], notEnoughSpace],
    ['maximumVolumeSize is enough', [{ ...here, capacity: '1Gi', maximumVolumeSize: '10Gi' }], ''],
    ['in another class', [{ ...here, storageClassName: 'other', capacity: '100Gi' }], notEnoughSpace],
    ['elsewhere', [{ nodeTopology: { matchLabels: inZone('b') }, capacity: '100Gi' }], notEnoughSpace],
    ['everywhere', [{ nodeTopology: {}, capacity: '100Gi' }], ''],
    ['nowhere', [{ capacity: '100Gi' }], notEnoughSpace],
    ['a topology without a positive label', [{ nodeTopology: { matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] }, capacity: '100Gi' }], ''],
    ['an invalid selector', [{ nodeTopology: { matchExpressions: [{ key: 'x', operator: 'Near' }] }, capacity: '100Gi' }], notEnoughSpace],
    ['an invalid quantity', [{ ...here, capacity: 'much' }], notEnoughSpace],
  ])('%s', (_, capacities, expected) => {
    expect(setUp(true, ...capacities).verdicts(web)).toMatchObject({ n1: expected });
  });

  it('is checked only if the CSIDriver says so', () => {
    expect(setUp(false).verdicts(web)).toEqual({ n1: '', n2: '' });
  });

  it('is updated with its objects', () => {
    const cluster = setUp(true, { ...here, capacity: '1Gi' });
    expect(cluster.verdicts(web)).toEqual({ n1: notEnoughSpace, n2: notEnoughSpace });
    cluster.set(storageCapacity('r0', { ...here, capacity: '10Gi' }));
    expect(cluster.verdicts(web)).toEqual({ n1: '', n2: notEnoughSpace });
    cluster.delete('CSIStorageCapacity', 'default/r0');
    expect(cluster.verdicts(web)).toEqual({ n1: notEnoughSpace, n2: notEnoughSpace });
  });
});

describe('assumed volumes of a pod', () => {
  const setUp = () => {
    const cluster = makeCluster();
    cluster.set(n1, storageClass('class', late), pvc('a', '1Gi'), pvc('b', '1Gi'), free('vol', '1Gi'));
    const first = cluster.cycle(pod('one', ['a']));
    const at = cluster.cache.node('n1');
    if (at === undefined) throw new Error('the node does not exist');
    return { cluster, first, at };
  };

  it('are not available to the next pods, until they are reverted', () => {
    const { cluster, first, at } = setUp();
    expect(first.reserve?.(at)).toBeUndefined();
    expect(cluster.verdicts(pod('two', ['b']))).toEqual({ n1: noVolume });
    first.unreserve?.(at);
    first.unreserve?.(at);
    expect(cluster.verdicts(pod('two', ['b']))).toEqual({ n1: '' });
  });

  it('are replaced by a newer version from the API server', () => {
    const { cluster, first, at } = setUp();
    first.reserve?.(at);
    cluster.set(free('vol', '1Gi', { metadata: { name: 'vol', labels: { changed: 'yes' } } }));
    expect(cluster.verdicts(pod('two', ['b']))).toEqual({ n1: '' });
    first.unreserve?.(at);
    expect(cluster.verdicts(pod('two', ['b']))).toEqual({ n1: '' });
  });

  it('with a selected node restrict other pods of the claim to that node', () => {
    const cluster = makeCluster();
    cluster.set(n1, n2, storageClass('class', made), pvc('data', '1Gi'));
    const first = cluster.cycle(pod('one', ['data']));
    const at = cluster.cache.node('n2');
    if (at === undefined) throw new Error('the node does not exist');
    first.reserve?.(at);
    expect(cluster.verdicts(pod('two', ['data']))).toEqual({ n1: noVolume, n2: '' });
    first.unreserve?.(at);
    expect(cluster.verdicts(pod('two', ['data']))).toEqual({ n1: '', n2: '' });
  });
});

describe('queueing hints of VolumeBinding', () => {
  const hints = (cluster: SmallCluster, changes: readonly ClusterEvent[], asking = web) => {
    const plugin = cluster.plugins[0];
    return changes.map((change) => plugin?.queueingHints?.events.includes(change.resource) === true && plugin.queueingHints.hint(readPod(asking), change));
  };

  it('PVs that are free or belong to the claim, not those of others', () => {
    const cluster = makeCluster();
    cluster.set(boundTo(pvc('data', '1Gi'), 'own'));
    const changes = cluster.set(
      free('vol', '1Gi'),
      free('mine', '1Gi', { spec: { claimRef: reservedFor('data') } }),
      free('other', '1Gi', { spec: { claimRef: reservedFor('x') } }),
    );
    expect(hints(cluster, changes)).toEqual([true, true, false]);
    expect(hints(cluster, [cluster.delete('PersistentVolume', 'mine'), cluster.delete('PersistentVolume', 'vol')])).toEqual([true, false]);
    expect(hints(cluster, cluster.set(free('own', '1Gi', { spec: { claimRef: reservedFor('x') } })))).toEqual([true]);
  });

  it('claims of the pod, created or changed nodes and classes', () => {
    const cluster = makeCluster();
    expect(hints(cluster, cluster.set(pvc('data', '1Gi'), pvc('other', '1Gi'), n1, storageClass('class', made)))).toEqual([true, false, true, true]);
    expect(hints(cluster, cluster.set(n1, { ...n1, metadata: { ...n1.metadata, labels: {} } }, storageClass('class', made)))).toEqual([false, true, false]);
    expect(
      hints(
        cluster,
        cluster.set(
          storageClass('class', { ...made, allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['a'] }] }] }),
          csiNode('n1', {}),
          csiNode('n1', { driver: 1 }),
        ),
      ),
    ).toEqual([true, true, false]);
  });

  it('more capacity, or a driver without capacity tracking', () => {
    const cluster = makeCluster();
    expect(
      hints(
        cluster,
        cluster.set(storageCapacity('r', { capacity: '2Gi' }), storageCapacity('r', { capacity: '1Gi' }), storageCapacity('r', { capacity: '3Gi' })),
      ),
    ).toEqual([true, false, true]);
    expect(hints(cluster, cluster.set(csiDriver('d', true), csiDriver('d', false), csiDriver('d', true)))).toEqual([false, true, false]);
  });
});

describe('for any volumes, claims and nodes', () => {
  const size = fc.constantFrom('1Gi', '2Gi', '3Gi');
  const zoneName = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });

  it('a node is rejected if and only if the binder’s matching finds no PV for a claim there', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ size, zoneName }), { maxLength: 6 }), size, (volumes, wanted) => {
        const cluster = makeCluster();
        const objects = volumes.map((each, i) =>
          free(`v${i}`, each.size, each.zoneName === undefined ? {} : { spec: reachedFrom([within(zone, each.zoneName)]) }),
        );
        cluster.set(n1, n2, storageClass('class', late), pvc('data', wanted), ...objects);
        const claim = readClaim(pvc('data', wanted));
        const expected = Object.fromEntries(
          [n1, n2].map(({ metadata }) => {
            const fits = objects.some((each) => matchVolume(claim, readVolume(each), { node: { labels: metadata.labels } }) === 'fits');
            return [metadata.name, fits ? '' : noVolume];
          }),
        );
        expect(cluster.verdicts(web)).toEqual(expected);
      }),
    );
  });
});
