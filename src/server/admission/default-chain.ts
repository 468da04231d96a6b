import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { Resources } from '../registry/resources.ts';
import { AdmissionChain } from './chain.ts';
import { certificateAdmission } from './certificates.ts';
import { ClusterReader } from './cluster-reader.ts';
import type { ConfiguredAdmission } from './configured.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { limitRanger } from './limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction/node-restriction.ts';
import { paramAccess } from './policies/param-access.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { nodeDeclaredFeatures, podResizeValidator } from './pod-resize.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priority } from './priority.ts';
import { resourceQuota } from './resource-quota/resource-quota.ts';
import { type AccessRules, roleEscalation } from './role-escalation.ts';
import { serviceAccount } from './service-account.ts';
import { type ServiceNetwork, serviceAllocation } from './service-allocation.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';

export interface Dependencies {
  readonly store: Store;
  readonly world: World;
  readonly network: ServiceNetwork;
  readonly access: AccessRules | undefined;
  /** Absent: nobody has a say beside the server. */
  readonly configured?: ConfiguredAdmission;
}

/** The plugins of a Kubernetes API server that clients see, in its order: quotas come last, when nothing changes any more. */
export function defaultChain(resources: Resources, deps: Dependencies): AdmissionChain {
  const reader = new ClusterReader(deps.store);
  const early = [
    namespaceLifecycle(resources),
    limitRanger(resources, reader),
    serviceAccount(resources, deps),
    nodeRestriction(resources, reader, deps.access?.authorizer),
    priority(resources, reader),
    defaultTolerationSeconds,
    defaultStorageClass(resources, reader),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(resources, reader),
    ...certificateAdmission(deps.access?.authorizer),
    podTopologyLabels(resources, reader),
    nodeDeclaredFeatures(resources, reader),
    podResizeValidator(resources, reader),
  ];
  return new AdmissionChain([
    ...early,
    ...(deps.configured === undefined ? [] : [deps.configured.mutating(early)]),
    serviceAllocation(deps.network, deps),
    ...(deps.configured === undefined ? [] : [deps.configured.validating()]),
    resourceQuota(resources, deps),
    ...(deps.access === undefined ? [] : [roleEscalation(deps.access), paramAccess({ authorizer: deps.access.authorizer, resources, reader })]),
  ]);
}
