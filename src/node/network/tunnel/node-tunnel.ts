import { namespaceKind } from '../../../api/kinds/core/namespace.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import type { HostNetwork } from '../../../world/host-network.ts';
import type { Cancel, World } from '../../../world/world.ts';
import { gatewayOf } from '../gateway.ts';
import type { RulesetPart } from '../nftables/ruleset.ts';
import { sets } from '../table.ts';
import {
  addPeer,
  deviceCommands,
  internalIp,
  networkIdentifier,
  removePeer,
  tunnelDevice,
  type TunnelPeer,
  type TunnelPeers,
  tunnelPeers,
  tunnelPort,
} from './peers.ts';

export interface NodeTunnelOptions {
  readonly world: World;
  /** Of Nodes and namespaces. */
  readonly informers: Informers;
  readonly network: HostNetwork;
  readonly table: { replace(owner: string, part: RulesetPart | undefined): void };
  /** Of this process, by the name of the node. */
  readonly ownCidrs: ReadonlyMap<string, string>;
  readonly reserved: readonly string[];
  readonly machine: {
    addresses(): ReadonlySet<string>;
    /** Of the interface with this address. */
    mtu(address: string): Promise<number>;
    /** Without the default route. */
    routes(): Promise<readonly { readonly via: string; readonly cidr: string }[]>;
  };
  /** Called before the device is made. */
  readonly onDevice: (device: string) => Promise<void>;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** After a failure of ip(8). */
const retryMs = 5000;

/**
 * Keeps routes to the pods of nodes on other machines in step with the Node objects: a VXLAN device for the cluster, and for each node a route, the hardware address of its
 * machine and where that is. The device is made when the first such node is there: a cluster on one machine has none.
 */
export class NodeTunnel {
  readonly #options: NodeTunnelOptions;
  readonly #cancels: readonly Cancel[];
  /** Undefined: no peer was seen yet. */
  #device: string | undefined;
  #applied = new Map<string, TunnelPeer>();
  #refused: ReadonlyMap<string, string> = new Map();
  #cancelRetry: Cancel = () => undefined;
  #isPlanned = false;
  #stopped = false;
  #syncing: Promise<void> = Promise.resolve();

  constructor(options: NodeTunnelOptions) {
    this.#options = options;
    const { informers } = options;
    this.#cancels = [
      informers.cache(nodeKind).subscribe(({ before, after }) => {
        if (before === undefined || after === undefined || routed(before) !== routed(after)) this.#plan();
      }),
      informers.cache(namespaceKind).subscribe(({ after }) => {
        if (after?.metadata.name === clusterNamespace) this.#plan();
      }),
    ];
  }

  /** Routes stay: pods may go on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry();
    for (const cancel of this.#cancels) cancel();
    await this.#syncing;
  }

  #plan(): void {
    if (this.#isPlanned || this.#stopped) return;
    this.#isPlanned = true;
    this.#options.world.timers.soon(() => {
      this.#syncing = this.#syncing.then(() => {
        this.#isPlanned = false;
        return this.#stopped ? undefined : this.#sync();
      });
    });
  }

  async #sync(): Promise<void> {
    const { informers, ownCidrs, reserved, machine, table, world } = this.#options;
    const nodes = [...informers.cache(nodeKind).list()];
    const uid = informers.cache(namespaceKind).getKey(clusterNamespace)?.metadata.uid;
    const own = nodes.find(({ metadata }) => ownCidrs.has(metadata.name));
    const [address] = own === undefined ? [] : internalIp(own);
    if (uid === undefined || address === undefined) return;
    const identifier = networkIdentifier(uid, this.#options.sha256);
    const routes = (await machine.routes()).flatMap(({ via, cidr }) => (via === tunnelDevice(identifier) ? [] : cidr));
    const wanted = tunnelPeers({ nodes, ownCidrs, reserved, ownAddresses: machine.addresses(), routes });
    this.#report(wanted);
    if (wanted.peers.length === 0 && this.#device === undefined) return;
    table.replace('tunnel', tunnelRules(identifier, wanted.peers));
    const error = (await this.#makeDevice(identifier, address)) || (await this.#route(wanted.peers));
    if (error === '') return;
    world.log.warn('pods of other machines are not reached: the tunnel cannot be set up', { device: tunnelDevice(identifier), error });
    this.#cancelRetry();
    this.#cancelRetry = world.timers.after(retryMs, () => this.#plan());
  }

  #report({ refused }: TunnelPeers): void {
    for (const [node, why] of refused) if (this.#refused.get(node) !== why) this.#options.world.log.error('the pods of a node are not reached', { node, why });
    this.#refused = refused;
  }

  /** Resolves with the error; '': none. An earlier process may have made the device, and left routes. */
  async #makeDevice(identifier: number, address: string): Promise<string> {
    if (this.#device !== undefined) return '';
    const { network, machine, ownCidrs, onDevice } = this.#options;
    const device = tunnelDevice(identifier);
    await onDevice(device);
    const { add, setUp } = deviceCommands({ identifier, address, mtu: await machine.mtu(address), ownCidrs: [...ownCidrs.values()] });
    const refused = await network.ip(add);
    const wrong = await network.ip(setUp);
    if (wrong !== '') return `${refused}\n${wrong}`.trim();
    const left = (await machine.routes()).filter(({ via }) => via === device);
    this.#applied = new Map(left.map(({ cidr }) => [cidr, { name: '', podCidr: cidr, address: '' }]));
    this.#device = device;
    return network.setSysctl(`net/ipv4/conf/${device}/forwarding`, '1');
  }

  async #route(peers: readonly TunnelPeer[]): Promise<string> {
    const { network, ownCidrs } = this.#options;
    const device = this.#device ?? '';
    const [own = ''] = ownCidrs.values();
    const wanted = new Map(peers.map((peer) => [peer.podCidr, peer]));
    const gone = [...this.#applied.values()].filter(({ podCidr }) => !wanted.has(podCidr));
    // What is gone already cannot be removed.
    if (gone.length > 0) await network.ip(gone.map((peer) => removePeer(device, peer)).join(''));
    for (const { podCidr } of gone) this.#applied.delete(podCidr);
    const changed = peers
      .filter(({ podCidr, address }) => this.#applied.get(podCidr)?.address !== address)
      .map((peer) => ({ peer, add: addPeer(device, peer, gatewayOf(own)) }));
    if (changed.length === 0) return '';
    const error = (await network.bridge(changed.map(({ add }) => add.bridge).join(''))) || (await network.ip(changed.map(({ add }) => add.ip).join('')));
    if (error === '') for (const { peer } of changed) this.#applied.set(peer.podCidr, peer);
    return error;
  }
}

/** Its uid identifies the cluster. */
const clusterNamespace = 'kube-system';

const routed = (node: Parameters<typeof internalIp>[0]): string =>
  `${node.spec.podCIDR ?? ''} ${internalIp(node).join()} ${node.status.nodeInfo?.containerRuntimeVersion ?? ''}`;

/** Only machines of the cluster's nodes send packets through its tunnel. The identifier lies behind the headers of UDP and the flags of VXLAN. */
function tunnelRules(identifier: number, peers: readonly TunnelPeer[]): RulesetPart {
  return {
    sets: new Map([['tunnel-peers', 'type ipv4_addr;']]),
    chains: new Map([['tunnel-sources', [`@th,96,24 ${identifier} ip saddr != @tunnel-peers drop`]]]),
    elements: new Map([
      ['tunnel-peers', new Map(peers.map(({ address }) => [address, '']))],
      [sets.tunnels, new Map([[String(tunnelPort), 'jump tunnel-sources']])],
    ]),
  };
}
