import type { Raw } from './try-kind.ts';

/** The least that is accepted of each kind of workload, for tests. By type in the schema. */

export const podSpec = { containers: [{ name: 'main', image: 'nginx' }] };
const template = { metadata: { labels: { app: 'web' } }, spec: podSpec };
const selected = { selector: { matchLabels: { app: 'web' } }, template };
const job = { template: { spec: { ...podSpec, restartPolicy: 'Never' } } };

export const workloadSamples: Readonly<Record<string, Raw>> = {
  Pod: { metadata: { name: 'web' }, spec: podSpec },
  PodTemplate: { metadata: { name: 'web' }, template },
  ControllerRevision: { metadata: { name: 'web-1' }, data: { spec: {} }, revision: 1 },
  DaemonSet: { metadata: { name: 'web' }, spec: selected },
  Deployment: { metadata: { name: 'web' }, spec: selected },
  ReplicaSet: { metadata: { name: 'web' }, spec: selected },
  ReplicationController: { metadata: { name: 'web' }, spec: { selector: { app: 'web' }, template } },
  StatefulSet: { metadata: { name: 'web' }, spec: selected },
  CronJob: { metadata: { name: 'nightly' }, spec: { schedule: '0 1 * * *', jobTemplate: { spec: job } } },
  Job: { metadata: { name: 'once' }, spec: job },
};
