import type { Pod, Service } from '../../api/generated/types.ts';

export interface ClusterRecords {
  /** 'cluster.local' */
  readonly domain: string;
  readonly service: (namespace: string, name: string) => Service | undefined;
  /** Pods of a namespace that have not ended. */
  readonly pods: (namespace: string) => readonly Pod[];
}

/** Undefined: the name is outside the cluster's domain. `addresses` undefined: the cluster has no such name. */
export function addressesOf(name: string, records: ClusterRecords): { readonly addresses: readonly string[] | undefined } | undefined {
  const suffix = `.${records.domain}`;
  if (name !== records.domain && !name.endsWith(suffix)) return undefined;
  const labels = name.slice(0, -suffix.length).split('.');
  // web.default.svc, or web-0.web.default.svc
  if (labels.at(-1) !== 'svc' || labels.length < 3 || labels.length > 4) return { addresses: undefined };
  const [namespace = '', serviceName = '', hostname] = labels.slice(0, -1).toReversed();
  const service = records.service(namespace, serviceName);
  if (service === undefined) return { addresses: undefined };
  const members = membersOf(service, records.pods(namespace));
  if (hostname === undefined) return { addresses: members.map(ipOf) };
  const named = members.filter((pod) => pod.spec.subdomain === serviceName && hostnameOf(pod) === hostname);
  return { addresses: named.length === 0 ? undefined : named.map(ipOf) };
}

/**
 * The service's ready pods, or all of them with `publishNotReadyAddresses`. There is no kube-proxy: the name of every service leads to its pods, as
 * that of a headless one does.
 */
function membersOf({ spec }: Service, pods: readonly Pod[]): readonly Pod[] {
  const selector = Object.entries(spec?.selector ?? {});
  if (selector.length === 0) return [];
  return pods.filter(
    (pod) =>
      ipOf(pod) !== '' &&
      selector.every(([key, value]) => pod.metadata.labels?.[key] === value) &&
      (spec?.publishNotReadyAddresses === true || (isReady(pod) && pod.metadata.deletionTimestamp === undefined)),
  );
}

const ipOf = ({ status }: Pod): string => status.podIP ?? '';

const hostnameOf = ({ metadata, spec }: Pod): string => spec.hostname ?? metadata.name ?? '';

const isReady = ({ status }: Pod): boolean => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
