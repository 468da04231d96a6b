/** Every instance of the cloud that runs is a node: a hollow one, with the capacity and the attach limit of its type. */
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { instanceTypes, mostVolumes } from '../../cloud/engine/instance-types.ts';
import type { Instance } from '../../cloud/engine/records.ts';
import { privateDnsName } from '../../cloud/engine/regions.ts';
import type { HollowNodes } from '../../node/hollow-nodes.ts';
import type { Host } from '../../node/host.ts';
import type { Machine } from '../../node/runtimes/hollow/hosts.ts';
import { maxPods } from '../../node/runtimes/hollow/hosts.ts';
import type { Cancel, World } from '../../world/world.ts';
import { readUserData } from './user-data.ts';

export interface InstanceNodesOptions {
  readonly world: World;
  readonly cloud: Cloud;
  readonly machine: Omit<Machine, 'architecture'>;
  /** The kubelet of an instance that runs is up after this time. */
  readonly bootMs?: number;
}

/** The CSI driver of the cloud's volumes. */
const driver = 'ebs.csi.aws.com';
const usualBootMs = 20_000;

/** A node for each instance that runs; it is switched off when the instance ends, or no longer answers. */
export class InstanceNodes {
  readonly #options: InstanceNodesOptions;
  /** By name. They booted before this process began: the cluster is ready when they are. */
  readonly hosts: ReadonlyMap<string, Host>;
  readonly #running = new Map<string, { readonly name: string; readonly cancel: Cancel }>();
  #unfollow: readonly Cancel[] = [];
  #count = 0;

  constructor(options: InstanceNodesOptions) {
    this.#options = options;
    const up = [...options.cloud.state.instances.values()].filter((instance) => this.#isUp(instance));
    const hosts = up.map((instance) => [instance, this.#hostOf(instance)] as const);
    this.hosts = new Map(hosts.map(([, host]) => [host.name, host]));
    for (const [{ id }, { name }] of hosts) this.#running.set(id, { name, cancel: () => {} });
  }

  /** Begins to follow the cloud; `hosts` are among the nodes. */
  follow(nodes: Pick<HollowNodes, 'add' | 'remove'>): void {
    const { cloud } = this.#options;
    this.#unfollow = [
      cloud.onChange((change) => {
        if (change.in === 'instances' && change.record !== undefined) this.#changed(change.record, nodes);
      }),
      cloud.onFaults(() => {
        for (const instance of cloud.state.instances.values()) this.#changed(instance, nodes);
      }),
    ];
  }

  stop(): void {
    for (const cancel of this.#unfollow) cancel();
    for (const { cancel } of this.#running.values()) cancel();
  }

  #changed(instance: Instance, nodes: Pick<HollowNodes, 'add' | 'remove'>): void {
    const { world, bootMs = usualBootMs } = this.#options;
    const known = this.#running.get(instance.id);
    const isUp = this.#isUp(instance);
    if (isUp && known === undefined) {
      const host = this.#hostOf(instance);
      this.#running.set(instance.id, { name: host.name, cancel: world.timers.after(bootMs, () => nodes.add(host)) });
    } else if (!isUp && known !== undefined) {
      known.cancel();
      nodes.remove(known.name);
      this.#running.delete(instance.id);
    }
  }

  #isUp(instance: Instance): boolean {
    return instance.state === 'running' && !this.#options.cloud.faults.isFrozen(instance);
  }

  #hostOf(instance: Instance): Host {
    const {
      cloud: { region },
      machine,
    } = this.#options;
    const type = instanceTypes.get(instance.type);
    const name = privateDnsName(instance.privateAddress, region.name);
    const { labels, taints } = readUserData(instance.userData);
    const architecture = type?.architecture === 'arm64' ? 'arm64' : 'amd64';
    const number = this.#count++;
    return {
      name,
      labels: {
        'beta.kubernetes.io/arch': architecture,
        'beta.kubernetes.io/instance-type': instance.type,
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': architecture,
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': instance.type,
        'topology.ebs.csi.aws.com/zone': instance.zone,
        'topology.k8s.aws/zone-id': region.zones.find((zone) => zone.name === instance.zone)?.id ?? '',
        'topology.kubernetes.io/region': region.name,
        'topology.kubernetes.io/zone': instance.zone,
        ...labels,
      },
      ip: instance.privateAddress,
      podCidr: `10.${128 + (Math.floor(number / 64) % 64)}.${(number % 64) * 4}.0/22`,
      capacity: capacityOf(instance.type),
      system: {
        ...machine,
        architecture,
        operatingSystem: 'linux',
        kubeProxyVersion: '',
        machineID: instance.id,
        systemUUID: instance.id,
        bootID: instance.id,
      },
      providerID: providerIdOf(instance),
      taints,
      drivers: [
        {
          name: driver,
          nodeID: instance.id,
          topologyKeys: ['kubernetes.io/os', 'topology.ebs.csi.aws.com/zone', 'topology.kubernetes.io/zone'],
          allocatable: { count: volumeLimitOf(instance.type, instance.networkInterfaces) },
        },
      ],
    };
  }
}

/** 'aws:///eu-west-2a/i-0123456789abcdef0' */
export const providerIdOf = ({ zone, id }: Pick<Instance, 'zone' | 'id'>): string => `aws:///${zone}/${id}`;

/** What is left for volumes of pods: the root volume is one of the attachments. */
export function volumeLimitOf(typeName: string, networkInterfaces = 1): number {
  const type = instanceTypes.get(typeName);
  return type === undefined ? 0 : Math.max(1, mostVolumes(type, networkInterfaces) - 1);
}

/** All of it is allocatable on a hollow node. */
export function capacityOf(typeName: string): Record<string, string> {
  const type = instanceTypes.get(typeName);
  if (type === undefined) return {};
  const pods = Math.min(maxPods, type.networkInterfaces * (type.addressesPerInterface - 1) + 2);
  return { cpu: String(type.vcpus), memory: `${type.memoryMiB}Mi`, 'ephemeral-storage': '20Gi', pods: String(pods) };
}
