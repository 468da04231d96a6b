import type { NodeClaim, NodeClaimStatus } from '../api/kinds/karpenter/node-claim.ts';
import type { NodeClassRef } from '../api/kinds/karpenter/node-pool.ts';
import type { Requirements } from './requirements/requirements.ts';

/** The cloud, as the autoscaler uses it (Karpenter's cloudprovider.CloudProvider). No call rejects. */
export interface CloudProvider {
  /** What the cloud can launch for a class, as far as is known now; undefined: there is no such class, or it is not ready. */
  instanceTypes(ref: NodeClassRef): readonly InstanceType[] | undefined;
  /** The cheapest offering that meets the claim's requirements. The same claim (by uid) never has a second instance. */
  create(claim: NodeClaim): Promise<LaunchOutcome>;
  /** `terminating`: asked for, and not over yet. */
  delete(providerID: string): Promise<'terminating' | 'gone' | CloudFailure>;
  get(providerID: string): Promise<Instance | 'gone' | CloudFailure>;
  /** All that were launched for NodeClaims of this cluster, by its tags. */
  list(): Promise<readonly Instance[] | CloudFailure>;
  /** Why the instance is not what its class asks for now; undefined: it is. */
  isDrifted(claim: NodeClaim): string | undefined;
  /** Called whenever an instance appears, ends, or is lost. */
  onChange(listener: () => void): () => void;
}

export interface CloudFailure {
  readonly failed: string;
}

export const isFailure = (answer: unknown): answer is CloudFailure => typeof answer === 'object' && answer !== null && 'failed' in answer;

export type LaunchOutcome =
  | ({ readonly type: 'launched' } & Launched)
  /** The claim is given up: the next batch tries again, without what is exhausted. */
  | { readonly type: 'insufficientCapacity'; readonly message: string }
  | { readonly type: 'nodeClassNotReady'; readonly message: string }
  | { readonly type: 'failed'; readonly reason: string; readonly message: string };

export interface Launched extends Required<Pick<NodeClaimStatus, 'providerID' | 'imageID' | 'capacity' | 'allocatable'>> {
  readonly labels: Readonly<Record<string, string>>;
}

export interface Instance {
  readonly providerID: string;
  /** The NodeClaim that it was launched for. */
  readonly claim: string;
  readonly launchedAt: number;
}

export interface InstanceType {
  readonly name: string;
  /** The labels of its nodes, without zone and capacity type. */
  readonly requirements: Requirements;
  readonly offerings: readonly Offering[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** How many volumes of a CSI driver a node of this type can have; absent: any number. */
  readonly volumeLimits: Readonly<Record<string, number>>;
}

export interface Offering {
  readonly zone: string;
  readonly capacityType: 'spot' | 'on-demand' | 'reserved';
  /** US dollars an hour. */
  readonly price: number;
  readonly isAvailable: boolean;
}
