/** An agent that does nothing but keep volumes, on a simulated machine, in a process that can be killed at any call. */
import { createHash } from 'node:crypto';
import { configMapKind } from '../../src/api/kinds/config-map.ts';
import { eventKind } from '../../src/api/kinds/event.ts';
import { secretKind } from '../../src/api/kinds/secret.ts';
import type { NodeDriver } from '../../src/drivers/contract.ts';
import { configMapNode } from '../../src/drivers/config-map/node.ts';
import { emptyDirNode } from '../../src/drivers/empty-dir/node.ts';
import { ensureBound, ensureUnmounted, mountAt, removePlace } from '../../src/drivers/files/node-host.ts';
import { hostPathNode } from '../../src/drivers/host-path/node.ts';
import { localNode } from '../../src/drivers/local/node.ts';
import { secretNode } from '../../src/drivers/secret/node.ts';
import { createClient } from '../../src/machinery/client.ts';
import { Informers } from '../../src/machinery/informers.ts';
import { runController } from '../../src/machinery/loop.ts';
import { Recorder } from '../../src/machinery/recorder.ts';
import { createInProcessTransport } from '../../src/main/in-process-transport.ts';
import { Holdings } from '../../src/node/holdings.ts';
import { View } from '../../src/node/sight/view.ts';
import { VolumeKeeper } from '../../src/node/mounting/keeper.ts';
import type { SimulatedCluster } from '../../src/sim/cluster/cluster.ts';
import type { SimulatedDisk } from '../../src/sim/disk.ts';
import { SimulatedHost, type HostCall, type Machine } from '../../src/sim/host/simulated-host.ts';
import { SimulatedProcess } from '../../src/sim/process.ts';
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
  /** What the driver with disks answers when one has to grow on the node. */
  readonly expands?: NonNullable<NodeDriver['expand']>;
}

export interface SmallAgent {
  readonly keeper: VolumeKeeper;
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
  const holdings = new Holdings();
  holdings.settle('node-1', 'sent');
  const view = new View({ hosts, informers, holdings, sha256 });
  const recorder = new Recorder({ world: process, client, eventKind, component: 'kubelet' });
  const keeper = await VolumeKeeper.open({
    world: process,
    machine: { mounts: host, files: host },
    disk,
    root,
    host: node,
    view,
    holdings,
    client,
    recorder,
    drivers: driversOn(host, process, { informers, expands: options.expands ?? (async () => ({ ok: true, value: undefined })) }),
    tenants: { mayRun: options.mayRun },
    sha256,
  });
  runController(keeper.controller, { world: process, informers });
  informers.start();
  return { keeper, process, host };
}

function driversOn(
  host: SimulatedHost,
  { clock }: World,
  { informers, expands }: { informers: Informers; expands: NonNullable<NodeDriver['expand']> },
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

/** A driver with disks that are mounted once for each node: `disk.example.com/disk`. */
function diskNode(host: SimulatedHost, expand: NonNullable<NodeDriver['expand']>): NodeDriver {
  const machine = { mounts: host, files: host };
  return {
    facts: { name: 'example.com/disk', stages: true, mountOptions: true, block: false, follows: false },
    stage: async ({ stagingPath }) => {
      await host.makeDirectory(stagingPath, 0o750);
      const mounted = await mountAt(machine, stagingPath);
      if (mounted === undefined) await ensureBound(machine, { source: '/disk', target: stagingPath, readOnly: false, options: [] });
      return { ok: true, value: undefined };
    },
    expand,
    unstage: async ({ stagingPath }) => {
      await ensureUnmounted(machine, stagingPath);
      await host.removeTree(stagingPath);
      return { ok: true, value: undefined };
    },
    publish: async ({ stagingPath = '', target, volume }) => {
      await ensureBound(machine, { source: stagingPath, target, readOnly: volume.readOnly, options: volume.mountOptions });
      return { ok: true, value: { path: target } };
    },
    unpublish: async ({ target }) => {
      await removePlace(machine, target);
      return { ok: true, value: undefined };
    },
  };
}
