import type { EndpointAddress, Endpoints, EndpointSubset, Pod, Service } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { semanticallyEqual } from '../../../../api/validation/equality.ts';
import { update } from '../../../../client/decision.ts';
import { isPodReady } from '../../../pods/state.ts';
import {
  addressesOf,
  type IpFamily,
  hasAddress,
  headlessLabel,
  hostnameBelow,
  isHeadless,
  isReachable,
  isSelecting,
  portOf,
  referenceTo,
  withTriggerTime,
} from '../members.ts';
import { sameTriggerTimes, triggerTime, type TriggerTimes, triggerTimesOf } from '../trigger-times.ts';
import { type EndpointsAction, controllerName, type EndpointsDecision } from './actions.ts';
import { isOverCapacity, type SubsetEntry, subsetEntries, repackSubsets, truncateSubsets } from '../subsets.ts';

export type EndpointsSnapshot =
  | {
      readonly state: 'served';
      readonly service: Stored<Service>;
      /** The pods that it selects, sorted by name. */
      readonly pods: readonly Stored<Pod>[];
      readonly endpoints: Stored<Endpoints> | undefined;
      /** As of the last pass. Undefined: the Service is new to this process. */
      readonly times: TriggerTimes | undefined;
    }
  /** The Service was deleted. */
  | { readonly state: 'orphaned'; readonly endpoints: Stored<Endpoints> };

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const overCapacity = 'endpoints.kubernetes.io/over-capacity';

/** The legacy Endpoints of a Service, which some clients still read. */
export function decideEndpoints(snapshot: EndpointsSnapshot): EndpointsDecision {
  if (snapshot.state === 'orphaned') return act('Orphaned', 'the service was deleted', { do: 'delete', object: snapshot.endpoints });
  const { service, pods, endpoints, times: before } = snapshot;
  if (!isSelecting(service)) return act('NotSelecting', 'the service selects no pods');
  const times = triggerTimesOf(service, pods);
  const remember = sameTriggerTimes(times, before) ? [] : [{ do: 'remember', times } as const];
  const subsets = repackSubsets(pods.flatMap((pod) => entriesFor(service, pod)));
  if (endpoints !== undefined && isUpToDate(endpoints, subsets, service)) return act('UpToDate', 'the endpoints are up to date', ...remember);
  const next = endpointsFor(service, { endpoints, subsets, time: triggerTime(times, before) });
  return act(
    'Changed',
    'the endpoints differ',
    ...(endpoints === undefined ? [{ do: 'create', object: next } as const] : update(endpoints, next)),
    ...remember,
  );
}

const act = (code: string, text: string, ...actions: readonly EndpointsAction[]): EndpointsDecision => ({ actions, reasons: [{ code, text }] });

function entriesFor(service: Stored<Service>, pod: Stored<Pod>): readonly SubsetEntry[] {
  const isReady = service.spec.publishNotReadyAddresses === true || isPodReady(pod);
  if (!isReachable(pod, { alsoIfGoing: service.spec.publishNotReadyAddresses === true })) return [];
  const address = addressFor(service, pod);
  if (address === undefined) return [];
  const ports = service.spec.ports ?? [];
  if (ports.length === 0) return isHeadless(service) ? [{ address, isReady, port: undefined }] : [];
  return ports.flatMap((each): readonly SubsetEntry[] => {
    const port = portOf(pod, each);
    const { name = '', protocol = 'TCP', appProtocol } = each;
    if (port === undefined) return [];
    return [{ address, isReady, port: { ...(name === '' ? {} : { name }), port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) } }];
  });
}

/** The first address of the Service's own family: Endpoints have one family only. */
function addressFor(service: Stored<Service>, pod: Stored<Pod>): EndpointAddress | undefined {
  const [ip] = addressesOf(pod, familyOf(service, pod));
  if (ip === undefined) return undefined;
  const hostname = hostnameBelow(service, pod);
  const { nodeName = '' } = pod.spec;
  return { ip, ...(hostname === undefined ? {} : { hostname }), ...(nodeName === '' ? {} : { nodeName }), targetRef: referenceTo(pod) };
}

function familyOf({ spec }: Service, pod: Pod): IpFamily {
  const [first] = spec.ipFamilies ?? [];
  const { clusterIP = '' } = spec;
  const hint = clusterIP === '' || clusterIP === 'None' ? (pod.status.podIP ?? '') : clusterIP;
  return first === 'IPv6' || (first === undefined && hint.includes(':')) ? 'IPv6' : 'IPv4';
}

function isUpToDate({ metadata, subsets = [] }: Endpoints, wanted: readonly EndpointSubset[], service: Service): boolean {
  const kept = truncateSubsets(wanted);
  const isSame = semanticallyEqual(subsets, kept) || semanticallyEqual(repackSubsets(subsetEntries(subsets)), kept);
  return isSame && hasLabelsOf(metadata.labels ?? {}, service) && metadata.annotations?.[overCapacity] === (isOverCapacity(wanted) ? 'truncated' : undefined);
}

function hasLabelsOf(labels: Readonly<Record<string, string>>, { metadata }: Service): boolean {
  const { [managedByLabel]: managedBy, [headlessLabel]: _, ...rest } = labels;
  return managedBy === controllerName && semanticallyEqual(rest, metadata.labels ?? {});
}

interface Contents {
  readonly endpoints: Stored<Endpoints> | undefined;
  readonly subsets: readonly EndpointSubset[];
  readonly time: string | undefined;
}

function endpointsFor(service: Stored<Service>, { endpoints, subsets, time }: Contents): Endpoints {
  const { namespace = '', name, labels } = service.metadata;
  const { [overCapacity]: _, ...timed } = withTriggerTime(endpoints?.metadata.annotations, time);
  const annotations = isOverCapacity(subsets) ? { ...timed, [overCapacity]: 'truncated' } : timed;
  const { [headlessLabel]: __, ...own } = labels ?? {};
  const { annotations: ___, ...metadata } = endpoints?.metadata ?? { namespace, name };
  const kept = truncateSubsets(subsets);
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      ...metadata,
      labels: { ...own, ...(hasAddress(service) ? {} : { [headlessLabel]: '' }), [managedByLabel]: controllerName },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    ...(kept.length === 0 ? {} : { subsets: kept }),
  };
}
