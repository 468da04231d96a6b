import type { Plugin } from '../framework.ts';
import { nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts';
import { dynamicResources } from './dynamic-resources.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { taintToleration } from './taint-toleration.ts';
import { podTopologySpread } from './pod-topology-spread.ts';

/** Kubernetes' default profile, in its order: a node's reported rejection is that of the first plugin. */
export const defaultPlugins = (volumes: readonly Plugin[]): readonly Plugin[] => [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  ...volumes,
  podTopologySpread(),
  interPodAffinity,
  dynamicResources,
  nodeResourcesBalancedAllocation,
];
