import type { Container, Pod, PodAffinityTerm, ScopedResourceSelectorRequirement } from '../generated/types.ts';
import { isPodLevelResource, podLimits, podRequests } from '../kinds/pod/pod-resources.ts';
import { qosClassOf } from '../kinds/pod/qos.ts';
import type { Quantity } from '../quantity.ts';
import { isExtendedResource, isHugePages, isNativeResource } from '../validation/resources.ts';
import { countName, type Evaluator } from './evaluator.ts';
import { withResizes } from './resized-pods.ts';
import { matchesScopeValue } from './scopes.ts';
import { one, parseUsage, type Usage } from './usage.ts';

const count = countName({ group: '', plural: 'pods' });
const computeResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
const names: ReadonlySet<string> = new Set([count, 'pods', ...computeResources.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])]);

/** The resources that every container must set if they are limited. */
const mustBeStated: ReadonlySet<string> = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

/** Devices by device class. */
const deviceClassPrefix = 'deviceclass.resource.kubernetes.io/';

/** Pods count while they run or may run: pods that ended count only as objects. */
export const podEvaluator: Evaluator = {
  covers: (name) => names.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-') || isExtendedRequest(name),
  usage: (object, now) => usageOf(object as Pod, now),
  endsAt: (object) => givenUpAt(object as Pod),
  matchesScope: (requirement, object) => matchesPodScope(requirement, object as Pod),
  scopeChanged: (before, after) => isTerminating(before as Pod) !== isTerminating(after as Pod),
  missing: (limited, object) => unstated(limited, object as Pod),
};

/** 'requests.example.com/gpu'. */
const isExtendedRequest = (name: string): boolean =>
  name.startsWith('requests.') && (!isNativeResource(name) || name.startsWith(`requests.${deviceClassPrefix}`));

function usageOf(pod: Pod, now: number): Usage {
  if (isOver(pod, now)) return new Map([[count, one]]);
  const running = withResizes(pod);
  return new Map([[count, one], ...computeUsage(podRequests(running), podLimits(running))]);
}

function isOver(pod: Pod, now: number): boolean {
  if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') return true;
  const givenUp = givenUpAt(pod);
  return givenUp !== undefined && now > givenUp;
}

/** A pod whose grace period is over but whose node is lost must not keep others from taking its place. */
function givenUpAt({ metadata: { deletionTimestamp, deletionGracePeriodSeconds } }: Pod): number | undefined {
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return undefined;
  return Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function computeUsage(requests: Usage, limits: Usage): [string, Quantity][] {
  const used: [string, Quantity][] = [['pods', one]];
  for (const [name, amount] of requests) {
    if (computeResources.includes(name) || isHugePages(name)) used.push([name, amount], [`requests.${name}`, amount]);
    else if (isExtendedResource(name) || name.startsWith(deviceClassPrefix)) used.push([`requests.${name}`, amount]);
  }
  for (const [name, amount] of limits) if (computeResources.includes(name)) used.push([`limits.${name}`, amount]);
  return used;
}

function unstated(limited: readonly string[], { spec }: Pod): string | undefined {
  if (Object.keys({ ...spec.resources?.requests, ...spec.resources?.limits }).some(isPodLevelResource)) return undefined;
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const required = limited.filter((name) => mustBeStated.has(name)).sort();
  const complaints = required.flatMap((name) => {
    const silent = containers.filter((container) => !states(container, name)).map((container) => container.name);
    return silent.length === 0 ? [] : [`${name} for: ${[...new Set(silent)].sort().join(',')}`];
  });
  return complaints.length === 0 ? undefined : `must specify ${complaints.join('; ')}`;
}

const states = ({ resources }: Container, name: string): boolean =>
  computeUsage(parseUsage(resources.requests), parseUsage(resources.limits)).some(([stated]) => stated === name);

const isBestEffort = (pod: Pod): boolean => (pod.status.qosClass ?? qosClassOf(pod)) === 'BestEffort';

/** It has an activeDeadlineSeconds: the Terminating scope. */
const isTerminating = ({ spec }: Pod): boolean => (spec.activeDeadlineSeconds ?? -1) >= 0;

function matchesPodScope(requirement: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
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
