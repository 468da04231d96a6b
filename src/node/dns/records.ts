/** The names of a cluster: Kubernetes' DNS specification 1.1.0, where it leaves a choice as CoreDNS' plugin `kubernetes` with "pods insecure". */
import type { Answer, RecordType } from 'dns-packet';
import type { Endpoint, EndpointSlice, Service, ServicePort } from '../../api/generated/types.ts';
import { formatIp, isIpv4, parseIp } from '../../api/validation/ip.ts';

export interface ClusterRecords {
  /** 'cluster.local' */
  readonly domain: string;
  readonly hasNamespace: (namespace: string) => boolean;
  readonly service: (namespace: string, name: string) => Service | undefined;
  /** Of a service. */
  readonly slices: (namespace: string, service: string) => readonly EndpointSlice[];
  /** The service with this cluster IP. */
  readonly serviceAt: (ip: string) => Service | undefined;
  /** The slices that have this address. */
  readonly slicesAt: (ip: string) => readonly EndpointSlice[];
}

export interface DnsQuery {
  /** In lower case. */
  readonly name: string;
  readonly type: RecordType | 'ANY';
}

export type DnsAnswer =
  /** Not a name of the cluster: other servers know it. */
  | { readonly type: 'outside' }
  | { readonly type: 'no-such-name' }
  /** Without records: the name exists, with records of other types. `also`: records that the client will ask for next. */
  | { readonly type: 'found'; readonly records: readonly Answer[]; readonly also: readonly Answer[] }
  /** Its records are those of another name. */
  | { readonly type: 'alias'; readonly record: Answer; readonly target: string };

/** CoreDNS' default of the plugin `kubernetes`. */
const ttl = 5;
const noSuchName: DnsAnswer = { type: 'no-such-name' };
const found = (records: readonly Answer[], also: readonly Answer[] = []): DnsAnswer => ({ type: 'found', records, also });

export function answerTo(query: DnsQuery, records: ClusterRecords): DnsAnswer {
  const { name } = query;
  if (name.endsWith('.in-addr.arpa') || name.endsWith('.ip6.arpa')) return reverse(query, records);
  if (name === records.domain) return found(wants(query, 'SOA') ? [soaOf(records.domain)] : []);
  if (!name.endsWith(`.${records.domain}`)) return { type: 'outside' };
  const labels = name.slice(0, -records.domain.length - 1).split('.');
  if (labels.length === 1 && labels[0] === 'dns-version') return found(wants(query, 'TXT') ? [{ name, type: 'TXT', ttl, data: '1.1.0' }] : []);
  const [kind, namespace, ...below] = labels.toReversed();
  if (kind !== 'svc' && kind !== 'pod') return noSuchName;
  if (namespace === undefined) return found([]);
  if (!records.hasNamespace(namespace)) return noSuchName;
  if (below.length === 0) return found([]);
  return kind === 'pod' ? podAnswer(query, below) : serviceAnswer(query, { namespace, below, records });
}

/** Of negative answers, with what a resolver may remember them for; and of the cluster's domain itself. */
export const soaOf = (domain: string): Answer => ({
  name: domain,
  type: 'SOA',
  ttl,
  data: { mname: `ns.dns.${domain}`, rname: `hostmaster.${domain}`, serial: 1, refresh: 7200, retry: 1800, expire: 86_400, minimum: ttl },
});

const wants = ({ type }: DnsQuery, offered: RecordType): boolean => type === offered || type === 'ANY';

/** 10-0-0-1.shop.pod: the address that the name says. */
function podAnswer(query: DnsQuery, [label = '', ...more]: readonly string[]): DnsAnswer {
  const ip = parseIp(/^\d+-\d+-\d+-\d+$/.test(label) ? label.replaceAll('-', '.') : label.replaceAll('-', ':'));
  if (ip === undefined || more.length > 0) return noSuchName;
  return found(addressRecords(query, query.name, [formatIp(ip)]));
}

interface ServiceName {
  readonly namespace: string;
  /** The labels below the namespace, from right to left: the service, and what is below it. */
  readonly below: readonly string[];
  readonly records: ClusterRecords;
}

function serviceAnswer(query: DnsQuery, { namespace, below, records }: ServiceName): DnsAnswer {
  const [serviceName = '', first, second, ...more] = below;
  const service = records.service(namespace, serviceName);
  if (service === undefined || more.length > 0) return noSuchName;
  const { spec } = service;
  if (spec.type === 'ExternalName') return first === undefined ? alias(query.name, spec.externalName ?? '') : noSuchName;
  const host = `${serviceName}.${namespace}.svc.${records.domain}`;
  const named: NamedService = { service, host, members: membersOf(records.slices(namespace, serviceName)) };
  // _http._tcp.web.shop.svc: from right to left, the protocol comes first.
  if (second !== undefined || first?.startsWith('_') === true) return portAnswer(query, named, { protocol: first ?? '', port: second });
  if (first !== undefined) return endpointAnswer(query, named, first);
  if (query.type === 'SRV') return srvAnswer(named, query.name, () => true);
  const ips = isHeadless(service) ? named.members.map(({ ip }) => ip) : (spec.clusterIPs ?? [spec.clusterIP ?? '']);
  // A headless service without endpoints has no records, and so no name.
  return isHeadless(service) && ips.length === 0 ? noSuchName : found(addressRecords(query, query.name, ips));
}

function alias(name: string, externalName: string): DnsAnswer {
  const target = externalName.replace(/\.$/, '').toLowerCase();
  return target === '' ? noSuchName : { type: 'alias', target, record: { name, type: 'CNAME', ttl, data: target } };
}

interface NamedService {
  readonly service: Service;
  /** 'web.shop.svc.cluster.local' */
  readonly host: string;
  readonly members: readonly Member[];
}

/** An endpoint that gets traffic. */
interface Member {
  readonly ip: string;
  /** Its hostname, or its address with dashes. */
  readonly label: string;
  /** Of each slice that has the address. */
  readonly ports: Set<readonly MemberPort[]>;
}

interface MemberPort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
}

const isHeadless = ({ spec }: Service): boolean => spec.clusterIP === 'None';

/** Ready ones: the slices of a service with publishNotReadyAddresses say of all that they are. */
function membersOf(slices: readonly EndpointSlice[]): readonly Member[] {
  const members = new Map<string, Member>();
  for (const { endpoints, ports: all } of slices) {
    const ports = (all ?? []).flatMap(({ name = '', protocol = 'TCP', port }) => (port === undefined ? [] : [{ name, protocol, port }]));
    for (const endpoint of endpoints ?? [])
      if (endpoint.conditions.ready !== false)
        for (const ip of endpoint.addresses ?? []) {
          // An address that a slice repeats has the slice's ports once.
          const known = members.get(ip)?.ports ?? new Set();
          members.set(ip, { ip, label: labelOf(endpoint, ip), ports: known.add(ports) });
        }
  }
  return [...members.values()];
}

const labelOf = ({ hostname }: Endpoint, ip: string): string => (hostname ?? '').toLowerCase() || ip.replaceAll(/[.:]/g, '-');

function endpointAnswer(query: DnsQuery, { members }: NamedService, label: string): DnsAnswer {
  const ips = members.filter((member) => member.label === label).map(({ ip }) => ip);
  return ips.length === 0 ? noSuchName : found(addressRecords(query, query.name, ips));
}

function portAnswer(query: DnsQuery, named: NamedService, asked: { readonly protocol: string; readonly port: string | undefined }): DnsAnswer {
  const { protocol, port } = asked;
  if (!protocol.startsWith('_') || port?.startsWith('_') === false) return noSuchName;
  const matches = (each: { readonly name: string; readonly protocol: string }): boolean =>
    `_${each.protocol.toLowerCase()}` === protocol && (port === undefined || `_${each.name}` === port);
  const answer = srvAnswer(named, query.name, matches);
  if (answer.type !== 'found' || answer.records.length === 0) return noSuchName;
  return query.type === 'SRV' || query.type === 'ANY' ? answer : found([]);
}

type PortMatch = (port: { readonly name: string; readonly protocol: string }) => boolean;

function srvAnswer({ service, host, members }: NamedService, name: string, matches: PortMatch): DnsAnswer {
  const toAddress = (target: string, ip: string): readonly Answer[] => addressRecords({ name: target, type: 'ANY' }, target, [ip]);
  const srv = (target: string, port: number, of: number): Answer => ({
    name,
    type: 'SRV',
    ttl,
    data: { priority: 0, weight: Math.max(1, Math.floor(100 / of)), port, target },
  });
  if (!isHeadless(service)) {
    const ports = (service.spec.ports ?? []).map(portOf).filter(matches);
    const ips = service.spec.clusterIPs ?? [service.spec.clusterIP ?? ''];
    return found(
      ports.map(({ port }) => srv(host, port, ports.length)),
      ports.length === 0 ? [] : ips.flatMap((ip) => toAddress(host, ip)),
    );
  }
  const targets = members.flatMap(({ ip, label, ports }) =>
    [...ports]
      .flat()
      .filter(matches)
      .map(({ port }) => ({ ip, port, target: `${label}.${host}` })),
  );
  if (targets.length === 0) return noSuchName;
  return found(
    targets.map(({ target, port }) => srv(target, port, targets.length)),
    [...new Map(targets.map(({ target, ip }) => [`${target} ${ip}`, toAddress(target, ip)])).values()].flat(),
  );
}

const portOf = ({ name = '', protocol = 'TCP', port }: ServicePort) => ({ name, protocol, port });

/** Those of the asked type. */
function addressRecords(query: DnsQuery, name: string, ips: readonly string[]): readonly Answer[] {
  return ips.flatMap((text): readonly Answer[] => {
    const ip = parseIp(text);
    if (ip === undefined) return [];
    const type = isIpv4(ip) ? 'A' : 'AAAA';
    return wants(query, type) ? [{ name, type, ttl, data: formatIp(ip) }] : [];
  });
}

/** 1.0.0.10.in-addr.arpa: the names of services and of their endpoints. Other servers know all others. */
function reverse(query: DnsQuery, records: ClusterRecords): DnsAnswer {
  const ip = reversedAddress(query.name);
  if (ip === undefined) return { type: 'outside' };
  const service = records.serviceAt(ip);
  const names =
    service === undefined
      ? records.slicesAt(ip).flatMap((slice) => endpointNames(slice, ip))
      : [`${service.metadata.name ?? ''}.${service.metadata.namespace ?? ''}`];
  if (names.length === 0) return { type: 'outside' };
  const hosts = [...new Set(names)].map((name) => `${name}.svc.${records.domain}`);
  return found(wants(query, 'PTR') ? hosts.map((data): Answer => ({ name: query.name, type: 'PTR', ttl, data })) : []);
}

function endpointNames({ metadata, endpoints }: EndpointSlice, ip: string): readonly string[] {
  const service = metadata.labels?.['kubernetes.io/service-name'];
  const endpoint = (endpoints ?? []).find(({ addresses }) => addresses?.includes(ip) === true);
  return service === undefined || endpoint === undefined ? [] : [`${labelOf(endpoint, ip)}.${service}.${metadata.namespace ?? ''}`];
}

function reversedAddress(name: string): string | undefined {
  const labels = name.split('.').slice(0, -2).toReversed();
  if (name.endsWith('.in-addr.arpa')) return labels.length === 4 ? labels.join('.') : undefined;
  if (labels.length !== 32) return undefined;
  const ip = parseIp(Array.from({ length: 8 }, (_, i) => labels.slice(4 * i, 4 * i + 4).join('')).join(':'));
  return ip === undefined ? undefined : formatIp(ip);
}
