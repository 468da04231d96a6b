import type { Pod, Service, TopologySpreadConstraint } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import {
  type Labels,
  type LabelSelector,
  labelSelectorOf,
  matchesLabels,
  type Requirement,
  SelectorError,
  selectsEverything,
} from '../../api/selectors/label-selector.ts';
import type { ClusterSnapshot, NodeInfo, ObjectChange, PodInfo } from '../framework.ts';
import { RequiredNodeAffinity } from '../required-node-affinity.ts';
import { untolerated } from './taint-toleration.ts';

/** A parsed constraint. */
export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  readonly minDomains: number;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

export type Unsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway';

/** @throws SelectorError */
export function constraintsOf({ metadata, spec }: Pod, action: Unsatisfiable): readonly SpreadConstraint[] {
  return (spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
    .map((each) => readConstraint(each, metadata.labels));
}

function readConstraint(constraint: TopologySpreadConstraint, labels: Labels | undefined): SpreadConstraint {
  const { maxSkew, topologyKey, minDomains = 1, nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore', matchLabelKeys = [] } = constraint;
  const own = matchLabelKeys.flatMap((key) => (labels !== undefined && Object.hasOwn(labels, key) ? [equals(key, labels[key] ?? '')] : []));
  return {
    maxSkew,
    topologyKey,
    selector: withRequirements(labelSelectorOf(constraint.labelSelector), own),
    minDomains,
    honorsAffinity: nodeAffinityPolicy === 'Honor',
    honorsTaints: nodeTaintsPolicy === 'Honor',
  };
}

const equals = (key: string, value: string): Requirement => ({ key, operator: '=', values: [value] });

function withRequirements(selector: LabelSelector, more: readonly Requirement[]): LabelSelector {
  return selector.type === 'nothing' || more.length === 0 ? selector : { type: 'requirements', requirements: [...more, ...selector.requirements] };
}

/** The constraints of pods without any (defaultingType: System). */
const systemDefaults: readonly Omit<SpreadConstraint, 'selector'>[] = [
  { maxSkew: 3, topologyKey: 'kubernetes.io/hostname', minDomains: 1, honorsAffinity: true, honorsTaints: false },
  { maxSkew: 5, topologyKey: 'topology.kubernetes.io/zone', minDomains: 1, honorsAffinity: true, honorsTaints: false },
];

/** Services by namespace. */
export class ServiceIndex {
  readonly #byNamespace = new Map<string, Map<string, Service>>();

  observe({ before, after }: ObjectChange<Stored<Service>>): void {
    const { namespace = '', name } = (after ?? before).metadata;
    const services = this.#byNamespace.get(namespace) ?? new Map<string, Service>();
    if (after === undefined) services.delete(name);
    else services.set(name, after);
    if (services.size === 0) this.#byNamespace.delete(namespace);
    else this.#byNamespace.set(namespace, services);
  }

  /** The merged selectors of the services that select the pod. */
  labelsFor({ namespace, labels }: PodInfo): Labels {
    let merged: Labels = {};
    for (const { spec } of this.#byNamespace.get(namespace)?.values() ?? []) {
      if (spec.selector === undefined) continue;
      const selector: LabelSelector = { type: 'requirements', requirements: Object.entries(spec.selector).map(([key, value]) => equals(key, value)) };
      if (matchesLabels(selector, labels)) merged = { ...merged, ...spec.selector };
    }
    return merged;
  }
}

/** The system defaults, with the selectors of the pod's services and of its owner. */
export function defaultConstraints(pod: PodInfo, services: ServiceIndex, { views }: ClusterSnapshot): readonly SpreadConstraint[] {
  const requirements = Object.entries(services.labelsFor(pod)).map(([key, value]) => equals(key, value));
  const owner = pod.pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner !== undefined && owner.apiVersion === 'apps/v1') {
    const key = `${pod.namespace}/${owner.name}`;
    const set = owner.kind === 'ReplicaSet' ? views.replicaSet.getKey(key) : owner.kind === 'StatefulSet' ? views.statefulSet.getKey(key) : undefined;
    requirements.push(...requirementsOf(set?.spec.selector ?? undefined));
  }
  const selector: LabelSelector = { type: 'requirements', requirements };
  return selectsEverything(selector) ? [] : systemDefaults.map((each) => ({ ...each, selector }));
}

function requirementsOf(selector: Parameters<typeof labelSelectorOf>[0]): readonly Requirement[] {
  try {
    const read = labelSelectorOf(selector);
    return read.type === 'nothing' ? [] : read.requirements;
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

/** Which nodes a constraint counts: nodeAffinityPolicy and nodeTaintsPolicy. */
export class Eligibility {
  readonly #required: RequiredNodeAffinity;
  readonly #pod: Pod;

  constructor(pod: Pod) {
    this.#pod = pod;
    this.#required = new RequiredNodeAffinity(pod);
  }

  /** Whether every node counts, without a look at each. */
  countsAll({ honorsAffinity, honorsTaints }: SpreadConstraint): boolean {
    return !honorsTaints && (!honorsAffinity || this.#required.matchesEveryNode);
  }

  counts(node: NodeInfo, { honorsAffinity, honorsTaints }: SpreadConstraint): boolean {
    if (honorsAffinity && !this.#required.matches(node)) return false;
    return !honorsTaints || node.repellingTaints.length === 0 || untolerated(node.repellingTaints, this.#pod.spec.tolerations ?? []) === undefined;
  }
}

export const hasAllTopologyKeys = (labels: Labels | undefined, constraints: readonly SpreadConstraint[]): boolean =>
  constraints.every(({ topologyKey }) => labels !== undefined && Object.hasOwn(labels, topologyKey));
