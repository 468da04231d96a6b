import type { PolicyRule } from '../../../api/generated/types.ts';
import { events, read, readWrite, rule, urls, write } from './rule-text.ts';

/**
 * Kubernetes' roles for people (v1.36): what the administrator may do, and what `admin`, `edit` and `view` are put together
 * from. They speak of resources that are not served here, for the day when a custom resource, or a later version, serves them.
 */
export const userRoles: Readonly<Record<string, readonly PolicyRule[]>> = {
  'cluster-admin': [rule('*', '*', '*'), urls('*', '*')],
  'system:aggregate-to-admin': [
    rule('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
    rule(readWrite, 'rbac.authorization.k8s.io', 'rolebindings roles'),
  ],
  'system:aggregate-to-edit': [
    rule(read, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
    rule('impersonate', '', 'serviceaccounts'),
    rule(write, '', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
    rule('create', '', 'pods/eviction'),
    rule(write, '', 'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy'),
    rule('create', '', 'serviceaccounts/token'),
    rule(write, events, 'events'),
    rule(write, 'apps', 'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale'),
    rule(write, 'autoscaling', 'horizontalpodautoscalers'),
    rule(write, 'batch', 'cronjobs jobs'),
    rule(
      write,
      'extensions',
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
    ),
    rule(write, 'policy', 'poddisruptionbudgets'),
    rule(write, 'networking.k8s.io', 'ingresses networkpolicies'),
    rule(readWrite, 'coordination.k8s.io', 'leases'),
    rule(write, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates'),
  ],
  'system:aggregate-to-view': [
    rule(
      read,
      '',
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
    ),
    rule(read, '', 'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status'),
    rule(read, '', 'namespaces'),
    rule(read, events, 'events'),
    rule(read, 'discovery.k8s.io', 'endpointslices'),
    rule(
      read,
      'apps',
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
    ),
    rule(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
    rule(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
    rule(
      read,
      'extensions',
      'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
    ),
    rule(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
    rule(read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
    rule(read, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
  ],
};
