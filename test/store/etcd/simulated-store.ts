import { SimulatedEtcd } from '../../../src/sim/etcd/simulated-etcd.ts';
import { SimulatedChannel } from '../../../src/sim/world/grpc-channel.ts';
import { type NetworkFaults, perfectNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import type { SimulatedWorld } from '../../../src/sim/world/world.ts';
import type { EtcdStore, EtcdStoreOptions } from '../../../src/store/etcd/etcd-store.ts';
import { openEtcdStore } from '../../../src/store/etcd/etcd-store.ts';

/** A store of one server, in a simulated etcd cluster. */
export function openSimulatedStore(
  world: SimulatedWorld,
  etcd: SimulatedEtcd,
  { network = new SimulatedNetwork(world, perfectNetwork), ...options }: Partial<EtcdStoreOptions> & { readonly network?: SimulatedNetwork } = {},
): Promise<EtcdStore> {
  return openEtcdStore({
    endpoints: etcd.members.map((member, i) => ({ url: `http://etcd-${i}:2379`, channel: new SimulatedChannel(member, network) })),
    prefix: '/mooring',
    world,
    newClusterId: world.random.uuid(),
    compactionIntervalMs: 0,
    pageSize: 3,
    ...options,
  });
}

export const networkWith = (world: SimulatedWorld, faults: Partial<NetworkFaults>): SimulatedNetwork =>
  new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 5, ...faults });
