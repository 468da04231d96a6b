import type { Pod } from '../../api/generated/types.ts';

export interface DnsSettings {
  readonly clusterDomain: string;
  /** The DNS server of the cluster's names; undefined: there is none. */
  readonly nameServer: string | undefined;
}

/** All lines of a pod's /etc/resolv.conf; undefined: the host's. */
export function resolvConfOf({ metadata, spec }: Pod, { clusterDomain, nameServer }: DnsSettings): string | undefined {
  const { dnsPolicy = 'ClusterFirst', dnsConfig = {} } = spec;
  const isClusters = dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && spec.hostNetwork !== true);
  const usesCluster = isClusters && nameServer !== undefined;
  if (!usesCluster && dnsPolicy !== 'None') return undefined;
  const domains = usesCluster ? [`${metadata.namespace ?? ''}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain] : [];
  const options = new Map<string, string | undefined>(usesCluster ? [['ndots', '5']] : []);
  for (const { name = '', value } of dnsConfig.options ?? []) options.set(name, value);
  const searches = [...domains, ...(dnsConfig.searches ?? [])];
  return [
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}`]),
    ...[...(usesCluster ? [nameServer] : []), ...(dnsConfig.nameservers ?? [])].map((server) => `nameserver ${server}`),
    ...(options.size === 0 ? [] : [`options ${[...options].map(([name, value]) => (value === undefined ? name : `${name}:${value}`)).join(' ')}`]),
    '',
  ].join('\n');
}
