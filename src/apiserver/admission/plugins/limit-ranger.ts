import type { Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts';
import { podLimits, podRequests } from '../../../api/kinds/pod/pod-resources.ts';
import { toResourceList } from '../../../api/kinds/pod/resource-amounts.ts';
import type { Resources } from '../../objects/resources.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import { type Amounts, maximumOfRequest, violations } from './limit-rules.ts';
import { admissionForbidden } from '../forbidden.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

/** LimitRanges: default requests and limits for containers, and bounds for pods, containers and PVCs. */
export function limitRanger(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  const ranges = resources.require('v1', 'limitranges');
  return {
    name: 'LimitRanger',
    handles: (operation, resource, subresource) =>
      isResource(resource, '', 'pods')
        ? (operation === 'create' && subresource === '') || (operation === 'update' && subresource === 'resize')
        : operation !== 'delete' && subresource === '' && isResource(resource, '', 'persistentvolumeclaims'),
    mutate: async ({ resource, namespace, object, old }) => {
      if (!isResource(resource, '', 'pods') || old?.metadata.deletionTimestamp !== undefined) return;
      for (const range of await reader.list<LimitRange>(ranges, namespace)) setDefaults(object as Pod, range);
    },
    validate: async (request) => {
      if (request.old?.metadata.deletionTimestamp !== undefined) return;
      for (const range of await reader.list<LimitRange>(ranges, request.namespace)) {
        const wrong = violationsOf(request, range);
        if (wrong.length > 0) throw admissionForbidden(request, wrong.length === 1 ? (wrong[0] ?? '') : `[${wrong.join(', ')}]`);
      }
    },
  };
}

function setDefaults({ metadata, spec }: Pod, range: LimitRange): void {
  const items = (range.spec.limits ?? []).filter((item) => item.type === 'Container');
  const defaults = {
    limits: Object.assign({}, ...items.map((item) => item.default ?? {})) as Record<string, string>,
    requests: Object.assign({}, ...items.map((item) => item.defaultRequest ?? {})) as Record<string, string>,
  };
  const done = [
    ...(spec.containers ?? []).flatMap((container) => setContainerDefaults(container, 'container', defaults)),
    ...(spec.initContainers ?? []).flatMap((container) => setContainerDefaults(container, 'init container', defaults)),
  ];
  if (done.length > 0) (metadata.annotations ??= {})[ANNOTATION] = `LimitRanger plugin set: ${done.join('; ')}`;
}

interface ContainerDefaults {
  readonly limits: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
}

/** @returns what was set, for the annotation */
function setContainerDefaults({ name, resources }: Container, role: string, defaults: ContainerDefaults): string[] {
  const limits = missing(resources.limits, defaults.limits);
  const requests = missing(resources.requests, defaults.requests);
  for (const resource of limits) (resources.limits ??= {})[resource] = defaults.limits[resource] ?? '';
  for (const resource of requests) (resources.requests ??= {})[resource] = defaults.requests[resource] ?? '';
  return [
    ...(requests.length === 0 ? [] : [`${requests.join(', ')} request for ${role} ${name}`]),
    ...(limits.length === 0 ? [] : [`${limits.join(', ')} limit for ${role} ${name}`]),
  ];
}

const missing = (given: Amounts | undefined, wanted: Amounts): string[] =>
  Object.keys(wanted)
    .filter((resource) => !Object.hasOwn(given ?? {}, resource))
    .sort();

function violationsOf({ resource, object }: AdmissionRequest, range: LimitRange): string[] {
  const items = range.spec.limits ?? [];
  if (isResource(resource, '', 'pods')) return items.flatMap((item) => podViolations(object as Pod, item));
  return items.flatMap((item) => claimViolations(object as PersistentVolumeClaim, item));
}

function podViolations(pod: Pod, item: LimitRangeItem): string[] {
  if (item.type === 'Pod') return violations(item, { requests: toResourceList(podRequests(pod)), limits: toResourceList(podLimits(pod)) });
  if (item.type !== 'Container') return [];
  const containers = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
  return containers.flatMap(({ resources: { requests = {}, limits = {} } }) => violations(item, { requests, limits }));
}

/** Only the requests of PVCs are checked. */
function claimViolations({ spec }: PersistentVolumeClaim, item: LimitRangeItem): string[] {
  if (item.type !== 'PersistentVolumeClaim') return [];
  const requests = spec.resources.requests ?? {};
  const { type, min = {}, max = {} } = item;
  return [...violations({ type, min }, { requests, limits: {} }), ...maximumOfRequest(type, max, requests)];
}
