import type { CSIStorageCapacity } from '../../api/generated/types.ts';
import type { TopologySegments } from '../../api/volumes/intent.ts';
import type { Decision, ObjectWrite } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';

/** All actions of the capacity controller. */
export type CsiCapacityAction = ObjectWrite<CSIStorageCapacity> | GetCapacities;

/** Asks the driver, one question after the other, and remembers its answers. */
export interface GetCapacities {
  readonly do: 'getCapacities';
  readonly driver: string;
  readonly questions: readonly CapacityQuestion[];
}

export interface CapacityQuestion {
  /** Of the CSIStorageCapacity. */
  readonly name: string;
  readonly storageClassName: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Undefined: the driver has no topology. */
  readonly topology: TopologySegments | undefined;
}

/** The driver's last answer to a question. Lost with the process: then it is asked again. */
export interface CapacityAnswer {
  /** When it was asked. */
  readonly at: number;
  /** How often it failed since it last answered. */
  readonly failures: number;
  /** The last one that it gave, in bytes. */
  readonly capacity?: { readonly available: bigint; readonly maximumVolumeSize?: bigint };
}

export type CsiCapacityDecision = Decision<CsiCapacityAction, VolumeReason>;
