import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Resources } from '../objects/resources.ts';
import { AdmissionChain } from './chain.ts';
import { certificateAdmission } from './plugins/certificates.ts';
import { ClusterReader } from '../objects/cluster-reader.ts';
import type { DynamicAdmission } from './dynamic-admission.ts';
import { defaultStorageClass } from './plugins/default-storage-class.ts';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { nodeRestriction } from './plugins/node-restriction/node-restriction.ts';
import { paramAccess } from './policies/param-access.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { nodeDeclaredFeatures, podResizeValidator } from './plugins/pod-resize.ts';
import { podTopologyLabels } from './plugins/pod-topology-labels.ts';
import { podSecurity } from './plugins/pod-security/pod-security.ts';
import type { PodSecurityConfiguration } from './plugins/pod-security/configuration.ts';
import { priority } from './plugins/priority.ts';
import { resourceQuota } from './plugins/resource-quota/resource-quota.ts';
import { recyclerPods } from './plugins/recycler-pods.ts';
import { type AccessRules, roleEscalation } from './plugins/role-escalation.ts';
import { runtimeClass } from './plugins/runtime-class.ts';
import { serviceAccount } from './plugins/service-account.ts';
import { type ServiceNetwork, serviceAllocation } from './plugins/service-allocation.ts';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';

export interface AdmissionContext {
  readonly store: Store;
  readonly world: World;
  readonly network: ServiceNetwork;
  readonly access: AccessRules | undefined;
  /** Absent: no webhooks and policies. */
  readonly dynamic?: DynamicAdmission;
  readonly metrics: Metrics;
  /** Absent: namespaces without labels are privileged, and nothing is exempt. */
  readonly podSecurity?: PodSecurityConfiguration | undefined;
  /** Plugins that are left out, by their names, as kube-apiserver's --disable-admission-plugins. */
  readonly disabled?: readonly string[] | undefined;
}

/** The plugins in kube-apiserver's order (pkg/kubeapiserver/options/plugins.go): ResourceQuota comes last, after all mutations. */
export function orderedPlugins(resources: Resources, deps: AdmissionContext): AdmissionChain {
  const reader = new ClusterReader(deps.store);
  const early = [
    namespaceLifecycle(resources),
    limitRanger(resources, reader),
    serviceAccount(resources, deps),
    nodeRestriction(resources, reader, deps.access?.authorizer),
    podSecurity(resources, reader, { world: deps.world, metrics: deps.metrics, configuration: deps.podSecurity }),
    priority(resources, reader),
    defaultTolerationSeconds,
    defaultStorageClass(resources, reader),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(resources, reader),
    runtimeClass(resources, reader),
    ...certificateAdmission(deps.access?.authorizer),
    podTopologyLabels(resources, reader),
    nodeDeclaredFeatures(resources, reader),
    podResizeValidator(resources, reader),
    recyclerPods,
  ].filter(({ name }) => deps.disabled?.includes(name) !== true);
  return new AdmissionChain([
    ...early,
    ...(deps.dynamic === undefined ? [] : [deps.dynamic.mutating(early)]),
    serviceAllocation(deps.network, { ...deps, resources, reader }),
    ...(deps.dynamic === undefined ? [] : [deps.dynamic.validating()]),
    resourceQuota(resources, deps),
    ...(deps.access === undefined ? [] : [roleEscalation(deps.access), paramAccess({ authorizer: deps.access.authorizer, resources, reader })]),
  ]);
}
