/** A process with the volume manager of node-1 on this machine, and nothing else. Argument: `AgentSettings`, as JSON. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { createClient } from '../../src/client/client.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { runController } from '../../src/client/controller/loop.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import { nodeDrivers } from '../../src/cluster/nodes/node-drivers.ts';
import { realDisk } from '../../src/host/disk.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { realPrograms } from '../../src/host/programs.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { NodeAllocations } from '../../src/node/allocations.ts';
import { VolumesInUse } from '../../src/node/volumes-in-use.ts';
import { NodeCaches } from '../../src/node/cache/node-caches.ts';
import type { Host } from '../../src/node/host.ts';
import { VolumeManager } from '../../src/node/volume-manager/volume-manager.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { secretKind } from '../../src/api/kinds/core/secret.ts';

export interface AgentSettings {
  readonly kubeconfig: string;
  readonly root: string;
  /** A file with the uids of pods whose containers are gone. */
  readonly vacated: string;
}

const { kubeconfig, root, vacated } = JSON.parse(process.argv[2] ?? '{}') as AgentSettings;
const world = createRealWorld({ logLevel: 'error' });
const client = createClient({ transport: new HttpTransport({ access: loadKubeconfig(kubeconfig, {}), world, userAgent: 'test' }) });
const informers = new Informers({ world, client });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const host = { name: 'node-1', drivers: [], capacity: {} } as unknown as Host;
const inUse = new VolumesInUse();
const caches = new NodeCaches({ hosts: new Map([['node-1', host]]), informers, allocations: new NodeAllocations(), inUse, sha256 });
const machine = { mounts: realMounts(), files: realHostFiles };
const { drivers, findDriver } = nodeDrivers({ ...machine, root, programs: realPrograms }, world, {
  nodeName: 'node-1',
  configMap: (key) => informers.cache(configMapKind).getKey(key),
  secret: (key) => informers.cache(secretKind).getKey(key),
  csiDriver: () => undefined,
  csiSocket: () => undefined,
  allocatable: () => ({ memory: '64Mi' }),
  client,
});
const podActivity = { mayRun: (uid: string) => !readFileSync(vacated, 'utf8').includes(uid) };
const recorder = new EventRecorder({ world, client, eventKind, component: 'kubelet' });
const volumeManager = await VolumeManager.open({
  world,
  machine,
  disk: realDisk,
  root,
  host,
  caches,
  inUse,
  client,
  recorder,
  drivers,
  findDriver,
  podActivity,
  sha256,
});

function look(uid: string): void {
  const pod = [...informers.cache(podKind).list()].find(({ metadata }) => metadata.uid === uid);
  if (pod !== undefined && volumeManager.mountState(pod).ready) process.stdout.write('mounted\n');
  if (volumeManager.isUnmounted(uid)) process.stdout.write('vacant\n');
}

volumeManager.subscribe(look);
runController(volumeManager.controller, { world, informers });
informers.start();
await informers.synced();
process.stdout.write('working\n');
for (const { metadata } of informers.cache(podKind).list()) if (!podActivity.mayRun(metadata.uid ?? '')) look(metadata.uid ?? '');
// Keeps the process alive.
setInterval(() => undefined, 60_000);
