/** A cluster with one node on which containers really run; its pods have no volumes but directories that the test names. */
import { createHash } from 'node:crypto';
import type { Container, Pod } from '../../src/api/generated/types.ts';
import { eventKind } from '../../src/api/kinds/event.ts';
import { createClient } from '../../src/machinery/client.ts';
import { HttpTransport } from '../../src/machinery/http-transport.ts';
import { loadKubeconfig } from '../../src/machinery/http-transport-kubeconfig.ts';
import { Informers } from '../../src/machinery/informers.ts';
import { runController } from '../../src/machinery/loop.ts';
import { Recorder } from '../../src/machinery/recorder.ts';
import { type Cluster, startCluster } from '../../src/main/cluster.ts';
import { createRealWorld } from '../../src/main/real-world.ts';
import type { PodVolumes } from '../../src/node/contract.ts';
import { Holdings } from '../../src/node/holdings.ts';
import type { Host } from '../../src/node/host.ts';
import { Renewals } from '../../src/node/lease/renewals.ts';
import { registration } from '../../src/node/registration/controller.ts';
import { nodeKind } from '../../src/api/kinds/node.ts';
import { runningPods } from '../../src/node/running/controller.ts';
import type { Runtime } from '../../src/node/runtime.ts';
import { type Machine, sandboxMachine } from './sandboxes.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export interface OneNode {
  readonly cluster: Cluster;
  readonly machine: Machine;
  readonly runtime: Runtime;
  /** Ends the agent, as a crash would for its containers, and starts another one. */
  restartAgent(): Promise<void>;
  dispose(): Promise<void>;
}

export async function oneNode(): Promise<OneNode> {
  const machine = await sandboxMachine();
  const cluster = await startCluster({ bare: true, nodes: { count: 0 } });
  let agent = await startAgent(cluster, machine);
  return {
    cluster,
    machine,
    get runtime() {
      return agent.runtime;
    },
    async restartAgent() {
      await agent.stop();
      agent = await startAgent(cluster, machine);
    },
    async dispose() {
      await agent.stop();
      await cluster.stop();
      await machine.dispose();
    },
  };
}

async function startAgent(cluster: Cluster, machine: Machine) {
  const world = createRealWorld({ logLevel: 'warn' });
  const host = hostOf(machine.podCidr);
  const transport = new HttpTransport({ access: loadKubeconfig(cluster.kubeconfig), world, userAgent: 'test' });
  const plain = createClient({ transport });
  const informers: Informers = new Informers({ world, client: plain });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = new Recorder({ world, client: plain, eventKind, component: 'kubelet' });
  const holdings = new Holdings();
  const runtime = machine.agent();
  const pods = runningPods({ world, host, informers, client, recorder, holdings, runtime, volumes: hostDirectories, sha256 });
  const renewals = new Renewals({ world, clientOf: () => client, node: (name) => informers.cache(nodeKind).getKey(name) });
  let tellReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    tellReady = resolve;
  });
  const nodes = registration({
    hosts: new Map([[host.name, host]]),
    clientOf: () => client,
    informers,
    recorder,
    world,
    holdings,
    volumesInUse: () => [],
    wakes: [],
    onRegistered: (node) => renewals.add(node),
    onReady: tellReady,
    onReported: () => undefined,
  });
  await pods.recover();
  const loops = [runController(nodes, { world, informers }), runController(pods.controller, { world, informers })];
  informers.start();
  await ready;
  return {
    runtime,
    async stop() {
      pods.stop();
      renewals.stop();
      await Promise.all(loops.map((loop) => loop.stop()));
      await recorder.stop();
      informers.stop();
      await runtime.close();
      transport.close();
    },
  };
}

/** Mounts hostPath volumes where they are asked for; there are no others. */
const hostDirectories: PodVolumes = {
  look: () => ({ ready: true, mounts: new Map(), supplementalGroups: [] }),
  containerMounts: async ({ spec }: Pod, { volumeMounts = [] }: Pick<Container, 'volumeMounts'>) => ({
    ok: true,
    devices: [],
    mounts: volumeMounts.flatMap(({ name, mountPath, readOnly = false }) => {
      const hostPath = spec.volumes?.find((volume) => volume.name === name)?.hostPath?.path;
      return hostPath === undefined
        ? []
        : [{ hostPath, volume: name, containerPath: mountPath, readOnly, recursiveReadOnly: false, propagation: 'private' as const }];
    }),
  }),
  vacated: () => undefined,
  isVacant: () => true,
  subscribe: () => () => undefined,
};

const hostOf = (podCidr: string): Host => ({
  name: 'here',
  labels: { 'kubernetes.io/hostname': 'here', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
  ip: '127.0.0.1',
  podCidr,
  capacity: { cpu: '8', memory: '16Gi', 'ephemeral-storage': '10Gi', pods: '110' },
  system: {
    machineID: '',
    systemUUID: '',
    bootID: '',
    kernelVersion: '',
    osImage: 'Mooring',
    containerRuntimeVersion: 'sandbox://test',
    kubeletVersion: 'v1.36.4',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  },
  drivers: [],
});
