import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostPathDriver } from '../../../test/storage/fake-backend.ts';
import { pv, pvc, reservedFor, uidOf } from '../../../test/storage/objects.ts';
import type { ContainerStatus, Event, PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { readClaim } from '../volumes/claim.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { afterFailure, newIntent, type VolumeIntent } from '../../api/volumes/intent.ts';
import { readVolume } from '../volumes/volume.ts';
import { afterDeleted, afterRecycleFailed, afterStarted, type DeleteIntent, type ReclaimerAction, type ScrubIntent } from './actions.ts';
import { decide, isSettled } from './decide.ts';
import { recyclableSource, recyclerPod } from './recycler-pod.ts';

interface Given {
  readonly volume?: PersistentVolume;
  readonly claim?: PersistentVolumeClaim;
  readonly intent?: VolumeIntent;
  readonly pod?: Pod;
  readonly events?: readonly Event[];
  readonly lastEvent?: readonly string[];
  readonly drivers?: readonly DriverCapabilities[];
  readonly attachedTo?: readonly string[];
  readonly hasNodes?: boolean;
}

function snapshotOf({
  volume,
  claim,
  intent,
  pod,
  events = [],
  lastEvent: recorded = [],
  drivers = [hostPathDriver],
  attachedTo = [],
  hasNodes = true,
}: Given) {
  const snapshot = {
    lastEvent: (key: string) => (recorded.includes(key) ? { reason: '', message: '', at: 0 } : undefined),
    maxRecycles: 3,
    claim: (key: string) => (claim === undefined || readClaim(claim).key !== key ? undefined : readClaim(claim)),
    intent: () => intent,
    attachedTo: () => attachedTo,
    driver: (name: string) => drivers.find((driver) => driver.name === name),
    recyclerPod: () => pod,
    recyclerPodEvents: () => events,
    hasNodes: () => hasNodes,
    podsUsing: () => [],
  };
  return { name: 'vol', volume: volume === undefined ? undefined : readVolume(volume), snapshot };
}

const run = (given: Given, now = 0) => decide(snapshotOf(given), now);

const brief = (actions: readonly ReclaimerAction[]): string[] =>
  actions.map((action) => {
    switch (action.do) {
      case 'recordEvent':
        return `event ${action.event.reason}`;
      case 'confirmClaimGone':
      case 'deleteAsset':
      case 'startRecyclerPod':
      case 'confirmScrubbed':
        return action.do;
      case 'create':
      case 'update':
      case 'updateStatus':
      case 'delete':
        return `${action.do} ${action.object.kind}`;
    }
  });

const released = (policy: string, spec: Partial<PersistentVolume['spec']> = {}, metadata: PersistentVolume['metadata'] = {}) =>
  pv('vol', '1Gi', {
    metadata: { name: 'vol', ...metadata },
    spec: { persistentVolumeReclaimPolicy: policy, claimRef: { ...reservedFor('data'), uid: 'gone' }, ...spec },
    status: { phase: 'Released' },
  });

describe('Delete', () => {
  it('not as long as it is attached somewhere, as with external provisioners', () => {
    const decision = run({ volume: released('Delete'), attachedTo: ['node-1'] });
    expect(brief(decision.actions)).toEqual([]);
    expect(decision.reasons).toEqual([{ code: 'StillAttached', text: 'persistentvolume vol is still attached to node node-1', next: 'attach-detach' }]);
  });

  const volume = released(
    'Delete',
    {},
    { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' }, finalizers: ['kubernetes.io/pv-controller', 'x/y'] },
  );
  const intent = newIntent('vol', {
    operation: 'Delete',
    driver: 'kubernetes.io/host-path',
    volume: { name: 'vol', uid: 'u' },
    source: { hostPath: { path: '/tmp/vol' } },
  }) as DeleteIntent;

  it('asks the server whether the claim is gone, writes the intent, asks again, then the driver', () => {
    expect(brief(run({ volume }).actions)).toEqual(['confirmClaimGone', 'create VolumeIntent']);
    expect(brief(run({ volume, intent }).actions)).toEqual(['confirmClaimGone', 'deleteAsset']);
  });

  it('lets the volume go only when the asset is gone: first its own finalizer, then the volume', () => {
    const { actions } = run({ volume, intent: afterDeleted(intent) });
    expect(brief(actions)).toEqual(['update PersistentVolume', 'delete PersistentVolume']);
    expect(actions[0]).toMatchObject({ object: { metadata: { finalizers: ['x/y'] } } });
  });

  it('does nothing more to a volume that is being deleted, and deletes the intent when it is gone', () => {
    const going = released('Delete', {}, { ...volume.metadata, finalizers: ['x/y'], deletionTimestamp: '2025-01-01T00:00:00Z' });
    expect(run({ volume: going, intent: afterDeleted(intent) }).actions).toEqual([]);
    expect(brief(run({ intent: afterDeleted(intent) }).actions)).toEqual(['delete VolumeIntent']);
  });

  it('does not begin where the volume may go at any moment, as with external provisioners; what was begun is finished', () => {
    const driver = { ...hostPathDriver, name: 'disks.example.com' };
    const going = (finalizers: string[]) =>
      released('Delete', {}, { annotations: { 'pv.kubernetes.io/provisioned-by': driver.name }, finalizers, deletionTimestamp: '2025-01-01T00:00:00Z' });
    const [kept, givenUp] = [going(['external-provisioner.volume.kubernetes.io/finalizer']), going(['kubernetes.io/pv-protection'])];
    expect(brief(run({ volume: kept, drivers: [driver] }).actions)).toEqual(['confirmClaimGone', 'create VolumeIntent']);
    expect(brief(run({ volume: givenUp, drivers: [driver] }).actions)).toEqual([]);
    expect(brief(run({ volume: givenUp, drivers: [driver], intent }).actions)).toEqual(['confirmClaimGone', 'deleteAsset']);
    const inTree = { ...volume, metadata: { ...volume.metadata, finalizers: ['x/y'], deletionTimestamp: '2025-01-01T00:00:00Z' } };
    expect(brief(run({ volume: inTree }).actions)).toEqual(['confirmClaimGone', 'create VolumeIntent']);
  });

  it('that failed marks the volume once, and is tried again in time', () => {
    const failing = afterFailure(intent, { message: 'busy', final: true }, 0);
    const first = run({ volume, intent: failing }, 1);
    expect(brief(first.actions)).toEqual(['updateStatus PersistentVolume', 'event VolumeFailedDelete']);
    expect(first.again).toBe(500);
    const failed = { ...volume, status: { phase: 'Failed', message: 'busy' } };
    expect(run({ volume: failed, intent: failing }, 1).actions).toEqual([]);
    expect(brief(run({ volume: failed, intent: failing }, 500).actions)).toEqual(['confirmClaimGone', 'deleteAsset']);
  });

  it('of an asset that is still used is no failure', () => {
    const busy = afterFailure(intent, { message: 'in use', final: true, inUse: true }, 0);
    expect(brief(run({ volume, intent: busy }, 1).actions)).toEqual(['event VolumeDelete']);
  });

  it('is given up when the claim turns out to be there', () => {
    const claim = pvc('data', '1Gi', { metadata: { name: 'data', uid: 'gone' } });
    expect(brief(run({ volume, intent, claim }).actions)).toEqual(['delete VolumeIntent']);
  });

  it('waits while the volume is still being made', () => {
    const making = newIntent('vol', { operation: 'Create', driver: 'd', claimRef: { namespace: 'default', name: 'data', uid: 'gone' }, request: {} as never });
    expect(run({ volume, intent: making }).actions).toEqual([]);
  });

  it('of a volume for a claim that has another needs no question, and happens only to what was made for it', () => {
    const claim = pvc('data', '1Gi', { metadata: { name: 'data', uid: 'gone' }, spec: { volumeName: 'other' } });
    expect(brief(run({ volume, claim }).actions)).toEqual(['create VolumeIntent']);
    expect(run({ volume: released('Delete'), claim }).actions).toEqual([]);
  });

  it('happens to nothing that the binder has not released', () => {
    expect(run({ volume: { ...volume, status: { phase: 'Bound' } } }).actions).toEqual([]);
    expect(run({ volume: { ...volume, status: { phase: 'Pending' } } }).actions).toEqual([]);
  });
});

describe('the finalizer', () => {
  const made = (policy: string, metadata: PersistentVolume['metadata'] = {}) =>
    pv('vol', '1Gi', {
      metadata: { name: 'vol', annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' }, ...metadata },
      spec: { persistentVolumeReclaimPolicy: policy },
      status: { phase: 'Bound' },
    });
  const finalizersOf = (volume: PersistentVolume) =>
    run({ volume }).actions.map((action) => (action.do === 'update' ? action.object.metadata.finalizers : action.do));

  it('is added while the policy is Delete, and removed otherwise', () => {
    expect(finalizersOf(made('Delete'))).toEqual([['kubernetes.io/pv-controller']]);
    expect(finalizersOf(made('Delete', { finalizers: ['kubernetes.io/pv-controller'] }))).toEqual([]);
    expect(finalizersOf(made('Retain', { finalizers: ['kubernetes.io/pv-controller', 'x/y'] }))).toEqual([['x/y']]);
    expect(finalizersOf(made('Recycle', { finalizers: ['kubernetes.io/pv-controller'] }))).toEqual([undefined]);
  });
  it('is not added to a volume that is being deleted, nor to one of a user or of an external provisioner', () => {
    expect(finalizersOf(made('Delete', { finalizers: ['x/y'], deletionTimestamp: '2025-01-01T00:00:00Z' }))).toEqual([]);
    expect(finalizersOf(made('Delete', { annotations: {} }))).toEqual([]);
    expect(finalizersOf(made('Delete', { annotations: { 'pv.kubernetes.io/provisioned-by': 'csi.example.com' } }))).toEqual([]);
  });
  it('of a migrated in-tree plugin is removed, and the volume gets the migrated-to annotation', () => {
    const { actions } = run({
      volume: made('Delete', { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/cinder' }, finalizers: ['kubernetes.io/pv-controller'] }),
    });
    expect(actions).toMatchObject([{ object: { metadata: { annotations: { 'pv.kubernetes.io/migrated-to': 'cinder.csi.openstack.org' } } } }]);
    expect(actions[0]?.do === 'update' && actions[0].object.metadata.finalizers).toBeUndefined();
  });
});

describe('a recycler pod', () => {
  const volume = released('Recycle');
  const how = recyclableSource({ hostPath: { path: '/tmp/vol' } });
  if (how === undefined) throw new Error('a host path can be scrubbed');
  const intent: ScrubIntent = newIntent('vol', { operation: 'Scrub', volume: { name: 'vol', uid: uidOf('pv', 'vol') } }) as ScrubIntent;
  const ended = { name: 'pv-recycler', state: { terminated: { exitCode: 0 } } } as ContainerStatus;
  /** As the server creates it, and as its node says that it has succeeded. */
  const succeeded = (spec: Partial<Pod['spec']> = {}, status: Pod['status'] = { phase: 'Succeeded', containerStatuses: [ended] }, uid = 'p1'): Pod => {
    const pod = recyclerPod(readVolume(volume), how);
    return { ...pod, metadata: { ...pod.metadata, uid }, spec: { ...pod.spec, nodeName: 'node-1', ...spec }, status };
  };
  const running = afterStarted(intent, succeeded({ nodeName: '' }));

  it('is a pod in default that empties the volume, within a time that grows with it', () => {
    expect(recyclerPod(readVolume(volume), how)).toMatchObject({
      metadata: { name: 'recycler-for-vol', namespace: 'default' },
      spec: {
        activeDeadlineSeconds: 60,
        restartPolicy: 'Never',
        volumes: [{ name: 'vol', hostPath: { path: '/tmp/vol' } }],
        containers: [{ name: 'pv-recycler' }],
      },
    });
    const large = readVolume(pv('vol', '100Gi', { spec: { nfs: { server: 's', path: '/' } } }));
    expect(recyclerPod(large, how).spec.activeDeadlineSeconds).toBe(3000);
    expect(recyclableSource({ nfs: { server: 's', path: '/' } })).toMatchObject({ minimumSeconds: 300 });
    expect(recyclableSource({ csi: { driver: 'd', volumeHandle: 'h' } })).toBeUndefined();
  });

  it('is created after the server has confirmed that the claim is gone', () => {
    expect(brief(run({ volume }).actions)).toEqual(['confirmClaimGone', 'create VolumeIntent']);
    expect(brief(run({ volume, intent }).actions)).toEqual(['confirmClaimGone', 'startRecyclerPod']);
  });

  it.each([
    ['that succeeded, and is the same to the last field', succeeded()],
    ['that is pending', succeeded({ nodeName: '' }, { phase: 'Pending' })],
    ['with another command', succeeded({ containers: [{ ...succeeded().spec.containers?.[0], name: 'pv-recycler', args: ['-c', 'true'], resources: {} }] })],
  ])('is not a pod of its name of unknown origin %s: that one is replaced', (_, pod) => {
    expect(brief(run({ volume, pod }).actions)).toEqual(['updateStatus PersistentVolume', 'event VolumeFailedRecycle', 'delete Pod']);
    // Also the reclaimer's own, if it died before it could record it.
    expect(brief(run({ volume, intent, pod }).actions)).toEqual(['delete Pod']);
    const failing = afterRecycleFailed(running as ScrubIntent, 'no', 0);
    expect(brief(run({ volume, intent: failing, pod: { ...pod, metadata: { ...pod.metadata, uid: 'p2' } } }).actions)).toEqual(['delete Pod']);
  });

  it('that succeeded frees the volume, once the scrub is confirmed, before it is deleted itself', () => {
    const { actions } = run({ volume, intent: running, pod: succeeded() });
    expect(brief(actions)).toEqual([
      'confirmScrubbed',
      'update PersistentVolume',
      'event VolumeRecycled',
      'updateStatus PersistentVolume',
      'delete Pod',
      'delete VolumeIntent',
    ]);
    expect(actions[0]).toMatchObject({ directory: '/tmp/vol', pod: { metadata: { uid: 'p1' } } });
  });

  const container = { ...succeeded().spec.containers?.[0], name: 'pv-recycler', resources: {} };
  it.each([
    ['its image was changed', succeeded({ containers: [{ ...container, image: 'true' }] }), 'changed after it was created'],
    ['a container was added', succeeded({ ephemeralContainers: [{ name: 'debug', image: 'sh', resources: {} }] }), 'changed after it was created'],
    ['its deadline was changed', succeeded({ activeDeadlineSeconds: 1 }), 'changed after it was created'],
    ['it was on no node', succeeded({ nodeName: '' }), 'without having been on a node'],
    ['only its phase was written', succeeded({}, { phase: 'Succeeded' }), 'its container did not run to its end'],
    [
      'its container failed',
      succeeded({}, { phase: 'Succeeded', containerStatuses: [{ ...ended, state: { terminated: { exitCode: 1, startedAt: null, finishedAt: null } } }] }),
      'its container did not run to its end',
    ],
    ['it is another pod', succeeded({}, undefined, 'p2'), 'recycler pod was deleted'],
  ])('that succeeded proves nothing if %s', (_, pod, why) => {
    const { actions, reasons } = run({ volume, intent: running, pod });
    const deletes = pod.metadata.uid === 'p1' ? ['delete Pod'] : [];
    expect(brief(actions)).toEqual(['updateStatus PersistentVolume', 'event VolumeFailedRecycle', 'update VolumeIntent', ...deletes]);
    expect(reasons[0]?.text).toContain(why);
  });

  it('whose record has no spec, of an older version, proves nothing', () => {
    const { podSpec: _, ...status } = running.status;
    expect(run({ volume, intent: { ...running, status }, pod: succeeded() }).reasons[0]?.text).toContain('changed after it was created');
  });

  it('needs no node in a cluster without any, where a test plays the kubelet', () => {
    const pod = succeeded({ nodeName: '' }, { phase: 'Succeeded' });
    expect(brief(run({ volume, intent: running, pod, hasNodes: false }).actions)).toContain('confirmScrubbed');
  });

  it('that left something behind is deleted, and the volume says so', () => {
    const failing = afterRecycleFailed(running as ScrubIntent, 'it still has entries', 0);
    expect(brief(run({ volume, intent: failing, pod: succeeded() }).actions)).toEqual([
      'updateStatus PersistentVolume',
      'event VolumeFailedRecycle',
      'delete Pod',
    ]);
  });

  it('has its events copied to the volume, once', () => {
    const pod = succeeded({}, { phase: 'Pending' });
    const events = [{ metadata: { uid: 'e1' }, type: 'Warning', message: 'no nodes available to schedule pods' }] as Event[];
    expect(run({ volume, intent: running, pod, events }).actions).toMatchObject([
      {
        do: 'recordEvent',
        event: { type: 'Warning', reason: 'RecyclerPod', message: 'Recycler pod: no nodes available to schedule pods' },
        rememberAs: 'event e1',
      },
    ]);
    expect(run({ volume, intent: running, pod, events, lastEvent: ['event e1'] }).actions).toEqual([]);
  });
});

describe('a volume that is left alone', () => {
  const volumes = fc.record({
    phase: fc.constantFrom('Pending', 'Available', 'Bound', 'Released', 'Failed'),
    policy: fc.constantFrom('Retain', 'Delete', 'Recycle', 'Other'),
    by: fc.constantFrom(undefined, '', 'kubernetes.io/host-path', 'kubernetes.io/aws-ebs', 'csi.example.com'),
    migratedTo: fc.constantFrom(undefined, '', 'ebs.csi.aws.com'),
    finalizers: fc.uniqueArray(
      fc.constantFrom('kubernetes.io/pv-protection', 'kubernetes.io/pv-controller', 'external-provisioner.volume.kubernetes.io/finalizer'),
    ),
    claimed: fc.constantFrom(undefined, '', 'gone'),
    there: fc.boolean(),
    intended: fc.boolean(),
  });

  it('needs no decision', () => {
    fc.assert(
      fc.property(volumes, ({ phase, policy, by, migratedTo, finalizers, claimed, there, intended }) => {
        const annotations = { ...(by === undefined ? {} : { [provisionedBy]: by }), ...(migratedTo === undefined ? {} : { [movedTo]: migratedTo }) };
        const claimRef = claimed === undefined ? {} : { claimRef: { ...reservedFor('data'), uid: claimed } };
        const volume = pv('vol', '1Gi', {
          metadata: { annotations, finalizers },
          spec: { persistentVolumeReclaimPolicy: policy, ...claimRef },
          status: { phase },
        });
        const intent = newIntent('vol', { operation: 'Delete', driver: 'd', volume: { name: 'vol', uid: 'u' }, source: {} });
        const given: Given = { ...(there ? { volume } : {}), ...(intended ? { intent } : {}) };
        if (!isSettled(snapshotOf(given))) return;
        expect(run(given)).toMatchObject({ actions: [] });
        expect(run(given).again).toBeUndefined();
      }),
      { numRuns: 300 },
    );
    expect(isSettled(snapshotOf({ volume: pv('vol', '1Gi', { status: { phase: 'Bound' } }) }))).toBe(true);
  });

  const [provisionedBy, movedTo] = ['pv.kubernetes.io/provisioned-by', 'pv.kubernetes.io/migrated-to'];
});
