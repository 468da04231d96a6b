/** A process that keeps the volumes of node-1 on this machine, and runs nothing. Argument: `AgentSettings`, as JSON. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { eventKind } from '../../src/api/kinds/event.ts';
import { podKind } from '../../src/api/kinds/workloads/pod.ts';
import { createClient } from '../../src/machinery/client.ts';
import { HttpTransport } from '../../src/machinery/http-transport.ts';
import { loadKubeconfig } from '../../src/machinery/http-transport-kubeconfig.ts';
import { Informers } from '../../src/machinery/informers.ts';
import { runController } from '../../src/machinery/loop.ts';
import { Recorder } from '../../src/machinery/recorder.ts';
import { nodeDrivers } from '../../src/main/node-drivers.ts';
import { realDisk } from '../../src/main/real-disk.ts';
import { realHostFiles } from '../../src/main/real-host-files.ts';
import { realPrograms } from '../../src/main/real-programs.ts';
import { realMounts } from '../../src/main/real-mounts.ts';
import { createRealWorld } from '../../src/main/real-world.ts';
import { Holdings } from '../../src/node/holdings.ts';
import { View } from '../../src/node/sight/view.ts';
import type { Host } from '../../src/node/host.ts';
import { VolumeKeeper } from '../../src/node/mounting/keeper.ts';
import { configMapKind } from '../../src/api/kinds/config-map.ts';
import { secretKind } from '../../src/api/kinds/secret.ts';

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
const holdings = new Holdings();
const view = new View({ hosts: new Map([['node-1', host]]), informers, holdings, sha256 });
const machine = { mounts: realMounts(), files: realHostFiles };
const { drivers, findDriver } = nodeDrivers({ ...machine, programs: realPrograms }, world, {
  nodeName: 'node-1',
  configMap: (key) => informers.cache(configMapKind).getKey(key),
  secret: (key) => informers.cache(secretKind).getKey(key),
  allocatable: () => ({ memory: '64Mi' }),
  client,
});
const tenants = { mayRun: (uid: string) => !readFileSync(vacated, 'utf8').includes(uid) };
const recorder = new Recorder({ world, client, eventKind, component: 'kubelet' });
const keeper = await VolumeKeeper.open({ world, machine, disk: realDisk, root, host, view, holdings, client, recorder, drivers, findDriver, tenants, sha256 });

function look(uid: string): void {
  const pod = [...informers.cache(podKind).list()].find(({ metadata }) => metadata.uid === uid);
  if (pod !== undefined && keeper.look(pod).ready) process.stdout.write('mounted\n');
  if (keeper.isVacant(uid)) process.stdout.write('vacant\n');
}

keeper.subscribe(look);
runController(keeper.controller, { world, informers });
informers.start();
await informers.synced();
process.stdout.write('working\n');
for (const { metadata } of informers.cache(podKind).list()) if (!tenants.mayRun(metadata.uid ?? '')) look(metadata.uid ?? '');
// Nothing else keeps a process alive that only waits.
setInterval(() => undefined, 60_000);
