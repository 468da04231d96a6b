import type { Affinity, CronJob, DaemonSet, Deployment, Job, Pod, PodTemplateSpec } from '../../api/generated/types.ts';
import { type Kind, untypedKind } from '../../api/kind.ts';
import { daemonSetKind } from '../../api/kinds/apps/daemon-set.ts';
import { deploymentKind } from '../../api/kinds/apps/deployment.ts';
import { cronJobKind } from '../../api/kinds/batch/cron-job.ts';
import { jobKind } from '../../api/kinds/batch/job.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { podDisruptionBudgetKind } from '../../api/kinds/policy/pod-disruption-budget.ts';
import type { Draft } from '../../client/client.ts';
import type { UserRequests } from './perform-namespace-action.ts';
import type { ConfigChoice, Placement, WorkloadAction, WorkloadKind } from './plan/workload-actions.ts';

const ref = (name: string) => ({ namespace: 'default', name });

const taint = { key: 'example.com/maintenance', value: 'yes', effect: 'NoSchedule' };

/** Performs what users do to workloads. */
export async function performWorkloadAction(action: WorkloadAction, requests: UserRequests): Promise<string> {
  switch (action.do) {
    case 'create-daemon-set':
      return requests.create(daemonSetKind, daemonSet(action));
    case 'create-server':
      return requests.create(deploymentKind, server(action));
    case 'create-job':
      return requests.create(jobKind, { metadata: ref(action.name), spec: jobSpec(action) });
    case 'create-cron-job':
      return requests.create(cronJobKind, cronJob(action));
    case 'suspend-cron-job':
      return requests.change(cronJobKind, ref(action.name), (found) => ({ ...found, spec: { ...found.spec, suspend: action.suspended } }));
    case 'create-budget':
      return requests.create(podDisruptionBudgetKind, { metadata: ref(action.name), spec: { minAvailable: action.least, selector: selecting(action.name) } });
    case 'create-config-map':
      return requests.create(configMapKind, { metadata: ref(action.name), data: Object.fromEntries(action.keys.map((key) => [key, 'value'])) });
    case 'update-workload':
      if (action.kind === 'DaemonSet') return requests.change(daemonSetKind, ref(action.name), (found) => ofVersion(found, action.version));
      return requests.change(deploymentKind, ref(action.name), (found) => ofVersion(found, action.version));
    case 'scale-server':
      return requests.change(deploymentKind, ref(action.name), (found) => ({ ...found, spec: { ...found.spec, replicas: action.replicas } }));
    case 'delete-workload':
      return requests.delete(kinds[action.kind], ref(action.name), action.propagation);
    case 'touch-workload':
      return requests.change(kinds[action.kind], ref(action.name), (found) => found);
    case 'taint':
    case 'untaint':
      return requests.change(nodeKind, { name: action.node }, (node) => {
        const others = (node.spec.taints ?? []).filter(({ key }) => key !== taint.key);
        return { ...node, spec: { ...node.spec, taints: action.do === 'taint' ? [...others, taint] : others } };
      });
  }
}

const kinds: Readonly<Record<WorkloadKind, Kind>> = {
  DaemonSet: untypedKind(daemonSetKind),
  Deployment: untypedKind(deploymentKind),
  Job: untypedKind(jobKind),
  CronJob: untypedKind(cronJobKind),
  PodDisruptionBudget: untypedKind(podDisruptionBudgetKind),
  ConfigMap: untypedKind(configMapKind),
};

const selecting = (app: string) => ({ matchLabels: { app } });

function template(app: string, spec: Draft<Pod['spec']> = {}): Draft<PodTemplateSpec> {
  return { metadata: { labels: { app } }, spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image: 'app' }], ...spec } };
}

const withVersion = (found: PodTemplateSpec, version: number): PodTemplateSpec => ({
  ...found,
  metadata: { ...found.metadata, annotations: { ...found.metadata?.annotations, version: String(version) } },
});

function ofVersion<T extends DaemonSet | Deployment>(found: T, version: number): T {
  return { ...found, spec: { ...found.spec, template: withVersion(found.spec.template, version) } };
}

const daemonSet = ({ name, keeps }: Extract<WorkloadAction, { do: 'create-daemon-set' }>): Draft<DaemonSet> => ({
  metadata: ref(name),
  spec: { selector: selecting(name), template: template(name), revisionHistoryLimit: keeps },
});

const server = ({ name, replicas, placement, config }: Extract<WorkloadAction, { do: 'create-server' }>): Draft<Deployment> => ({
  metadata: ref(name),
  spec: {
    replicas,
    selector: selecting(name),
    // A pod that has to be apart from the others gets its place only when one of them has gone.
    ...(placement === 'apart' ? { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } : {}),
    template: template(name, { ...placed(name, placement), ...(config === undefined ? {} : configured(config)) }),
  },
});

function placed(app: string, placement: Placement): Draft<Pod['spec']> {
  const term = { labelSelector: selecting(app), topologyKey: 'kubernetes.io/hostname' };
  const affinity: Record<Placement, Affinity | undefined> = {
    any: undefined,
    apart: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    together: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: term }] } },
    spread: undefined,
  };
  if (placement === 'spread')
    return {
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: selecting(app) }],
    };
  return affinity[placement] === undefined ? {} : { affinity: affinity[placement] };
}

const configured = ({ map, key, optional }: ConfigChoice): Draft<Pod['spec']> => ({
  volumes: [{ name: 'settings', configMap: { name: map, items: [{ key, path: key }], optional } }],
  containers: [{ name: 'app', image: 'app', volumeMounts: [{ name: 'settings', mountPath: '/settings' }] }],
});

const jobSpec = ({
  name,
  completions,
  parallelism,
}: Pick<Extract<WorkloadAction, { do: 'create-job' }>, 'name' | 'completions' | 'parallelism'>): Draft<Job['spec']> => ({
  completions,
  parallelism,
  backoffLimit: 20,
  template: template(name, { restartPolicy: 'Never', containers: [{ name: 'app', image: 'app', command: ['task'] }] }),
});

const cronJob = ({ name, suspended }: Extract<WorkloadAction, { do: 'create-cron-job' }>): Draft<CronJob> => ({
  metadata: ref(name),
  spec: { schedule: '* * * * *', suspend: suspended, jobTemplate: { spec: jobSpec({ name, completions: 1, parallelism: 1 }) } },
});
