/** What the users of a cloud world create. */
import type { Deployment, PersistentVolumeClaim, PodDisruptionBudget, StatefulSet, StorageClass } from '../../api/generated/types.ts';
import type { EC2NodeClass } from '../../api/kinds/karpenter/ec2-node-class.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import type { Draft } from '../../client/client.ts';
import { ebsDriverName } from '../../drivers/aws-ebs/driver.ts';
import { type PoolPlan, storageClasses, type WorkloadPlan } from './plan.ts';

const namespace = 'default';
const zoneKey = 'topology.kubernetes.io/zone';

export const classObjects = (): readonly Draft<StorageClass>[] =>
  Object.entries(storageClasses).map(([name, { zones, binding }]) => ({
    metadata: { name },
    provisioner: ebsDriverName,
    volumeBindingMode: binding,
    ...(zones.length === 0 ? {} : { allowedTopologies: [{ matchLabelExpressions: [{ key: zoneKey, values: [...zones] }] }] }),
  }));

export const nodeClassObject: Draft<EC2NodeClass> = {
  metadata: { name: 'default' },
  spec: {
    role: 'karpenter-node',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'test' } }],
    securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'test' } }],
  },
};

export function poolObject({ consolidateAfter, capacityTypes, families, expireAfter }: PoolPlan): Draft<NodePool> {
  const requirements = [
    { key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: [...capacityTypes] },
    ...(families.length === 0 ? [] : [{ key: 'karpenter.k8s.aws/instance-family', operator: 'In' as const, values: [...families] }]),
  ];
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  return {
    metadata: { name: 'default' },
    spec: {
      disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter, budgets: [{ nodes: '50%' }] },
      template: { spec: { nodeClassRef, requirements, ...(expireAfter === undefined ? {} : { expireAfter }) } },
    },
  };
}

const claimSpec = (storageClassName: string): Draft<PersistentVolumeClaim['spec']> => ({
  storageClassName,
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '4Gi' } },
});

/** `mounted`: volumes that no container mounts are not waited for. */
const templateOf = ({ name, cpu, spreads }: WorkloadPlan, mounted: readonly string[]) => ({
  metadata: { labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 5,
    containers: [
      { name: 'app', image: 'app', resources: { requests: { cpu } }, volumeMounts: mounted.map((each) => ({ name: each, mountPath: `/data/${each}` })) },
    ],
    ...(spreads
      ? {
          topologySpreadConstraints: [{ maxSkew: 2, topologyKey: zoneKey, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: { app: name } } }],
        }
      : {}),
  },
});

export function setObject(plan: WorkloadPlan): Draft<StatefulSet> {
  const { name, replicas, volumes, storageClass } = plan;
  const claims = Array.from({ length: volumes }, (_, i) => `d${i}`);
  return {
    metadata: { namespace, name },
    spec: {
      serviceName: name,
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: name } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
      template: templateOf(plan, claims),
      volumeClaimTemplates: claims.map((claim) => ({ metadata: { name: claim }, spec: claimSpec(storageClass) })),
    },
  };
}

/** The claim of a Deployment whose pods share it. */
export const sharedClaim = ({ name, storageClass }: WorkloadPlan): Draft<PersistentVolumeClaim> => ({
  metadata: { namespace, name },
  spec: claimSpec(storageClass),
});

export function deploymentObject(plan: WorkloadPlan): Draft<Deployment> {
  const { name, kind, replicas } = plan;
  const { metadata, spec } = templateOf(plan, kind === 'shared' ? ['data'] : []);
  const volumes = kind === 'shared' ? [{ name: 'data', persistentVolumeClaim: { claimName: name } }] : [];
  return {
    metadata: { namespace, name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: { metadata, spec: { ...spec, volumes } } },
  };
}

export const budgetObject = ({ name }: WorkloadPlan): Draft<PodDisruptionBudget> => ({
  metadata: { namespace, name },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } } },
});
