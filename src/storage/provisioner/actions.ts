import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { annotations, finalizers } from '../../api/volumes/annotations.ts';
import type { VolumeSnapshot } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { Claim } from '../volumes/claim.ts';
import type { ObjectWrite, RecordEvent } from '../../client/decision.ts';
import {
  afterFailure,
  type Asset,
  type AttemptFailure,
  type CreateIntentSpec,
  type IntentOf,
  type VolumeIntent,
  volumeNameOf,
} from '../../api/volumes/intent.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';
import { topologyLabelsOf } from '../volumes/topology.ts';

/** All actions of the provisioner. */
export type ProvisionerAction =
  | ObjectWrite<PersistentVolumeClaim>
  | ObjectWrite<VolumeSnapshot>
  | ObjectWrite<VolumeIntent>
  | CreateAsset
  | PublishVolume
  | DeleteAsset
  | RecordEvent;

export type CreateIntent = IntentOf<CreateIntentSpec>;

/** Asks the driver, and writes the answer into the intent: `afterCreated`, or `afterFailure`, with an event. */
export interface CreateAsset {
  readonly do: 'createAsset';
  readonly intent: CreateIntent;
}

/** Creates the PersistentVolume, unless it exists. If the server rejects it for good, the intent says so: `afterRefused`. */
export interface PublishVolume {
  readonly do: 'publishVolume';
  readonly intent: CreateIntent;
  readonly volume: PersistentVolume;
}

/** Deletes an asset without a PersistentVolume. The answer is written into the intent: `afterDeleted`, or `afterCleanupFailed`. */
export interface DeleteAsset {
  readonly do: 'deleteAsset';
  readonly intent: CreateIntent;
  readonly asset: Asset;
}

/** 'pvc-<uid>': the same for every attempt. */
export const provisionedName = ({ uid }: Claim): string => `pvc-${uid}`;

/** The PersistentVolume of an asset, with a claimRef to the claim that it was provisioned for. */
export function provisionedVolume(intent: CreateIntent, asset: Asset): PersistentVolume {
  const { driver, claimRef, request } = intent.spec;
  const inTree = isInTree(driver);
  const labels = topologyLabelsOf(asset.nodeAffinity);
  const finalizer = inTree ? finalizers.inTreeProvisioner : finalizers.externalProvisioner;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeNameOf(intent),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      annotations: { ...asset.annotations, ...(inTree ? { [annotations.boundByController]: 'yes' } : {}), [annotations.provisionedBy]: driver },
      ...(request.reclaimPolicy === 'Delete' ? { finalizers: [finalizer] } : {}),
    },
    spec: {
      ...asset.source,
      capacity: { storage: asset.capacity },
      accessModes: [...request.accessModes],
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...claimRef },
      persistentVolumeReclaimPolicy: request.reclaimPolicy,
      storageClassName: request.storageClassName,
      volumeMode: request.volumeMode,
      ...(request.mountOptions === undefined ? {} : { mountOptions: [...request.mountOptions] }),
      ...(asset.nodeAffinity === undefined ? {} : { nodeAffinity: asset.nodeAffinity }),
      ...(request.volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName: request.volumeAttributesClassName }),
    },
    status: {},
  };
}

/** The intent while the driver is asked again after a failure that certainly left nothing behind: now it may leave something. */
export const beforeAttempt = (intent: CreateIntent): VolumeIntent => {
  const { attempts, message } = intent.status;
  return { ...intent, status: { phase: 'Pending', ...(attempts === undefined ? {} : { attempts }), ...(message === undefined ? {} : { message }) } };
};

export const afterCreated = (intent: CreateIntent, asset: Asset): VolumeIntent => ({ ...intent, status: { phase: 'Created', asset } });

export const afterRefused = (intent: CreateIntent, asset: Asset, message: string): VolumeIntent => ({
  ...intent,
  status: { phase: 'Refused', asset, message },
});

/** The asset is deleted; later it is created once more. */
export const afterDeleted = (intent: CreateIntent, now: number): VolumeIntent =>
  afterFailure(intent, { message: intent.status.message ?? '', final: true }, now);

/** The asset is still there: the deletion is tried again, and `moor audit` lists it meanwhile. */
export function afterCleanupFailed(intent: CreateIntent, failure: AttemptFailure, now: number): VolumeIntent {
  const { status } = afterFailure(intent, failure, now);
  return { ...intent, status: { ...status, phase: 'Refused', ...(intent.status.asset === undefined ? {} : { asset: intent.status.asset }) } };
}
