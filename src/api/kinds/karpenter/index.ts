import type { CustomResourceDefinition } from '../../apiextensions/definition.ts';
import { type Kind, untypedKind } from '../../kind.ts';
import { ec2NodeClassDefinition, ec2NodeClassKind } from './ec2-node-class.ts';
import { nodeClaimDefinition, nodeClaimKind } from './node-claim.ts';
import { nodePoolDefinition, nodePoolKind } from './node-pool.ts';

/** Stored in a cluster with an autoscaler, unless it has definitions of these names already: those of the real Karpenter serve as well. */
export const karpenterDefinitions: readonly CustomResourceDefinition[] = [nodePoolDefinition, nodeClaimDefinition, ec2NodeClassDefinition];

/** As typed kinds. */
export const karpenterKinds: readonly Kind[] = [untypedKind(nodePoolKind), untypedKind(nodeClaimKind), untypedKind(ec2NodeClassKind)];
