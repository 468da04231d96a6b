import type { DiscoveryEndpointPort, Endpoint, EndpointSlice, Pod, Service } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { nameIsDnsSubdomain } from '../../../../api/validation/names.ts';
import { parseIp, isIpv4 } from '../../../../api/validation/ip.ts';
import { type IpFamily, hasAddress, headlessLabel, managedByLabel, serviceNameLabel, withTriggerTime } from '../members.ts';
import { sameTriggerTimes, triggerTime, type TriggerTimes, triggerTimesOf } from '../trigger-times.ts';
import { type EndpointSliceAction, type EndpointSliceDecision, failedToUpdate } from './actions.ts';
import { fill } from './fill.ts';
import { type TrafficDistribution, trafficDistributionOf, withHints } from './hints.ts';
import { type EndpointGroup, portsKey, desiredEndpoints, type ZoneOf } from './desired-endpoints.ts';

export interface EndpointSliceSnapshot {
  readonly service: Stored<Service>;
  /** The pods that it selects, sorted by name. */
  readonly pods: readonly Stored<Pod>[];
  /** The Service's slices of this controller that are not being deleted, sorted by name. */
  readonly slices: readonly Stored<EndpointSlice>[];
  readonly zoneOf: ZoneOf;
  /** As of the last pass. Undefined: the Service is new to this process. */
  readonly times: TriggerTimes | undefined;
  /** The message that was last recorded about the Service, unless that was long ago. */
  readonly recorded: string | undefined;
}

/** The value of the managed-by label. */
export const controllerName = 'endpointslice-controller.k8s.io';

/** The EndpointSlices of a Service, each for one address family and one set of ports. */
export function decideSlices(snapshot: EndpointSliceSnapshot): EndpointSliceDecision {
  const { service, pods, slices } = snapshot;
  const times = triggerTimesOf(service, pods);
  const time = triggerTime(times, snapshot.times);
  const families = familiesOf(service);
  const plans = families.map((family) => planFor(snapshot, family));
  const foreign = slices.filter(({ addressType }) => !families.some((family) => family === addressType));
  const writes = [
    ...plans.flatMap((plan) => writesOf(recycled(plan, service), { service, time })),
    ...foreign.map((slice) => ({ do: 'delete', object: slice }) as const),
  ];
  const skipped = plans[0]?.skipped ?? [];
  const actions = [...writes, ...skippedPodsEvent(snapshot, skipped), ...(sameTriggerTimes(times, snapshot.times) ? [] : [{ do: 'remember', times } as const])];
  return { actions, reasons: [{ code: 'Spread', text: `${pods.length} pods are selected, ${skipped.length} of them on unknown nodes` }] };
}

function familiesOf({ spec }: Service): readonly IpFamily[] {
  const given = (['IPv4', 'IPv6'] as const).filter((family) => spec.ipFamilies?.includes(family));
  if (given.length > 0) return given;
  const { clusterIP = '' } = spec;
  if (clusterIP === '' || clusterIP === 'None') return ['IPv4', 'IPv6'];
  const ip = parseIp(clusterIP);
  return ip === undefined || isIpv4(ip) ? ['IPv4'] : ['IPv6'];
}

interface SlicePlan {
  readonly family: IpFamily;
  readonly update: readonly {
    readonly slice: Stored<EndpointSlice>;
    readonly ports: readonly DiscoveryEndpointPort[];
    readonly endpoints: readonly Endpoint[];
  }[];
  readonly create: readonly { readonly ports: readonly DiscoveryEndpointPort[]; readonly endpoints: readonly Endpoint[] }[];
  readonly remove: readonly Stored<EndpointSlice>[];
  readonly skipped: readonly Stored<Pod>[];
}

function planFor({ service, pods, slices, zoneOf }: EndpointSliceSnapshot, family: IpFamily): SlicePlan {
  const existing = slices.filter(({ addressType }) => addressType === family);
  const own = existing.filter((slice) => isOwned(slice, service));
  const { groups, skipped } = desiredEndpoints(service, pods, { family, zoneOf });
  const trafficDistribution = trafficDistributionOf(service);
  const filled = [...groups].map(([key, group]) => fillGroup(group, { own: own.filter(({ ports }) => portsKey(ports) === key), service, trafficDistribution }));
  const update = filled.flatMap((each) => each.update);
  const create = filled.flatMap((each) => each.create);
  const unwanted = own.filter(({ ports }) => !groups.has(portsKey(ports)));
  const remove = [...existing.filter((slice) => !own.includes(slice)), ...filled.flatMap((each) => each.remove), ...unwanted];
  // There is always a slice, so that clients can tell a Service without endpoints from one that was not reconciled yet.
  if (existing.length > remove.length || create.length > 0) return { family, update, create, remove, skipped };
  const [only] = remove;
  const isThere = remove.length === 1 && only !== undefined && isPlaceholder(only, service);
  return isThere ? { family, update, create, remove: [], skipped } : { family, update, create: [{ ports: [], endpoints: [] }], remove, skipped };
}

interface GroupOptions {
  /** The slices with the group's ports. */
  readonly own: readonly Stored<EndpointSlice>[];
  readonly service: Stored<Service>;
  readonly trafficDistribution: TrafficDistribution;
}

function fillGroup({ ports, endpoints }: EndpointGroup, { own, service, trafficDistribution }: GroupOptions): Pick<SlicePlan, 'update' | 'create' | 'remove'> {
  const hinted = (all: readonly Endpoint[]) => all.map((endpoint) => withHints(endpoint, trafficDistribution));
  const { unchanged, changed, emptied, created } = fill(own, endpoints, (slice) => !hasLabelsOf(slice, service));
  const rehinted = unchanged
    .filter((slice) => (slice.endpoints ?? []).some((endpoint) => withHints(endpoint, trafficDistribution) !== endpoint))
    .map((slice) => ({ slice, endpoints: slice.endpoints ?? [] }));
  return {
    update: [...changed, ...rehinted].map(({ slice, endpoints: contents }) => ({ slice, ports: slice.ports ?? [], endpoints: hinted(contents) })),
    create: created.map((contents) => ({ ports, endpoints: hinted(contents) })),
    remove: emptied,
  };
}

/** Slices to delete are updated to the contents of slices to create: one write instead of two. */
function recycled(plan: SlicePlan, service: Stored<Service>): SlicePlan {
  const create = [...plan.create];
  const remove: Stored<EndpointSlice>[] = [];
  const update = [...plan.update];
  for (const slice of plan.remove) {
    const contents = isOwned(slice, service) ? create.pop() : undefined;
    if (contents === undefined) remove.push(slice);
    else update.push({ slice: bare(slice), ...contents });
  }
  return { ...plan, create, update, remove };
}

/** Without the annotations of its old contents. */
const bare = (slice: Stored<EndpointSlice>): Stored<EndpointSlice> => {
  const { annotations: _, ...metadata } = slice.metadata;
  return { ...slice, metadata };
};

function writesOf(
  { family, update, create, remove }: SlicePlan,
  { service, time }: { readonly service: Stored<Service>; readonly time: string | undefined },
): readonly EndpointSliceAction[] {
  // A Service that is being deleted gets no new slices: they might be left behind.
  const created = service.metadata.deletionTimestamp === undefined ? create : [];
  const labels = labelsFor(service);
  const write = <T extends EndpointSlice>(slice: T, { ports, endpoints }: SlicePlan['create'][number]): T => {
    const { annotations: old, ...metadata } = slice.metadata;
    const annotations = withTriggerTime(old, time);
    return {
      ...slice,
      metadata: { ...metadata, labels, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
      ports: ports.length === 0 ? null : [...ports],
      endpoints: endpoints.length === 0 ? null : [...endpoints],
    };
  };
  return [
    ...created.map((contents) => ({ do: 'create', object: write(newSlice(service, family), contents) }) as const),
    ...update.map(({ slice, ...contents }) => ({ do: 'update', object: write(slice, contents), from: slice }) as const),
    ...remove.map((slice) => ({ do: 'delete', object: slice }) as const),
  ];
}

function newSlice({ metadata }: Stored<Service>, addressType: IpFamily): EndpointSlice {
  const { namespace = '', name, uid } = metadata;
  const prefix = `${name}-`;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      generateName: nameIsDnsSubdomain(prefix, true).length === 0 ? prefix : name,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType,
    endpoints: null,
    ports: null,
  };
}

const isOwned = ({ metadata }: Stored<EndpointSlice>, service: Stored<Service>): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1');

const reserved: ReadonlySet<string> = new Set([serviceNameLabel, managedByLabel, headlessLabel]);

const ownLabels = (labels: Readonly<Record<string, string>> | undefined): readonly (readonly [string, string])[] =>
  Object.entries(labels ?? {})
    .filter(([key]) => !reserved.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));

const labelsFor = (service: Stored<Service>): Record<string, string> => ({
  ...Object.fromEntries(ownLabels(service.metadata.labels)),
  ...(hasAddress(service) ? {} : { [headlessLabel]: '' }),
  [serviceNameLabel]: service.metadata.name,
  [managedByLabel]: controllerName,
});

const hasLabelsOf = ({ metadata }: EndpointSlice, service: Service): boolean =>
  JSON.stringify(ownLabels(metadata.labels)) === JSON.stringify(ownLabels(service.metadata.labels));

const sorted = (labels: Readonly<Record<string, string>> | undefined): string =>
  JSON.stringify(Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));

const isPlaceholder = (slice: Stored<EndpointSlice>, service: Stored<Service>): boolean =>
  isOwned(slice, service) &&
  (slice.endpoints ?? []).length === 0 &&
  (slice.ports ?? []).length === 0 &&
  sorted(slice.metadata.labels) === sorted(labelsFor(service));

function skippedPodsEvent({ service, recorded }: EndpointSliceSnapshot, skipped: readonly Stored<Pod>[]): readonly EndpointSliceAction[] {
  const { namespace = '', name, uid } = service.metadata;
  const texts = skipped.map(({ metadata, spec }) => `skipping Pod ${metadata.name} for Service ${namespace}/${name}: Node ${spec.nodeName ?? ''} Not Found`);
  if (texts.length === 0) return [];
  const report = failedToUpdate(service, texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
  return recorded === report.message ? [] : [{ do: 'recordEvent', event: { about: service, ...report }, rememberAs: uid }];
}
