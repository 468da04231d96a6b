import type { CustomResourceDefinition } from '../../apiextensions/definition.ts';
import { ec2NodeClassDefinition } from './ec2-node-class.ts';
import { nodeClaimDefinition } from './node-claim.ts';
import { nodePoolDefinition } from './node-pool.ts';

/** Stored in a cluster with an autoscaler, unless it has definitions of these names already: those of the real Karpenter serve as well. */
export const karpenterDefinitions: readonly CustomResourceDefinition[] = [nodePoolDefinition, nodeClaimDefinition, ec2NodeClassDefinition];
