import type {
  ConfigMap,
  Endpoints,
  EndpointSlice,
  FlowSchema,
  IPAddress,
  Namespace,
  PriorityClass,
  PriorityLevelConfiguration,
  Service,
  ServiceCIDR,
} from '../../api/generated/types.ts';
import { endpointSliceKind } from '../../api/kinds/discovery/endpoint-slice.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { endpointsKind } from '../../api/kinds/core/endpoints.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { flowSchemaKind } from '../../api/kinds/flowcontrol/flow-schema.ts';
import { priorityLevelConfigurationKind } from '../../api/kinds/flowcontrol/priority-level-configuration.ts';
import { ipAddressKind } from '../../api/kinds/networking/ip-address.ts';
import { defaultServiceCidrName, serviceCidrKind } from '../../api/kinds/networking/service-cidr.ts';
import { priorityClassKind } from '../../api/kinds/scheduling/priority-class.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { defaultServiceNetwork } from '../../apiserver/admission/plugins/service-allocation.ts';
import { type Certificates, frontProxyClient } from '../../apiserver/certificates/certificate-files.ts';
import { ipAddressOf } from '../../apiserver/objects/service-addresses.ts';
import type { Client, Draft, Result } from '../../client/client.ts';
import { defaultFlowSchemas, defaultPriorityLevels } from './default-flow-control.ts';

/**
 * The objects of a new cluster: four Namespaces, two PriorityClasses, the levels and schemas of flow control, the range of Services, and the Service
 * `kubernetes`. `address`: where pods reach the API server if it is the only one; undefined: nowhere, or where the servers say.
 */
export async function bootstrap(client: Client, port: number, address?: string): Promise<void> {
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) await ensure<Namespace>(client, namespaceKind, { metadata: { name } });
  for (const priority of priorities) await ensure<PriorityClass>(client, priorityClassKind, priority);
  for (const level of defaultPriorityLevels) await ensure<PriorityLevelConfiguration>(client, priorityLevelConfigurationKind, level);
  for (const schema of defaultFlowSchemas) await ensure<FlowSchema>(client, flowSchemaKind, schema);
  const { serviceCidr } = defaultServiceNetwork;
  await ensure<ServiceCIDR>(client, serviceCidrKind, { metadata: { name: defaultServiceCidrName }, spec: { cidrs: [serviceCidr] } });
  await ensure<Service>(client, serviceKind, apiService(port));
  await ensureIpAddresses(client);
  if (address !== undefined) await publishApiAddress(client, address, port);
}

/** Where pods reach an API server. */
export interface ApiAddress {
  readonly ip: string;
  readonly port: number;
}

/** The endpoints of the Service `kubernetes`: where pods reach the API server, which is the only one. */
export const publishApiAddress = (client: Client, ip: string, port: number): Promise<void> => publishApiAddresses(client, [{ ip, port }]);

/** The same for all servers of the cluster, at least one. Slices have one port: servers with other ports get more of them. */
export async function publishApiAddresses(client: Client, addresses: readonly ApiAddress[]): Promise<void> {
  const sorted = [...addresses].sort((a, b) => a.port - b.port || (a.ip < b.ip ? -1 : 1));
  const ports = [...new Set(sorted.map(({ port }) => port))];
  const subsets = ports.map((port) => ({ port, ips: sorted.filter((each) => each.port === port).map(({ ip }) => ip) }));
  await put<Endpoints>(client, endpointsKind, apiEndpoints(subsets));
  const slices = subsets.flatMap(({ port, ips }) =>
    [ips.filter((ip) => !ip.includes(':')), ips.filter((ip) => ip.includes(':'))].flatMap((same) => (same.length === 0 ? [] : { port, ips: same })),
  );
  const names = slices.map((_, i) => (i === 0 ? 'kubernetes' : `kubernetes-${i}`));
  for (const [i, slice] of slices.entries()) await put<EndpointSlice>(client, endpointSliceKind, apiEndpointSlice(names[i] ?? '', slice));
  const found = await client.list(endpointSliceKind, { namespace: 'default', labelSelector: 'kubernetes.io/service-name=kubernetes' });
  if (!found.ok) throw found.error;
  for (const { metadata } of found.value.items)
    if (/^kubernetes-\d+$/.test(metadata.name) && !names.includes(metadata.name))
      await client.delete(endpointSliceKind, { namespace: 'default', name: metadata.name });
}

/** Services of versions before 0.3 have addresses without IPAddresses. */
async function ensureIpAddresses(client: Client): Promise<void> {
  const services = await client.list(serviceKind);
  if (!services.ok) throw services.error;
  const known = await client.list(ipAddressKind);
  if (!known.ok) throw known.error;
  const names = new Set(known.value.items.map(({ metadata }) => metadata.name));
  for (const service of services.value.items) {
    for (const ip of service.spec.clusterIPs ?? []) {
      if (ip !== 'None' && !names.has(ip)) await ensure<IPAddress>(client, ipAddressKind, ipAddressOf(service, ip));
    }
  }
}

/** How a server behind an APIService recognizes this one and its clients; it reads this ConfigMap at its start. */
export async function publishAuthentication(client: Client, { authority, frontProxy }: Pick<Certificates, 'authority' | 'frontProxy'>): Promise<void> {
  await put<ConfigMap>(client, configMapKind, {
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: {
      'client-ca-file': authority.certificate,
      'requestheader-allowed-names': JSON.stringify([frontProxyClient]),
      'requestheader-client-ca-file': frontProxy.authority.certificate,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    },
  });
}

/** The DNS servers of the nodes as the Service kube-dns, which clients look for under this name. Resolves with its cluster IP; undefined: it has none. */
export async function publishDns(client: Client, addresses: ReadonlyMap<string, string>): Promise<string | undefined> {
  const found = await client.get(serviceKind, { namespace: dnsMetadata.namespace, name: dnsMetadata.name });
  // The usual address may be taken by another Service.
  const made = found.ok ? found : await client.create(serviceKind, dnsService('10.96.0.10'));
  const service = made.ok ? made : await client.create(serviceKind, dnsService(undefined));
  await put<EndpointSlice>(client, endpointSliceKind, dnsEndpointSlice(addresses));
  const clusterIp = service.ok ? service.value.spec.clusterIP : undefined;
  return clusterIp === 'None' ? undefined : clusterIp;
}

/** Another server may write the same at the same time. */
const MAX_ATTEMPTS = 5;

/** Replaces what an earlier start wrote: the API server may have another address now. */
async function put<T extends KubeObject>(client: Client, kind: Kind<T>, object: Draft<T>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const written = await putOnce(client, kind, object);
    if (written.ok) return;
    if (attempt >= MAX_ATTEMPTS || (written.reason !== 'conflict' && written.reason !== 'alreadyExists')) throw written.error;
  }
}

async function putOnce<T extends KubeObject>(client: Client, kind: Kind<T>, object: Draft<T>): Promise<Result<unknown>> {
  const metadata = object.metadata ?? {};
  const found = await client.get(kind, { namespace: metadata.namespace, name: metadata.name ?? '' });
  if (!found.ok) return client.create(kind, object);
  const labels = { ...found.value.metadata.labels, ...metadata.labels };
  return client.update(kind, { ...found.value, ...object, metadata: { ...found.value.metadata, labels } });
}

/** An existing object is not changed. */
async function ensure<T extends KubeObject>(client: Client, kind: Kind<T>, object: Draft<T>): Promise<void> {
  const metadata = object.metadata ?? {};
  const isThere = async () => (await client.get(kind, { namespace: metadata.namespace, name: metadata.name ?? '' })).ok;
  if (await isThere()) return;
  const made = await client.create(kind, object);
  // Another server may have made it meanwhile. Of a Service its address is what is in the way, not its name.
  if (!made.ok && made.reason !== 'alreadyExists' && !(await isThere())) throw made.error;
}

const priorities: readonly Draft<PriorityClass>[] = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description: 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

const apiService = (port: number): Draft<Service> => ({
  metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }] },
});

const apiPort = (port: number) => ({ name: 'https', port, protocol: 'TCP' });

interface AddressesOfPort {
  readonly port: number;
  readonly ips: readonly string[];
}

const apiEndpoints = (subsets: readonly AddressesOfPort[]): Draft<Endpoints> => ({
  metadata: { name: 'kubernetes', namespace: 'default', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
  subsets: subsets.map(({ port, ips }) => ({ addresses: ips.map((ip) => ({ ip })), ports: [apiPort(port)] })),
});

const apiEndpointSlice = (name: string, { port, ips }: AddressesOfPort): Draft<EndpointSlice> => ({
  metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
  addressType: ips[0]?.includes(':') === true ? 'IPv6' : 'IPv4',
  endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
  ports: [apiPort(port)],
});

const dnsMetadata = { name: 'kube-dns', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS' } } as const;
const dnsPorts = [
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
];

const dnsService = (clusterIP: string | undefined): Draft<Service> => ({
  metadata: dnsMetadata,
  spec: { ...(clusterIP === undefined ? {} : { clusterIP }), ports: dnsPorts.map((port) => ({ ...port, targetPort: port.port })) },
});

const dnsEndpointSlice = (addresses: ReadonlyMap<string, string>): Draft<EndpointSlice> => ({
  metadata: { name: 'kube-dns', namespace: 'kube-system', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
  addressType: 'IPv4',
  endpoints: [...addresses].map(([nodeName, address]) => ({ addresses: [address], conditions: { ready: true }, nodeName })),
  ports: dnsPorts.map((port) => ({ ...port })),
});
