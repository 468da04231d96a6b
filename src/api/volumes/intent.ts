/** Edits of VolumeIntents. The kind itself is api/kinds/mooring/volume-intent.ts. */
import { apiVersionOf } from '../kind.ts';
import { type IntentSpec, type VolumeIntent, volumeIntentKind } from '../kinds/mooring/volume-intent.ts';

export type {
  Asset,
  CreateIntentSpec,
  CreateRequest,
  DeleteIntentSpec,
  IntentClaim,
  ScrubIntentSpec,
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
}

/** The intent after an attempt that failed at `now`. */
export function afterFailure(intent: VolumeIntent, { message, final, inUse }: AttemptFailure, now: number): VolumeIntent {
  const attempts = (intent.status.attempts ?? 0) + 1;
  // With microseconds, as Kubernetes writes such times.
  const notBefore = new Date(now + delayBefore(attempts)).toISOString().replace('Z', '000Z');
  // An attempt with an unknown outcome may have created a volume that a later answer does not name: from then on the outcome stays unknown.
  // (What is false is not written at all.) Of what was refused everything is known.
  const isCertain = final && (intent.status.phase !== 'Failing' || intent.status.final === true);
  return { ...intent, status: { phase: 'Failing', attempts, message, final: isCertain, ...(inUse === true ? { inUse } : {}), notBefore } };
}

/**
 * When the next attempt may be made; undefined: at once. A wait that is longer than any backoff was written by a process
 * whose clock was ahead, and is ignored.
 */
export function waitsUntil({ status }: VolumeIntent, now: number): number | undefined {
  const at = status.notBefore === undefined ? Number.NaN : Date.parse(status.notBefore);
  return at > now && at - now <= delayBefore(status.attempts ?? 0) ? at : undefined;
}
