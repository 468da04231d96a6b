/** Whether the autoscaler launches a node for a pod, where and of which type, and what would change that. */
import type { Pod } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { compareQuantities } from '../../api/quantity.ts';
import type { Stored } from '../../api/stored.ts';
import { tolerationsFor } from '../../api/taints.ts';
import { alternativesOf } from '../../autoscaler/provisioning/pod-alternatives.ts';
import { requirementsOfPool } from '../../autoscaler/requirements/pool-requirements.ts';
import {
  areCompatible,
  combined,
  conflictOf,
  expressionsOf,
  type Requirements,
  requirementsOf,
  requirementsOfLabels,
} from '../../autoscaler/requirements/requirements.ts';
import type { Candidate, Diagnosis, Fix, Refusal } from '../explanation/explanation.ts';
import { listed } from '../explanation/words.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const typeLabel = 'node.kubernetes.io/instance-type';
const capacityLabel = 'karpenter.sh/capacity-type';

/** Undefined: there is no NodePool. */
export function launchOf(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis | undefined {
  const pools = graph.nodePools.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (pools.length === 0) return undefined;
  const demand = alternativesOf(pod, {
    claim: { getKey: (key) => graph.claim(key)?.object },
    volume: { getKey: (name) => graph.volume(name)?.object },
    storageClass: { getKey: (name) => graph.class(name) },
  });
  if (demand.type === 'refused')
    return {
      verdict: 'stuck',
      code: 'NoNodeHelps',
      summary: `No node can run the pod, and the autoscaler launches none: ${demand.message}.`,
      next: { who: 'you', does: 'change that; then the autoscaler plans again' },
    };
  const { alternatives } = demand;
  const [onItsWay] = graph.nodeClaims.filter((claim) => isInFlight(claim) && alternatives.some((each) => areCompatible(requirementsOfClaim(claim), each)));
  if (onItsWay !== undefined) return launching(onItsWay);
  const candidates = pools.map((pool) => candidateOf(pool, pod, alternatives));
  return candidates.some(({ refusals }) => refusals.length === 0) ? planned(candidates, alternatives) : refused(candidates);
}

const isTrue = ({ status }: NodeClaim, type: string): boolean => status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false;
const isInFlight = (claim: Stored<NodeClaim>): boolean => claim.metadata.deletionTimestamp === undefined && !isTrue(claim, 'Initialized');
const requirementsOfClaim = ({ metadata, spec }: NodeClaim): Requirements => combined(requirementsOf(spec.requirements), requirementsOfLabels(metadata.labels));

function launching(claim: Stored<NodeClaim>): Diagnosis {
  return {
    verdict: 'waiting',
    code: 'NodeLaunching',
    summary: `A node that fits is on its way: nodeclaim/${claim.metadata.name} (${shapeOf(claim)}). ${progressOf(claim)}`,
    next: { who: 'the autoscaler', does: 'brings the node up; then the scheduler places the pod' },
  };
}

/** 'm5.large, spot, in eu-west-2b', or what it still may become. */
function shapeOf({ metadata: { labels }, spec }: NodeClaim): string {
  const { [typeLabel]: type, [capacityLabel]: capacity, [zoneLabel]: zone } = labels ?? {};
  if (type !== undefined) return [type, capacity ?? '', `in ${zone ?? ''}`].join(', ');
  const values = (key: string) => spec.requirements.find((each) => each.key === key)?.values ?? [];
  const zones = values(zoneLabel);
  return `one of ${values(typeLabel).length} instance types${zones.length === 0 ? '' : ` in ${zones.join(' or ')}`}`;
}

function progressOf(claim: NodeClaim): string {
  const waiting = ['Launched', 'Registered', 'Initialized'].find((type) => !isTrue(claim, type));
  const message = claim.status?.conditions?.find(({ type }) => type === waiting)?.message ?? '';
  if (waiting === 'Launched') return `The cloud has launched no instance for it yet${message === '' ? '' : `: ${message}`}.`;
  if (waiting === 'Registered') return 'Its instance is launched, and has not joined the cluster yet.';
  return `Its node, ${claim.status?.nodeName ?? ''}, is not initialized${message === '' ? '' : `: ${message}`}.`;
}

function candidateOf(pool: Stored<NodePool>, pod: Pod, alternatives: readonly Requirements[]): Candidate {
  return {
    name: `nodepool/${pool.metadata.name}`,
    traits: [],
    refusals: [...notReady(pool), ...untolerated(pool, pod), ...conflicting(pool, alternatives), ...exhausted(pool)],
  };
}

function notReady({ status, spec }: NodePool): readonly Refusal[] {
  const condition = status?.conditions?.find(({ type }) => type === 'NodeClassReady');
  const { kind, name } = spec.template.spec.nodeClassRef;
  return condition?.status === 'False' ? [{ rule: 'nodeClass', text: `names ${kind} ${name}, which is not ready`, wanted: `${kind} ${name}` }] : [];
}

function untolerated({ spec }: NodePool, { spec: { tolerations = [] } }: Pod): readonly Refusal[] {
  const taints = (spec.template.spec.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  const taint = taints.find((each) => tolerationsFor([each], tolerations) === undefined);
  return taint === undefined
    ? []
    : [{ rule: 'taint', text: `gives its nodes the taint ${taint.key}:${taint.effect}, which the pod does not tolerate`, wanted: 'a toleration' }];
}

function conflicting(pool: NodePool, alternatives: readonly Requirements[]): readonly Refusal[] {
  const offered = requirementsOfPool(pool);
  const conflicts = alternatives.map((wanted) => conflictOf(offered, wanted));
  if (conflicts.includes(undefined)) return [];
  return [
    { rule: 'requirements', text: `does not allow what the pod needs: ${conflicts[0] ?? ''}`, wanted: 'other requirements of the NodePool, or of the pod' },
  ];
}

function exhausted({ spec: { limits = {} }, status }: NodePool): readonly Refusal[] {
  return Object.entries(limits).flatMap(([name, limit]) => {
    const used = status?.resources?.[name];
    if (used === undefined || compareQuantities(used, String(limit)) < 0) return [];
    return [{ rule: 'limits', text: `has ${used} ${name}, and its limit is ${String(limit)}`, wanted: `a higher limit of ${name}` }];
  });
}

function planned(candidates: readonly Candidate[], alternatives: readonly Requirements[]): Diagnosis {
  const names = listed(candidates.filter(({ refusals }) => refusals.length === 0).map(({ name }) => name));
  const zones = new Set(alternatives.flatMap((each) => expressionsOf(each).flatMap(({ key, values }) => (key === zoneLabel ? (values ?? []) : []))));
  const where = zones.size === 0 ? '' : ` in ${[...zones].join(' or ')}`;
  return {
    verdict: 'waiting',
    code: 'NodePlanned',
    summary: `No node fits, and ${names} can have one launched${where}. If none comes, no instance type is large enough or the cloud has no capacity${where}: the event FailedScheduling of karpenter names it.`,
    candidates,
    next: { who: 'the autoscaler', does: 'launches a node' },
  };
}

function refused(candidates: readonly Candidate[]): Diagnosis {
  const reasons = candidates.map(({ name, refusals }) => `${name} ${refusals[0]?.text ?? ''}`);
  const fixes: readonly Fix[] = candidates.map(({ name, refusals }) => ({
    text: `${name} needs ${refusals.map(({ wanted }) => wanted ?? '').join(', and ')}`,
    commands: [`kubectl edit ${name}`],
  }));
  return {
    verdict: 'stuck',
    code: 'NoNodePoolFits',
    summary: `No node fits, and the autoscaler launches none: ${reasons.join('; ')}.`,
    candidates,
    fixes,
    next: { who: 'an administrator', does: 'changes a NodePool; then the autoscaler plans again' },
  };
}
