/** Edits of VolumeIntents. The kind itself is api/kinds/mooring/volume-intent.ts. */
import { apiVersionOf } from '../kind.ts';
import { annotations } from './annotations.ts';
import { type IntentSpec, type SecretName, type VolumeIntent, volumeIntentKind } from '../kinds/mooring/volume-intent.ts';

export type {
  AccessibilityRequirements,
  Asset,
  ContentSource,
  CreateIntentSpec,
  CreateRequest,
  CsiCreateRequest,
  CsiSecrets,
  DeleteIntentSpec,
  IntentClaim,
  ScrubIntentSpec,
  SecretName,
  Topology,
  TopologySegments,
  VolumeIntent,
} from '../kinds/mooring/volume-intent.ts';

export function newIntent(volumeName: string, spec: IntentSpec): VolumeIntent {
  return { apiVersion: apiVersionOf(volumeIntentKind), kind: volumeIntentKind.kind, metadata: { name: volumeName }, spec, status: { phase: 'Pending' } };
}

export const volumeNameOf = (intent: VolumeIntent): string => intent.metadata.name ?? '';

export type IntentOf<Spec extends IntentSpec> = VolumeIntent & { readonly spec: Spec };

export function isFor<Operation extends IntentSpec['operation']>(
  intent: VolumeIntent,
  operation: Operation,
): intent is IntentOf<Extract<IntentSpec, { readonly operation: Operation }>> {
  return intent.spec.operation === operation;
}

/** Kubernetes' backoff of volume operations: half a second, doubled each time, two minutes at most. */
const firstDelayMs = 500;
const longestDelayMs = 122_000;

export const delayBefore = (attempts: number): number => Math.min(firstDelayMs * 2 ** Math.min(Math.max(attempts - 1, 0), 30), longestDelayMs);

export interface AttemptFailure {
  readonly message: string;
  /** The operation certainly had no effect; otherwise it may have had one. */
  readonly final: boolean;
  readonly inUse?: boolean;
  /** Of a driver with topology: whether another node may do. Absent: it may, after every final failure. */
  readonly reschedule?: boolean;
}

/** The intent after an attempt that failed at `now`. */
export function afterFailure(intent: VolumeIntent, { message, final, inUse, reschedule }: AttemptFailure, now: number): VolumeIntent {
  const attempts = (intent.status.attempts ?? 0) + 1;
  // With microseconds, as Kubernetes writes such times.
  const notBefore = new Date(now + delayBefore(attempts)).toISOString().replace('Z', '000Z');
  // An attempt with an unknown outcome may have created a volume that a later answer does not name: from then on the outcome stays unknown.
  // (What is false is not written at all.) Of what was refused everything is known.
  const isCertain = final && (intent.status.phase !== 'Failing' || intent.status.final === true);
  return {
    ...intent,
    status: {
      phase: 'Failing',
      attempts,
      message,
      final: isCertain,
      ...(inUse === true ? { inUse } : {}),
      ...(reschedule === undefined ? {} : { reschedule }),
      notBefore,
    },
  };
}

/**
 * When the next attempt may be made; undefined: at once. A wait that is longer than any backoff was written by a process
 * whose clock was ahead, and is ignored. `answersSince`: a driver
 * that came back after the failure is asked at once.
 */
export function waitsUntil({ status }: VolumeIntent, now: number, answersSince?: number): number | undefined {
  const at = status.notBefore === undefined ? Number.NaN : Date.parse(status.notBefore);
  const delay = delayBefore(status.attempts ?? 0);
  return at > now && at - now <= delay && !cameBackSince(at - delay, now, answersSince) ? at : undefined;
}

/**
 * Whether the driver came back after a failure: its backoff is over. One that fails in the moment of its return is not asked again at once, and again. A return in the future was before the clock
 * was set back, and is ignored.
 */
export const cameBackSince = (failedAt: number, now: number, answersSince = -Infinity): boolean => failedAt < answersSince && answersSince <= now;

/** The Secret with which a CSI volume is deleted, from the annotations of its PersistentVolume. */
export function deletionSecretOf(given: Readonly<Record<string, string>> | undefined): SecretName | undefined {
  const [name = '', namespace = ''] = [given?.[annotations.deletionSecretName], given?.[annotations.deletionSecretNamespace]];
  return name === '' || namespace === '' ? undefined : { namespace, name };
}
