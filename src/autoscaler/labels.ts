/** Karpenter's names for labels, annotations, taints and the finalizer, and Kubernetes' labels of nodes. */
import type { Taint } from '../api/generated/types.ts';

export const labels = {
  nodePool: 'karpenter.sh/nodepool',
  capacityType: 'karpenter.sh/capacity-type',
  initialized: 'karpenter.sh/initialized',
  registered: 'karpenter.sh/registered',
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
  instanceType: 'node.kubernetes.io/instance-type',
  oldInstanceType: 'beta.kubernetes.io/instance-type',
  architecture: 'kubernetes.io/arch',
  operatingSystem: 'kubernetes.io/os',
  hostname: 'kubernetes.io/hostname',
} as const;

export const annotations = {
  doNotDisrupt: 'karpenter.sh/do-not-disrupt',
  nodePoolHash: 'karpenter.sh/nodepool-hash',
  nodePoolHashVersion: 'karpenter.sh/nodepool-hash-version',
  terminationTimestamp: 'karpenter.sh/nodeclaim-termination-timestamp',
} as const;

/** On Nodes and NodeClaims: neither goes before the instance. */
export const terminationFinalizer = 'karpenter.sh/termination';

export const unregisteredTaint: Taint = { key: 'karpenter.sh/unregistered', effect: 'NoExecute' };
export const disruptedTaint: Taint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };

/** Taints of a new node that go by themselves (KnownEphemeralTaints). */
export const ephemeralTaints: readonly Taint[] = [
  { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule', value: 'true' },
  unregisteredTaint,
];

/** Other labels for the zone of a node: volumes of the drivers name their zones by them (NormalizedLabels). */
export const zoneLabels: ReadonlySet<string> = new Set(['failure-domain.beta.kubernetes.io/zone', 'topology.ebs.csi.aws.com/zone', 'topology.gke.io/zone']);

const synonyms: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/region': labels.region,
  [labels.oldInstanceType]: labels.instanceType,
  'beta.kubernetes.io/arch': labels.architecture,
  'beta.kubernetes.io/os': labels.operatingSystem,
};

/** The label under which a requirement is compared. */
export const normalizedLabel = (key: string): string => (zoneLabels.has(key) ? labels.zone : (synonyms[key] ?? key));

const wellKnown: ReadonlySet<string> = new Set<string>([
  labels.nodePool,
  labels.capacityType,
  labels.zone,
  labels.region,
  labels.instanceType,
  labels.architecture,
  labels.operatingSystem,
  'node.kubernetes.io/windows-build',
  'topology.k8s.aws/zone-id',
]);

/** Labels that an instance has without a NodePool that says so. */
export const isWellKnown = (key: string): boolean => wellKnown.has(key) || key.startsWith('karpenter.k8s.aws/');
