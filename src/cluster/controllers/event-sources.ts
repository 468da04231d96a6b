import type { ControllerName } from '../access/controller-roles.ts';

/** The `source.component` of each controller's events, as in Kubernetes: clients filter by it. A controller that is missing here records none. */
export const eventSources = {
  'persistent-volume-binder': 'persistentvolume-controller',
  'attachdetach-controller': 'attachdetach-controller',
  'expand-controller': 'volume_expand',
  'snapshot-controller': 'snapshot-controller',
  'ephemeral-volume-controller': 'ephemeral_volume',
  'volume-data-source-validator': 'volume-data-source-validator',
  'generic-garbage-collector': 'garbage-collector-controller',
  'replicaset-controller': 'replicaset-controller',
  'replication-controller': 'replication-controller',
  'deployment-controller': 'deployment-controller',
  'statefulset-controller': 'statefulset-controller',
  'daemon-set-controller': 'daemonset-controller',
  'job-controller': 'job-controller',
  'cronjob-controller': 'cronjob-controller',
  'node-controller': 'node-controller',
  'taint-eviction-controller': 'taint-eviction-controller',
  'disruption-controller': 'controllermanager',
  'endpointslice-controller': 'endpoint-slice-controller',
  'endpoint-controller': 'endpoint-controller',
  'endpointslicemirroring-controller': 'endpoint-slice-mirroring-controller',
  karpenter: 'karpenter',
} as const satisfies Partial<Record<ControllerName, string>>;

export type EventfulController = keyof typeof eventSources;
