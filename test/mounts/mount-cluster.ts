/** A machine with a volume manager, in a simulated cluster in which tests play all other components. */
import type { Pod } from '../../src/api/generated/types.ts';
import type { Stored } from '../../src/api/stored.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../src/api/kinds/core/secret.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import type { Draft } from '../../src/client/client.ts';
import { ok, type SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { SimulatedDisk } from '../../src/sim/world/disk.ts';
import { Machine, SimulatedHost } from '../../src/sim/host/simulated-host.ts';
import type { SimulatedWorld } from '../../src/sim/world/world.ts';
import { type AgentOptions, root, type SmallAgent, startAgent } from './small-agent.ts';

export const inDefault = (name: string) => ({ namespace: 'default', name });
export const bytes = (text: string) => new TextEncoder().encode(text);

/** The objects that every test needs. */
export async function prepare(cluster: SimulatedCluster): Promise<void> {
  await cluster.create(serviceAccountKind, { metadata: inDefault('default') });
  await cluster.create(nodeKind, { metadata: { name: 'node-1', labels: { here: 'yes' } } });
}

/** One machine, whose agents are killed and restarted. */
export class MountCluster {
  readonly cluster: SimulatedCluster;
  readonly machine: Machine;
  /** Outside of any process that can be killed. */
  readonly host: SimulatedHost;
  readonly #world: SimulatedWorld;
  readonly vacated = new Set<string>();
  #disk = new SimulatedDisk();
  #agent: SmallAgent | undefined;

  static async open(world: SimulatedWorld, cluster: SimulatedCluster, machine = new Machine()): Promise<MountCluster> {
    const node = new MountCluster(world, cluster, machine);
    for (const path of ['/disk', '/mnt/local']) await node.host.makeDirectory(path, 0o750);
    await node.host.write('/mnt/local/precious', bytes('data'), 0o600);
    await node.host.write('/disk/precious', bytes('data'), 0o600);
    return node;
  }

  private constructor(world: SimulatedWorld, cluster: SimulatedCluster, machine: Machine) {
    this.machine = machine;
    this.host = new SimulatedHost(machine);
    this.#world = world;
    this.cluster = cluster;
  }

  /** Replaces the agent before, which is killed. */
  async agent(faults: Pick<AgentOptions, 'dies' | 'fails' | 'expands'> = {}): Promise<SmallAgent> {
    if (this.#agent?.process.alive === true) this.#agent.process.kill();
    this.#disk = this.#disk.kill();
    const { cluster, machine, vacated } = this;
    const options = { cluster, machine, world: this.#world, disk: this.#disk, mayRun: (uid: string) => !vacated.has(uid), ...faults };
    this.#agent = await startAgent(options);
    return this.#agent;
  }

  leave(uid: string): void {
    this.vacated.add(uid);
    this.#agent?.volumeManager.podStopped(uid);
  }

  async mounted(): Promise<readonly string[]> {
    return (await this.host.table()).flatMap(({ target }) => (target.startsWith(root) ? [target.slice(root.length + 1)] : [])).sort();
  }

  async pod(name: string, volumes: Draft<Pod['spec']['volumes']>, more: Draft<Pod['spec']> = {}): Promise<Stored<Pod>> {
    const volumeMounts = (volumes ?? []).map((volume) => ({ name: volume.name ?? '', mountPath: `/${volume.name}` }));
    const created = await this.cluster.client.create(podKind, {
      metadata: inDefault(name),
      spec: { nodeName: 'node-1', automountServiceAccountToken: false, containers: [{ name: 'app', image: 'image', volumeMounts }], volumes, ...more },
    });
    return ok(created);
  }

  async messages(): Promise<readonly string[]> {
    return ok(await this.cluster.client.list(eventKind)).items.map(({ reason, message }) => `${reason ?? ''}: ${message ?? ''}`);
  }
}

/** A volume of each type, with claims that are bound already. */
export async function bound(cluster: SimulatedCluster, name: string, spec: Parameters<SimulatedCluster['volume']>[1]): Promise<void> {
  const claim = await cluster.create(persistentVolumeClaimKind, {
    metadata: inDefault(name),
    spec: { accessModes: spec?.accessModes ?? ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', volumeName: name },
  });
  await cluster.create(persistentVolumeKind, {
    metadata: { name, ...(name === 'local' ? { annotations: { 'pv.beta.kubernetes.io/gid': '4711' } } : {}) },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name, uid: claim.metadata.uid ?? '' },
      ...spec,
    },
  });
  await cluster.changeStatus(persistentVolumeClaimKind, inDefault(name), (found) => ({ ...found, status: { phase: 'Bound' } }));
}

const onNode = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'here', operator: 'In', values: ['yes'] }] }] } };

export async function everything(cluster: SimulatedCluster): Promise<Draft<Pod['spec']['volumes']>> {
  await cluster.create(configMapKind, { metadata: inDefault('settings'), data: { 'app.conf': 'level=1', other: 'x' } });
  await cluster.create(secretKind, { metadata: inDefault('password'), data: { password: 'c2VjcmV0' } });
  await bound(cluster, 'local', { local: { path: '/mnt/local' }, nodeAffinity: onNode });
  await bound(cluster, 'disk', { flexVolume: { driver: 'example.com/disk' } });
  return [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'password', secret: { secretName: 'password' } },
    { name: 'local', persistentVolumeClaim: { claimName: 'local', readOnly: true } },
    { name: 'disk', persistentVolumeClaim: { claimName: 'disk' } },
  ];
}
