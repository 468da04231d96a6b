/**
 * What a storage backend does, with the calls and the semantics of CSI 1.12: every call may be repeated with the same
 * arguments and then changes nothing, and a failure has one of CSI's codes. A call stands here once something makes it.
 *
 *     create    CreateVolume     by name: the same name is the same volume
 *     delete    DeleteVolume     by handle: what is not there is deleted
 *     list      ListVolumes      for the audit
 *
 * Still to come, each with its first caller: publish, unpublish, expand, snapshot (controller); stage, publish, unstage,
 * unpublish, stats (node); and `scrub`, which CSI does not have: until nodes run pods, a pod does it as in Kubernetes.
 */
import type { PersistentVolumeSource } from '../api/generated/types.ts';
import type { DriverFacts } from '../domain/volumes/driver-facts.ts';
import type { Asset, CreateRequest } from '../domain/volumes/intent.ts';

export interface VolumeDriver {
  readonly facts: DriverFacts;
  create(request: CreateVolumeRequest): Promise<DriverAnswer<Asset>>;
  delete(handle: string): Promise<DriverAnswer<undefined>>;
  /** The handles of all that was made for this cluster. */
  list(): Promise<DriverAnswer<readonly string[]>>;
  /** The handle that a volume of this name has, or would have; undefined: only `create` tells. */
  handleFor(name: string): string | undefined;
  /** The handle of the volume that a PersistentVolume describes so; undefined: it is none of this driver's. */
  handleOf(source: PersistentVolumeSource): string | undefined;
}

export interface CreateVolumeRequest extends CreateRequest {
  /** Chosen by who asks. */
  readonly name: string;
}

export type DriverAnswer<T> = { readonly ok: true; readonly value: T } | DriverFailure;

export interface DriverFailure {
  readonly ok: false;
  readonly code: DriverErrorCode;
  readonly message: string;
}

/** The codes of gRPC that CSI gives a meaning. */
export type DriverErrorCode =
  | 'Canceled'
  | 'Unknown'
  | 'InvalidArgument'
  | 'DeadlineExceeded'
  | 'NotFound'
  | 'AlreadyExists'
  | 'PermissionDenied'
  | 'ResourceExhausted'
  | 'FailedPrecondition'
  | 'Aborted'
  | 'OutOfRange'
  | 'Unimplemented'
  | 'Internal'
  | 'Unavailable'
  | 'Unauthenticated';

export const failed = (code: DriverErrorCode, message: string): DriverFailure => ({ ok: false, code, message });

/** After these nobody knows whether it happened: it may even be happening still. */
const undecided: ReadonlySet<DriverErrorCode> = new Set(['Canceled', 'Unknown', 'DeadlineExceeded', 'ResourceExhausted', 'Aborted', 'Unavailable']);

/** Whether the call that failed so certainly left nothing behind. */
export const isFinal = (code: DriverErrorCode): boolean => !undecided.has(code);
