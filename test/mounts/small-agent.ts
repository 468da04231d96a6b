/** An agent with nothing but a volume manager, on a simulated machine, in a process that can be killed at any call. */
import { createHash } from 'node:crypto';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { secretKind } from '../../src/api/kinds/core/secret.ts';
import type { NodeDriver } from '../../src/drivers/contract.ts';
import { configMapNode } from '../../src/drivers/config-map/node.ts';
import { emptyDirNode } from '../../src/drivers/empty-dir/node.ts';
import { ensureBound, ensureUnmounted, mountAt, removeMountPoint } from '../../src/drivers/mount/node-host.ts';
import { hostPathNode } from '../../src/drivers/host-path/node.ts';
import { localNode } from '../../src/drivers/local/node.ts';
import { secretNode } from '../../src/drivers/secret/node.ts';
import { createClient } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { runController } from '../../src/client/controller/loop.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import { createInProcessTransport } from '../../src/cluster/access/in-process-transport.ts';
import { NodeAllocations } from '../../src/node/allocations.ts';
import { VolumesInUse } from '../../src/node/volumes-in-use.ts';
import { NodeCaches } from '../../src/node/cache/node-caches.ts';
import { VolumeManager } from '../../src/node/volume-manager/volume-manager.ts';
import type { SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import type { SimulatedDisk } from '../../src/sim/world/disk.ts';
import { SimulatedHost, type HostCall, type Machine } from '../../src/sim/host/simulated-host.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import type { World } from '../../src/world/world.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
const never = new Promise<never>(() => undefined);

export const root = '/var/lib/node';

export interface AgentOptions {
  readonly cluster: SimulatedCluster;
  readonly world: World;
  readonly machine: Machine;
  readonly disk: SimulatedDisk;
  /** Which pods' containers run, or may. */
  readonly mayRun: (uid: string) => boolean;
  /** Called before and after each call takes effect. True: the process dies here. */
  readonly dies?: (call: HostCall, moment: 'before' | 'after') => boolean;
  /** Thrown by the call. */
  readonly fails?: (call: HostCall) => string | undefined;
  /** NodeExpandVolume of the driver with disks. */
  readonly expands?: NonNullable<NodeDriver['nodeExpandVolume']>;
}

export interface SmallAgent {
  readonly volumeManager: VolumeManager;
  readonly process: SimulatedProcess;
  readonly host: SimulatedHost;
}

export async function startAgent(options: AgentOptions): Promise<SmallAgent> {
  const { cluster, machine, disk, dies = () => false, fails = () => undefined } = options;
  const process = new SimulatedProcess(options.world, 'agent');
  const moment = (when: 'before' | 'after') => (call: HostCall) => {
    if (!process.alive) return never;
    if (when === 'before') {
      const error = fails(call);
      if (error !== undefined) throw new Error(error);
    }
    if (!dies(call, when)) return undefined;
    process.kill();
    return never;
  };
  const host = new SimulatedHost(machine, { before: moment('before'), after: moment('after') });
  const client = createClient({ transport: process.transport(createInProcessTransport(cluster.server.api, admin, 'agent')) });
  const informers = new Informers({ world: process, client });
  const hosts = cluster.hosts({ count: 1 });
  const node = hosts.get('node-1');
  if (node === undefined) throw new Error('there is no node-1');
  const inUse = new VolumesInUse();
  inUse.confirmReported('node-1', 'sent');
  const caches = new NodeCaches({ hosts, informers, allocations: new NodeAllocations(), inUse, sha256 });
  const recorder = new EventRecorder({ world: process, client, eventKind, component: 'kubelet' });
  const volumeManager = await VolumeManager.open({
    world: process,
    machine: { mounts: host, files: host },
    disk,
    root,
    host: node,
    caches,
    inUse,
    client,
    recorder,
    drivers: driversOn(host, process, { informers, expands: options.expands ?? (async () => ({ ok: true, value: undefined })) }),
    podActivity: { mayRun: options.mayRun },
    sha256,
  });
  runController(volumeManager.controller, { world: process, informers });
  informers.start();
  return { volumeManager, process, host };
}

function driversOn(
  host: SimulatedHost,
  { clock }: World,
  { informers, expands }: { informers: Informers; expands: NonNullable<NodeDriver['nodeExpandVolume']> },
): readonly NodeDriver[] {
  const machine = { mounts: host, files: host };
  const files = { ...machine, clock, allocatableMemory: '32Gi' };
  return [
    emptyDirNode(files),
    hostPathNode(machine),
    localNode({ ...files, programs: { run: async () => ({ type: 'failed', message: 'there are no programs here' }) } }),
    configMapNode({ ...files, configMap: (key) => informers.cache(configMapKind).getKey(key) }),
    secretNode({ ...files, secret: (key) => informers.cache(secretKind).getKey(key) }),
    diskNode(host, expands),
  ];
}

/** A driver that stages its disks: `disk.example.com/disk`. */
function diskNode(host: SimulatedHost, expand: NonNullable<NodeDriver['nodeExpandVolume']>): NodeDriver {
  const machine = { mounts: host, files: host };
  return {
    capabilities: { name: 'example.com/disk', stages: true, mountOptions: true, block: false, requiresRemount: false },
    nodeStageVolume: async ({ stagingPath }) => {
      await host.makeDirectory(stagingPath, 0o750);
      const mounted = await mountAt(machine, stagingPath);
      if (mounted === undefined) await ensureBound(machine, { source: '/disk', target: stagingPath, readOnly: false, options: [] });
      return { ok: true, value: undefined };
    },
    nodeExpandVolume: expand,
    nodeUnstageVolume: async ({ stagingPath }) => {
      await ensureUnmounted(machine, stagingPath);
      await host.removeTree(stagingPath);
      return { ok: true, value: undefined };
    },
    nodePublishVolume: async ({ stagingPath = '', target, volume }) => {
      await ensureBound(machine, { source: stagingPath, target, readOnly: volume.readOnly, options: volume.mountOptions });
      return { ok: true, value: { path: target } };
    },
    nodeUnpublishVolume: async ({ target }) => {
      await removeMountPoint(machine, target);
      return { ok: true, value: undefined };
    },
  };
}
