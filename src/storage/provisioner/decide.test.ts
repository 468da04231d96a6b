import { describe, expect, it } from 'vitest';
import { hostPathDriver } from '../../../test/storage/fake-backend.ts';
import { pv, pvc, storageClass, uidOf } from '../../../test/storage/objects.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts';
import { readClaim } from '../volumes/claim.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { afterFailure, type Asset, delayBefore, isFor, newIntent, type VolumeIntent } from '../../api/volumes/intent.ts';
import { readVolume } from '../volumes/volume.ts';
import { afterCreated, afterRefused, beforeAttempt, type CreateIntent, provisionedVolume } from './actions.ts';
import { decide, type ProvisionerSnapshot } from './decide.ts';

interface Given {
  readonly claim?: PersistentVolumeClaim;
  readonly storageClass?: StorageClass;
  readonly volumes?: readonly PersistentVolume[];
  readonly intents?: readonly VolumeIntent[];
  readonly drivers?: readonly DriverCapabilities[];
  readonly nodes?: readonly string[];
  readonly isAsked?: boolean;
  readonly bindsTogether?: boolean;
}

const csiDriver: DriverCapabilities = { ...hostPathDriver, name: 'csi.example.com', mountOptions: true, block: true };
const dynamic = storageClass('class', { provisioner: 'kubernetes.io/host-path' });
const claim = pvc('data', '1Gi');
const asset: Asset = { handle: '/tmp/x', capacity: '1Gi', source: { hostPath: { path: '/tmp/x' } } };

function run(
  {
    claim: object,
    storageClass: given = dynamic,
    volumes = [],
    intents = [],
    drivers = [hostPathDriver],
    nodes = [],
    isAsked = false,
    bindsTogether = false,
  }: Given,
  now = 0,
) {
  const snapshot: ProvisionerSnapshot = {
    lastEvent: () => undefined,
    bindsTogether,
    volume: (name) => volumes.map(readVolume).find((volume) => volume.name === name),
    class: (name) => (given.metadata.name === name ? given : undefined),
    bestFit: () => undefined,
    hasNode: (name) => nodes.includes(name),
    driver: (name) => drivers.find((driver) => driver.name === name),
  };
  return decide(
    {
      claim: object === undefined ? undefined : readClaim(object),
      intents: intents.flatMap((intent) => (isFor(intent, 'Create') ? [intent] : [])),
      snapshot,
      isAsked: () => isAsked,
    },
    now,
  );
}

/** The intent that is written down for a claim. */
function begun(given: Given = { claim }): CreateIntent {
  const created = run(given).actions.find((action) => action.do === 'create');
  if (created?.do !== 'create' || created.object.kind !== 'VolumeIntent' || !isFor(created.object as VolumeIntent, 'Create'))
    throw new Error('nothing was begun');
  return created.object as CreateIntent;
}

describe('a claim whose volume is created bound', () => {
  const csi = { topology: false, clones: false, restores: false, modifies: false, reportsCapacity: false };
  const given: Given = { claim, storageClass: storageClass('class', { provisioner: csiDriver.name }), drivers: [csiDriver], bindsTogether: true };
  const mark = { do: 'update', object: { metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': csiDriver.name } } } };
  const begunAt = (seconds: number): CreateIntent => {
    const intent = begun(given);
    return { ...intent, metadata: { ...intent.metadata, creationTimestamp: new Date(seconds * 1000).toISOString() } };
  };

  it('is marked for its provisioner when it is bound, and not before, if the driver is behind a socket', () => {
    const drivers = [{ ...csiDriver, csi }];
    expect(run({ ...given, drivers, bindsTogether: false }).actions).toMatchObject([mark, { do: 'recordEvent' }, { do: 'create' }]);
    expect(run(given).actions).toMatchObject([mark, { do: 'recordEvent' }, { do: 'create' }]);
    expect(run({ ...given, drivers }).actions).toMatchObject([{ do: 'create', object: { kind: 'VolumeIntent' } }]);
  });

  it('is marked meanwhile, with an event, if the driver takes long', () => {
    const intents = [begunAt(10)];
    expect(run({ ...given, intents, isAsked: true }, 11_000)).toMatchObject({ actions: [], again: 12_000 });
    expect(run({ ...given, intents, isAsked: true }, 12_000).actions).toMatchObject([
      mark,
      { do: 'recordEvent', event: { type: 'Normal', reason: 'ExternalProvisioning' } },
    ]);
  });

  it('is marked when the driver has failed, and when the volume was not bound by its creation', () => {
    const failing = afterFailure(begunAt(10), { message: 'no room', final: false }, 10_000) as CreateIntent;
    expect(run({ ...given, intents: [failing] }, 10_001).actions).toMatchObject([mark]);
    const published = provisionedVolume(begunAt(10), asset);
    expect(run({ ...given, intents: [begunAt(10)], volumes: [published] }, 10_001).actions).toMatchObject([
      mark,
      { do: 'recordEvent', event: { reason: 'ProvisioningSucceeded' } },
      { do: 'delete' },
    ]);
  });
});

describe('a claim that needs a volume', () => {
  it('is annotated first, then the intent is created', () => {
    expect(run({ claim }).actions).toMatchObject([
      {
        do: 'update',
        object: {
          metadata: {
            annotations: {
              'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path',
              'volume.beta.kubernetes.io/storage-provisioner': 'kubernetes.io/host-path',
            },
          },
        },
      },
      {
        do: 'create',
        object: { kind: 'VolumeIntent', metadata: { name: `pvc-${uidOf('pvc', 'data')}` }, spec: { operation: 'Create' }, status: { phase: 'Pending' } },
      },
    ]);
  });

  it('has everything in its intent that the driver and the volume need', () => {
    const rich = storageClass('class', {
      provisioner: 'kubernetes.io/host-path',
      parameters: { type: 'io1' },
      reclaimPolicy: 'Retain',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
    });
    expect(begun({ claim, storageClass: rich }).spec).toEqual({
      operation: 'Create',
      driver: 'kubernetes.io/host-path',
      claimRef: { namespace: 'default', name: 'data', uid: uidOf('pvc', 'data') },
      request: {
        capacity: '1Gi',
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Filesystem',
        storageClassName: 'class',
        reclaimPolicy: 'Retain',
        parameters: { type: 'io1' },
        allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
      },
    });
  });

  it('names in its intent the revision of the claim that was decided about', () => {
    const written = { ...claim, metadata: { ...claim.metadata, resourceVersion: '7' } };
    expect(begun({ claim: written }).spec.claimRef).toMatchObject({ resourceVersion: '7' });
  });

  it('asks the driver, creates the volume, records an event, and deletes the intent', () => {
    const intent = begun();
    expect(run({ claim, intents: [intent] }).actions).toEqual([{ do: 'createAsset', intent }]);
    const created = afterCreated(intent, asset);
    const [publish] = run({ claim, intents: [created] }).actions;
    expect(publish).toMatchObject({ do: 'publishVolume', volume: { metadata: { name: `pvc-${uidOf('pvc', 'data')}` } } });
    const volume = provisionedVolume(intent, asset);
    expect(run({ claim, intents: [created], volumes: [volume] }).actions).toMatchObject([
      { do: 'recordEvent', event: { reason: 'ProvisioningSucceeded' } },
      { do: 'delete' },
    ]);
  });

  it('deletes the intent also if its volume lost its claimRef before the next pass: the claim got another one', () => {
    const intent = begun();
    const created = afterCreated(intent, asset);
    const made = provisionedVolume(intent, asset);
    const { uid: _uid, ...byName } = made.spec.claimRef ?? {};
    for (const claimRef of [byName, undefined]) {
      const taken = { ...made, spec: { ...made.spec, claimRef } } as PersistentVolume;
      expect(run({ claim, intents: [created], volumes: [taken] }).actions).toMatchObject([{ do: 'recordEvent' }, { do: 'delete' }]);
    }
    const anothers = pv(made.metadata.name ?? '', '1Gi');
    expect(run({ claim, intents: [created], volumes: [anothers] }).actions).toMatchObject([{ do: 'publishVolume' }]);
  });

  it('is left alone while a volume of its name exists', () => {
    expect(run({ claim, volumes: [pv(`pvc-${uidOf('pvc', 'data')}`, '1Mi')] }).actions).toEqual([]);
  });

  it('is left alone while its selector is invalid: the class came after it, so the binder did not decide first', () => {
    const unreadable = pvc('data', '1Gi', { spec: { selector: { matchExpressions: [{ key: 'tier', operator: 'Near' }] } } });
    expect(run({ claim: unreadable })).toMatchObject({ actions: [], reasons: [{ code: 'NothingToProvision', next: 'none' }] });
  });
});

describe('a provisioned volume', () => {
  it('is labelled with where it is', () => {
    const zone = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } };
    expect(provisionedVolume(begun(), { ...asset, nodeAffinity })).toMatchObject({
      metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } },
      spec: { nodeAffinity },
    });
    expect(provisionedVolume(begun(), asset).metadata.labels).toBeUndefined();
  });

  it('has a claimRef, the finalizer of its provisioner, and bound-by-controller', () => {
    expect(provisionedVolume(begun(), asset)).toMatchObject({
      metadata: {
        annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path', 'pv.kubernetes.io/bound-by-controller': 'yes' },
        finalizers: ['kubernetes.io/pv-controller'],
      },
      spec: {
        claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'default', name: 'data', uid: uidOf('pvc', 'data') },
        persistentVolumeReclaimPolicy: 'Delete',
      },
    });
  });

  it('of a CSI driver looks as its external provisioner would make it', () => {
    const given: Given = {
      claim: pvc('data', '1Gi', { spec: { volumeMode: 'Block', volumeAttributesClassName: 'gold' } }),
      storageClass: storageClass('class', { provisioner: 'csi.example.com', mountOptions: ['ro'] }),
      drivers: [csiDriver],
    };
    expect(run(given).actions).toMatchObject([{ do: 'update' }, { do: 'recordEvent', event: { reason: 'ExternalProvisioning' } }, { do: 'create' }]);
    const volume = provisionedVolume(begun(given), { ...asset, source: { csi: { driver: 'csi.example.com', volumeHandle: 'x' } } });
    expect(volume.metadata).toEqual({
      name: `pvc-${uidOf('pvc', 'data')}`,
      annotations: { 'pv.kubernetes.io/provisioned-by': 'csi.example.com' },
      finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'],
    });
    expect(volume.spec).toMatchObject({ mountOptions: ['ro'], volumeMode: 'Block', volumeAttributesClassName: 'gold' });
  });
});

describe('a driver that failed', () => {
  const failed = (final: boolean, intent = begun()) => afterFailure(intent, { message: 'no', final }, 0);

  it('is asked again later each time, for ever', () => {
    expect([1, 2, 3, 4, 9, 10, 100].map(delayBefore)).toEqual([500, 1000, 2000, 4000, 122_000, 122_000, 122_000]);
    const intent = failed(true);
    expect(run({ claim, intents: [intent] }, 499)).toMatchObject({ actions: [], again: 500 });
    expect(run({ claim, intents: [intent] }, 500).actions).toEqual([{ do: 'createAsset', intent }]);
  });

  it('and is being asked again has failed so far', () => {
    const intent = beforeAttempt(failed(true) as CreateIntent);
    expect(intent.status).toEqual({ phase: 'Pending', attempts: 1, message: 'no' });
    const { actions, reasons } = run({ claim, intents: [intent] });
    expect(actions).toEqual([{ do: 'createAsset', intent }]);
    expect(reasons).toMatchObject([{ code: 'ProvisioningFailed', text: 'no' }]);
  });

  it('and may have created the asset is asked until it succeeds, though the claim is gone', () => {
    const intent = failed(false);
    expect(run({ intents: [intent] }, 500).actions).toEqual([{ do: 'createAsset', intent }]);
  });

  it('for good is not asked again for a claim that is gone', () => {
    expect(run({ intents: [failed(true)] }).actions).toMatchObject([{ do: 'delete' }]);
  });

  it('for good is not asked the same again once the class has changed', () => {
    const intent = failed(true);
    const other = storageClass('class', { provisioner: 'kubernetes.io/host-path', reclaimPolicy: 'Retain' });
    expect(run({ claim, storageClass: other, intents: [intent] }).actions).toEqual([{ do: 'delete', object: intent, ifUnchanged: true }]);
  });

  it('clears the selected node before the intent is deleted', () => {
    const chosen = pvc('data', '1Gi', { metadata: { name: 'data', annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } });
    const given: Given = { claim: chosen, storageClass: { ...dynamic, volumeBindingMode: 'WaitForFirstConsumer' }, nodes: ['n1'] };
    const { actions } = run({ ...given, intents: [failed(true, begun(given))] });
    expect(actions.map((action) => action.do)).toEqual(['update', 'delete']);
    expect(actions[0]).toMatchObject({ object: { metadata: { name: 'data' } } });
    expect(actions[0]?.do === 'update' && actions[0].object.metadata.annotations).toBeUndefined();
  });
});

describe('a claim whose chosen node is gone', () => {
  const chosen = pvc('data', '1Gi', { metadata: { name: 'data', annotations: { 'volume.kubernetes.io/selected-node': 'gone' } } });
  const driver = { ...hostPathDriver, name: 'disks.example.com' };
  const waits = { ...dynamic, volumeBindingMode: 'WaitForFirstConsumer' };

  it('is given back to the scheduler by a CSI driver, as external provisioners do', () => {
    const { actions } = run({ claim: chosen, storageClass: { ...waits, provisioner: driver.name }, drivers: [driver] });
    const [update] = actions;
    expect(update?.do === 'update' && update.object.metadata.annotations?.['volume.kubernetes.io/selected-node']).toBeUndefined();
    expect(actions.flatMap((action) => (action.do === 'recordEvent' ? action.event.message : []))).toEqual(['node "gone" not found']);
  });

  it('waits for it with an in-tree plugin (v1.36.4)', () => {
    const { actions } = run({ claim: chosen, storageClass: waits });
    expect(
      actions.flatMap((action) => (action.do === 'update' ? (action.object.metadata.annotations?.['volume.kubernetes.io/selected-node'] ?? []) : [])),
    ).toEqual(['gone']);
    expect(actions.flatMap((action) => (action.do === 'recordEvent' ? action.event.message : []))).toEqual([
      'Failed to get target node: node "gone" not found',
    ]);
  });
});

describe('a volume that the API refused', () => {
  const refused = afterRefused(begun(), asset, 'no');

  it('has its asset deleted', () => {
    expect(run({ claim, intents: [refused] }).actions).toEqual([{ do: 'deleteAsset', intent: refused, asset }]);
  });
});

describe('a claim that was annotated with a migrated in-tree plugin', () => {
  const marked = (more: Record<string, string>) =>
    pvc('data', '1Gi', { metadata: { name: 'data', annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/gce-pd', ...more } } });

  it('gets the migrated-to annotation', () => {
    expect(run({ claim: marked({}) }).actions).toMatchObject([
      { do: 'update', object: { metadata: { annotations: { 'pv.kubernetes.io/migrated-to': 'pd.csi.storage.gke.io' } } } },
    ]);
  });

  it('does not get it twice', () => {
    const done = pvc('data', '1Gi', {
      metadata: {
        name: 'data',
        annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/gce-pd', 'pv.kubernetes.io/migrated-to': 'pd.csi.storage.gke.io' },
      },
      spec: { volumeName: 'vol' },
    });
    expect(run({ claim: done }).actions).toEqual([]);
  });
});

it('several intents of claims of one name are all continued', () => {
  const [first, second] = [
    begun({ claim: pvc('data', '1Gi', { metadata: { name: 'data', uid: 'first' } }) }),
    begun({ claim: pvc('data', '1Gi', { metadata: { name: 'data', uid: 'second' } }) }),
  ];
  const { actions } = run({ claim, intents: [first, second] });
  expect(actions.map((action) => action.do)).toEqual(['createAsset', 'createAsset', 'update', 'create']);
});

it('an intent of another operation is left alone', () => {
  expect(run({ intents: [newIntent('vol', { operation: 'Scrub', volume: { name: 'vol', uid: 'u' } })] }).actions).toEqual([]);
});

describe('an intent for which a driver is being asked', () => {
  it('stays: what the driver may be making would have no owner', () => {
    const failing = afterFailure(begun(), { message: 'no', final: true }, 0);
    expect(run({ intents: [failing] }, 1e9).actions).toMatchObject([{ do: 'delete' }]);
    expect(run({ intents: [failing], isAsked: true }, 1e9).actions).toEqual([]);
    const volumes = [provisionedVolume(begun(), asset)];
    expect(run({ claim, intents: [begun()], volumes }).actions.map((action) => action.do)).toContain('delete');
    expect(run({ claim, intents: [begun()], volumes, isAsked: true }).actions).toEqual([]);
  });
});
