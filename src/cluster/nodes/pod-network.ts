/** The network of the pods on this machine: bridges, the table of Services in the kernel, and the DNS server of the cluster's names. */
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { qualifiedResource } from '../../api/kind.ts';
import { podAddressKind } from '../../api/kinds/mooring/pod-address.ts';
import { ApiError } from '../../api/status.ts';
import { defaultServiceNetwork } from '../../apiserver/admission/plugins/service-allocation.ts';
import { Informers } from '../../client/informers/informers.ts';
import { createClient } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import { realHostNetwork } from '../../host/host-network.ts';
import { clusterRecords } from '../../node/dns/records-from-caches.ts';
import { DnsServer } from '../../node/dns/server.ts';
import type { Host } from '../../node/host.ts';
import { gatewayOf } from '../../node/network/gateway.ts';
import { hostPortRules, nodeRules } from '../../node/network/pod-rules.ts';
import { NetworkPolicies, type NetworkPoliciesOptions } from '../../node/network-policy/network-policies.ts';
import type { PolicyPod } from '../../node/network-policy/policy-rules.ts';
import { NodeTunnel } from '../../node/network/tunnel/node-tunnel.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import type { NetworkPolicy } from '../../api/generated/types.ts';
import { networkPolicyKind } from '../../api/kinds/networking/network-policy.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { NftablesTable } from '../../node/network/nftables/table.ts';
import { bridgeCommands, linkGroup, type PodNetwork } from '../../node/network/pod-network.ts';
import type { PodsContext } from '../../node/pod-worker/context.ts';
import { layoutOf } from '../../node/runtimes/sandbox/shim/layout.ts';
import { ServiceProxy } from '../../node/service-proxy/service-proxy.ts';
import { baseTable, chains } from '../../node/network/table.ts';
import type { World } from '../../world/world.ts';
import { sha256 } from '../sha256.ts';
import { recordTable, removeStaleTables, removeTable, tableOf } from './network-table.ts';
import { forwardPackets, linkWith, restoreForwarding } from './packet-forwarding.ts';
import { routes } from './pod-cidr.ts';

export interface PodNetworkOptions {
  readonly world: World;
  /** The directory that the table is named after: of all nodes of `moor up`, or of a `moor node`. */
  readonly directory: string;
  readonly nodes: readonly { readonly host: Host; readonly sandbox: string }[];
  /** Of Services, EndpointSlices and Nodes. */
  readonly transport: Transport;
  readonly eventTransport: Transport;
  /** The client may read the pods of these nodes alone, as a joined node, and the addresses of all. */
  readonly ownPodsOnly?: boolean;
  /** Called when the bridges and their addresses are there, before any pod runs. Resolves with the cluster IP of the DNS servers on these addresses. */
  readonly onBridges?: ((gateways: ReadonlyMap<string, string>) => Promise<string | undefined>) | undefined;
}

export interface RunningPodNetwork {
  /** Why Services do not work; undefined: they do. */
  readonly problem: string | undefined;
  /** As in `PodsContext`. */
  readonly awaitNetworkPolicies: PodsContext['awaitNetworkPolicies'] | undefined;
  /** The DNS server of a node's pods. */
  nameServerOf(node: string): string | undefined;
  /** If pods go on, bridges and table stay for them. */
  stop(how: { readonly podsGoOn: boolean }): Promise<void>;
}

export async function startPodNetwork(options: PodNetworkOptions): Promise<RunningPodNetwork> {
  const { world, directory, nodes, transport, eventTransport, ownPodsOnly = false, onBridges } = options;
  const networks = nodes.map(({ host, sandbox }): PodNetwork => ({ cidr: host.podCidr, bridge: layoutOf(sandbox).bridge }));
  for (const network of networks) await makeBridge(network, world);
  const gateways = new Map(nodes.map(({ host }) => [host.name, gatewayOf(host.podCidr)]));
  const dnsIp = await onBridges?.(gateways);
  const recorder = new EventRecorder({ world, client: createClient({ transport: eventTransport }), eventKind, component: 'kube-proxy' });
  const podSelection = { fieldSelector: `spec.nodeName=${nodes[0]?.host.name ?? ''}` };
  const informers = new Informers({
    world,
    client: createClient({ transport }),
    selectionOf: (resource) => (ownPodsOnly && resource === qualifiedResource(podKind) ? podSelection : undefined),
  });
  const dns = new DnsServer({ world, addresses: [...gateways.values()], records: clusterRecords(informers) });
  const base = baseTable({ linkGroups: networks.map(linkGroup), podCidrs: networks.map(({ cidr }) => cidr) });
  const onRefused = (owner: string, error: string): void => {
    world.log.warn('the kernel refuses rules', { of: owner, error });
    policies?.refused(owner).forEach((policy) => recorder.record(policy, { type: 'Warning', reason: 'Refused', message: refusedMessage }));
  };
  const table = new NftablesTable({ world, network: realHostNetwork, name: tableOf(directory), base, hold: chains.hold, onRefused });
  await removeStaleTables();
  const bridges = networks.map(({ bridge }) => bridge);
  await recordTable(directory, bridges);
  const unreadable = ownPodsOnly ? await unreadableAddresses(transport) : undefined;
  const problem = await table.open();
  const location = locationOf(nodes);
  const proxy = problem === '' ? new ServiceProxy({ world, informers, location, table, network: realHostNetwork, sha256 }) : undefined;
  const onTooLarge = (policy: NetworkPolicy): void => recorder.record(policy, { type: 'Warning', reason: 'TooLarge', message: tooLarge });
  const enforced = { world, informers, nodes: location.nodes, table, onTooLarge, sha256 };
  const policies = problem !== '' || unreadable !== undefined ? undefined : enforcePolicies(enforced, ownPodsOnly);
  if (policies === undefined) table.release();
  if (problem === '') followNodesAndPods(informers, location.nodes, table);
  const ownCidrs = new Map(nodes.map(({ host }) => [host.name, host.podCidr]));
  const onDevice = (device: string): Promise<void> => recordTable(directory, [...bridges, device]);
  const tunnel =
    problem === '' ? new NodeTunnel({ world, informers, network: realHostNetwork, table, ownCidrs, reserved, machine, onDevice, sha256 }) : undefined;
  if (problem === '')
    await forwardPackets(
      world,
      nodes.map(({ host }) => host.ip),
    );
  else world.log.warn('Services do not work: nftables cannot be used', { error: problem });
  if (problem !== '') sayNotEnforced({ informers, recorder }, 'nftables cannot be used on this node');
  else if (unreadable !== undefined) sayNotEnforced({ informers, recorder }, unreadable);
  dns.listen();
  informers.start();
  return {
    problem: problem === '' ? undefined : problem,
    awaitNetworkPolicies: policies === undefined ? undefined : (pod, address) => policies.admit(pod, address),
    nameServerOf: (node) => (problem === '' ? dnsIp : undefined) ?? gateways.get(node),
    async stop({ podsGoOn }) {
      proxy?.stop();
      policies?.stop();
      await tunnel?.stop();
      dns.stop();
      informers.stop();
      await recorder.stop();
      await table.stop();
      if (podsGoOn) return;
      await removeTable(directory);
      await realHostNetwork.ip(bridges.map((bridge) => `link del ${bridge}\n`).join(''));
      await restoreForwarding();
    },
  };
}

const tooLarge =
  'the policy has more than 10000 pairs of peer and port in one direction: the rules beyond permit nothing. Use fewer, larger ipBlocks and port ranges.';

const refusedMessage = 'the kernel refuses the rules of this namespace: until it takes them, the pods that its policies select begin and accept no connections';

const reserved = [defaultServiceNetwork.serviceCidr];

const machine = {
  addresses: () => new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))),
  mtu: mtuOf,
  routes,
};

const usualMtu = 1500;

async function mtuOf(address: string): Promise<number> {
  const text = await readFile(`/sys/class/net/${linkWith(address) ?? ''}/mtu`, 'utf8').catch(() => '');
  return Number(text) || usualMtu;
}

/** Why the addresses of other nodes' pods cannot be read; undefined: they can, or the server does not answer yet. */
async function unreadableAddresses(transport: Transport): Promise<string | undefined> {
  const asked = await createClient({ transport }).list(podAddressKind, { limit: 1 });
  if (asked.ok || !(asked.error instanceof ApiError) || (asked.error.code !== 404 && asked.error.code !== 403)) return undefined;
  return `the API server does not let this node read the addresses of other nodes' pods, which policies select (${qualifiedResource(podAddressKind)}: ${asked.error.message})`;
}

type Enforced = Omit<NetworkPoliciesOptions<PolicyPod>, 'pods'>;

const enforcePolicies = (options: Enforced, ownPodsOnly: boolean): Pick<NetworkPolicies<PolicyPod>, 'admit' | 'refused' | 'stop'> =>
  ownPodsOnly
    ? new NetworkPolicies({ ...options, pods: options.informers.cache(podAddressKind) })
    : new NetworkPolicies({ ...options, pods: options.informers.cache(podKind) });

/** A user relies on a policy: where nothing enforces it, the policy says so. */
function sayNotEnforced({ informers, recorder }: { informers: Informers; recorder: EventRecorder }, cause: string): void {
  const message = `${cause}: the policy is not enforced there, its pods accept and send everything`;
  informers.cache(networkPolicyKind).subscribe(({ after }) => {
    if (after !== undefined) recorder.record(after, { type: 'Warning', reason: 'NotEnforced', message });
  });
}

/** Pod CIDRs of all nodes, and host ports of this machine's pods. */
function followNodesAndPods(informers: Informers, own: ReadonlySet<string>, table: NftablesTable): void {
  const portOwners = new Set<string>();
  informers.cache(nodeKind).subscribe(({ before, after }) => {
    if (before?.spec.podCIDR !== after?.spec.podCIDR)
      table.replace(`node ${(after ?? before)?.metadata.name ?? ''}`, after === undefined ? undefined : nodeRules(after));
  });
  informers.cache(podKind).subscribe(({ before, after }) => {
    const { uid = '' } = (after ?? before)?.metadata ?? {};
    const isHere = after !== undefined && own.has(after.spec.nodeName ?? '') && !hasEnded(after);
    if (before?.status.podIP === after?.status.podIP && isHere) return;
    const part = isHere ? hostPortRules(after, sha256) : undefined;
    if (part !== undefined || portOwners.has(uid)) table.replace(`hostports ${uid}`, part);
    if (part === undefined) portOwners.delete(uid);
    else portOwners.add(uid);
  });
}

async function makeBridge(network: PodNetwork, world: World): Promise<void> {
  const { add, setUp } = bridgeCommands(network);
  await realHostNetwork.ip(add);
  const error = await realHostNetwork.ip(setUp);
  if (error !== '') world.log.warn('the bridge of the pods cannot be set up', { ...network, error });
}

/** Nodes of several zones on one machine are in none. */
function locationOf(nodes: PodNetworkOptions['nodes']) {
  const zones = new Set(nodes.map(({ host }) => host.labels['topology.kubernetes.io/zone'] ?? ''));
  return { nodes: new Set(nodes.map(({ host }) => host.name)), zone: zones.size === 1 ? ([...zones][0] ?? '') : '' };
}
