import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { ObjectMeta, PersistentVolumeSource, TopologySelectorTerm, VolumeNodeAffinity } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, integerColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

/**
 * What is about to be done to a volume outside the API, written down before it is done: creating its asset, deleting it,
 * scrubbing it. The intent has the volume's name, so at most one thing is done to a volume at a time, and a process that
 * starts anew finds out from the intents what was under way.
 *
 *     a claim needs a volume   → create VolumeIntent pvc-<uid>  Pending
 *     the driver is asked      → the same                       Created, with the asset       ← crash: asked again, by the same name
 *     PersistentVolume created → delete the intent                                            ← crash: it exists already, which is fine
 *
 * Every asset is thus reachable from an intent or from a PersistentVolume, at every moment.
 */
export interface VolumeIntent {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: IntentSpec;
  status: IntentStatus;
}

export type IntentSpec = CreateIntentSpec | DeleteIntentSpec | ScrubIntentSpec;

export interface CreateIntentSpec {
  readonly operation: 'Create';
  readonly driver: string;
  readonly claimRef: IntentClaim;
  /** All that the driver is asked, and all that the PersistentVolume will say: the class may be gone by then. */
  readonly request: CreateRequest;
}

export interface IntentClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

export interface CreateRequest {
  readonly capacity: string;
  readonly accessModes: readonly string[];
  readonly volumeMode: string;
  readonly storageClassName: string;
  readonly reclaimPolicy: string;
  readonly volumeAttributesClassName?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly mountOptions?: readonly string[];
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
  /** The node that the scheduler chose for the pod that waits. */
  readonly selectedNode?: string;
  /** What the volume is filled with; a driver that cannot do that fails. Undefined: it is empty. */
  readonly source?: ContentSource;
  /** Of a CSI driver. */
  readonly csi?: CsiCreateRequest;
}

/** What CSI's CreateVolume and the PersistentVolume have beyond the above. Every attempt has the same, even if the nodes change meanwhile. */
export interface CsiCreateRequest {
  /** '': the driver chooses. */
  readonly fsType: string;
  /** The Secret of each call about the volume, by name: its data is read when the call is made. */
  readonly secrets: CsiSecrets;
  readonly accessibilityRequirements?: AccessibilityRequirements;
  /** The parameters of the VolumeAttributesClass. */
  readonly mutableParameters?: Readonly<Record<string, string>>;
  /** The volume is attached read-only. */
  readonly readOnly?: boolean;
}

export interface CsiSecrets {
  readonly provisioner?: SecretName;
  readonly controllerPublish?: SecretName;
  readonly nodeStage?: SecretName;
  readonly nodePublish?: SecretName;
  readonly controllerExpand?: SecretName;
  readonly nodeExpand?: SecretName;
  readonly controllerModify?: SecretName;
}

export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** CSI's TopologyRequirement: alternatives of topology segments. */
export interface AccessibilityRequirements {
  readonly requisite: readonly Topology[];
  readonly preferred: readonly Topology[];
}

export interface Topology {
  readonly segments: TopologySegments;
}

export type TopologySegments = Readonly<Record<string, string>>;

/** CSI's VolumeContentSource: a volume or a snapshot of the same driver. */
export interface ContentSource {
  readonly type: 'volume' | 'snapshot';
  readonly handle: string;
}

export interface DeleteIntentSpec {
  readonly operation: 'Delete';
  readonly driver: string;
  readonly volume: IntentVolume;
  /** Where the asset is: enough to delete it even if the PersistentVolume was removed by force. */
  readonly source: PersistentVolumeSource;
  /** The Secret of the call, by name. */
  readonly secret?: SecretName;
}

export interface ScrubIntentSpec {
  readonly operation: 'Scrub';
  readonly volume: IntentVolume;
}

export interface IntentVolume {
  readonly name: string;
  readonly uid: string;
}

/**
 * - `Pending`: nothing is known yet; whatever was asked of the driver may have happened
 * - `Failing`: the last attempt failed; the next one is not before `notBefore`
 * - `Created`: the asset exists, see `asset`
 * - `Refused`: the asset exists, but the API did not take the PersistentVolume; see `message`
 * - `Running`: the scrubber is the pod with `podUID`
 * - `Deleted`: the asset is gone
 */
export type IntentPhase = (typeof phases)[number];

const phases = ['Pending', 'Failing', 'Created', 'Refused', 'Running', 'Deleted'] as const;

export interface IntentStatus {
  readonly phase: IntentPhase;
  /** How many attempts failed, so far. */
  readonly attempts?: number;
  readonly message?: string;
  /** The failed attempt certainly left nothing behind. */
  readonly final?: boolean;
  /** It failed only because the asset is still in use: that is no error. */
  readonly inUse?: boolean;
  /** Another node may do: the scheduler selects again. */
  readonly reschedule?: boolean;
  readonly notBefore?: string;
  readonly asset?: Asset;
  readonly podUID?: string;
  /** The spec of that pod as the server created it: canonical JSON, without the node. A pod whose spec was changed since proves nothing. */
  readonly podSpec?: string;
}

/** What a driver made, and how a PersistentVolume describes it. */
export interface Asset {
  /** The driver's own name for it. */
  readonly handle: string;
  readonly capacity: string;
  readonly source: PersistentVolumeSource;
  readonly nodeAffinity?: VolumeNodeAffinity;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What each operation cannot be carried out without. */
const requiredFields = {
  Create: ['driver', 'claimRef', 'request'],
  Delete: ['driver', 'volume', 'source'],
  Scrub: ['volume'],
} as const;

/** Intents are written by controllers; whatever else arrives must at least be of a shape that they can read. */
function validate({ spec, status }: VolumeIntent): FieldError[] {
  const fields: readonly string[] | undefined = Object.hasOwn(requiredFields, spec.operation) ? requiredFields[spec.operation] : undefined;
  if (fields === undefined) return [notSupported('spec.operation', spec.operation, Object.keys(requiredFields))];
  const given = new Map<string, unknown>(Object.entries(spec));
  return [
    ...fields.filter((field) => !given.has(field)).map((field) => required(`spec.${field}`)),
    ...(phases.includes(status.phase) ? [] : [notSupported('status.phase', status.phase, phases)]),
  ];
}

/** What was intended stays; only what came of it changes. */
function validateUpdate({ spec }: VolumeIntent, old: VolumeIntent): FieldError[] {
  return semanticallyEqual(spec, old.spec) ? [] : [invalid('spec', spec, 'field is immutable')];
}

function defaults(intent: VolumeIntent): void {
  if ((intent.status as Partial<IntentStatus>).phase === undefined) intent.status = { ...intent.status, phase: 'Pending' };
}

export const volumeIntentKind: Kind<VolumeIntent> = {
  group: 'mooring.dev',
  version: 'v1',
  kind: 'VolumeIntent',
  plural: 'volumeintents',
  singular: 'volumeintent',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'VolumeIntent',
  storage: { resource: 'mooring.dev/volumeintents' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  validate,
  validateUpdate,
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Operation', ({ spec }) => spec.operation),
    textColumn('Phase', ({ status }) => status.phase),
    integerColumn('Attempts', ({ status }) => status.attempts ?? 0),
    wideColumn('Message', ({ status }) => status.message ?? ''),
    ageColumn,
  ],
};
