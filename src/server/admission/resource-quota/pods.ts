import type { Container, Pod, PodAffinityTerm, ScopedResourceSelectorRequirement } from '../../../api/generated/types.ts';
import { podLimits, podRequests } from '../../../api/kinds/workloads/pod-resources.ts';
import { qosClassOf } from '../../../api/kinds/workloads/qos.ts';
import type { Quantity } from '../../../api/quantity.ts';
import type { Resource } from '../../registry/resources.ts';
import { countName, type Evaluator, one } from './evaluator.ts';
import { matchesScopeValue } from './scopes.ts';
import { parseUsage, type Usage } from './usage.ts';

const computeResources = ['cpu', 'memory', 'ephemeral-storage'] as const;

/** What every container must state if it is limited, since a quota could not be kept otherwise. */
const mustBeStated: ReadonlySet<string> = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

const names: ReadonlySet<string> = new Set(['pods', ...computeResources.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])]);

/** Pods count while they run or may run: those that ended use nothing but their place in the store. */
export function podEvaluator(resource: Resource): Evaluator {
  const count = countName(resource);
  return {
    handles: (operation, subresource) => (subresource === '' ? operation === 'create' : subresource === 'resize' && operation === 'update'),
    covers: (name) => name === count || names.has(name) || isHugePages(name) || isExtendedRequest(name),
    usage: (object, now) => {
      const pod = object as Pod;
      const stored: [string, Quantity][] = [[count, one]];
      return new Map(isOver(pod, now) ? stored : [...stored, ...computeUsage(podRequests(pod), podLimits(pod))]);
    },
    matchesScope: (requirement, object) => matchesPodScope(requirement, object as Pod),
    missing: (limited, object) => unstated(limited, object as Pod),
  };
}

const isHugePages = (name: string): boolean => name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');

/** 'requests.example.com/gpu'. */
function isExtendedRequest(name: string): boolean {
  if (!name.startsWith('requests.')) return false;
  const domain = name.slice('requests.'.length).split('/', 2);
  return domain.length === 2 && domain[0] !== 'kubernetes.io' && domain[0]?.endsWith('.kubernetes.io') !== true;
}

function isOver({ metadata, status }: Pod, now: number): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function computeUsage(requests: Usage, limits: Usage): [string, Quantity][] {
  const used: [string, Quantity][] = [['pods', one]];
  for (const [name, amount] of requests) {
    if ((computeResources as readonly string[]).includes(name) || name.startsWith('hugepages-')) used.push([name, amount], [`requests.${name}`, amount]);
    else if (name.includes('/')) used.push([`requests.${name}`, amount]);
  }
  for (const [name, amount] of limits) if ((computeResources as readonly string[]).includes(name)) used.push([`limits.${name}`, amount]);
  return used;
}

function unstated(limited: readonly string[], { spec }: Pod): string | undefined {
  const required = limited.filter((name) => mustBeStated.has(name)).sort();
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const complaints = required.flatMap((name) => {
    const silent = containers.filter((container) => !states(container, name)).map((container) => container.name);
    return silent.length === 0 ? [] : [`${name} for: ${[...new Set(silent)].sort().join(',')}`];
  });
  return complaints.length === 0 ? undefined : `must specify ${complaints.sort().join('; ')}`;
}

const states = ({ resources }: Container, name: string): boolean =>
  computeUsage(parseUsage(resources.requests), parseUsage(resources.limits)).some(([stated]) => stated === name);

function matchesPodScope(requirement: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return (pod.spec.activeDeadlineSeconds ?? -1) >= 0;
    case 'NotTerminating':
      return (pod.spec.activeDeadlineSeconds ?? -1) < 0;
    case 'BestEffort':
      return qosClassOf(pod) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(pod) !== 'BestEffort';
    case 'PriorityClass':
      return matchesScopeValue(requirement, pod.spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return affinityTerms(pod).some((term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined);
    default:
      return false;
  }
}

function affinityTerms({ spec: { affinity } }: Pod): PodAffinityTerm[] {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((rules) => [
    ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((weighted) => weighted.podAffinityTerm),
  ]);
}
