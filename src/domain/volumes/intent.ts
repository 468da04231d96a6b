import type { ObjectMeta, PersistentVolumeSource, TopologySelectorTerm, VolumeNodeAffinity } from '../../api/generated/types.ts';

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
}

export interface DeleteIntentSpec {
  readonly operation: 'Delete';
  readonly driver: string;
  readonly volume: IntentVolume;
  /** Where the asset is: enough to delete it even if somebody removed the PersistentVolume by force. */
  readonly source: PersistentVolumeSource;
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
export type IntentPhase = 'Pending' | 'Failing' | 'Created' | 'Refused' | 'Running' | 'Deleted';

export interface IntentStatus {
  readonly phase: IntentPhase;
  /** How many attempts failed, so far. */
  readonly attempts?: number;
  readonly message?: string;
  /** The failed attempt certainly left nothing behind. */
  readonly final?: boolean;
  /** It failed only because somebody still uses the asset: that is no error. */
  readonly inUse?: boolean;
  readonly notBefore?: string;
  readonly asset?: Asset;
  readonly podUID?: string;
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

export const intentKind = { group: 'mooring.dev', version: 'v1', kind: 'VolumeIntent', plural: 'volumeintents' } as const;

export function newIntent(volumeName: string, spec: IntentSpec): VolumeIntent {
  return { apiVersion: `${intentKind.group}/${intentKind.version}`, kind: intentKind.kind, metadata: { name: volumeName }, spec, status: { phase: 'Pending' } };
}

export const volumeNameOf = (intent: VolumeIntent): string => intent.metadata.name ?? '';

export type IntentOf<Spec extends IntentSpec> = VolumeIntent & { readonly spec: Spec };

export function isFor<Operation extends IntentSpec['operation']>(
  intent: VolumeIntent,
  operation: Operation,
): intent is IntentOf<Extract<IntentSpec, { readonly operation: Operation }>> {
  return intent.spec.operation === operation;
}

/** As Kubernetes spaces the attempts of an operation: half a second, doubled each time, two minutes at most. */
const firstDelayMs = 500;
const longestDelayMs = 122_000;

export const delayBefore = (attempts: number): number => Math.min(firstDelayMs * 2 ** Math.min(Math.max(attempts - 1, 0), 30), longestDelayMs);

export interface AttemptFailure {
  readonly message: string;
  /** Certainly nothing was left behind; otherwise it may have happened all the same. */
  readonly final: boolean;
  readonly inUse?: boolean;
}

/** The intent after an attempt that failed at `now`. */
export function afterFailure(intent: VolumeIntent, { message, final, inUse }: AttemptFailure, now: number): VolumeIntent {
  const attempts = (intent.status.attempts ?? 0) + 1;
  const notBefore = new Date(now + delayBefore(attempts)).toISOString();
  return { ...intent, status: { phase: 'Failing', attempts, message, final, ...(inUse === true ? { inUse } : {}), notBefore } };
}

/** When the next attempt may be made; undefined: at once. */
export function waitsUntil({ status }: VolumeIntent, now: number): number | undefined {
  const at = status.notBefore === undefined ? Number.NaN : Date.parse(status.notBefore);
  return at > now ? at : undefined;
}
