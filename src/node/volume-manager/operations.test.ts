import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import type { Stored } from '../../api/stored.ts';
import { createClient } from '../../client/client.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import type { NodeDriver } from '../../drivers/contract.ts';
import { SimulatedHost } from '../../sim/host/simulated-host.ts';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { simulate } from '../../sim/world/world.ts';
import { ActualState } from './actual-state.ts';
import { Journal } from './journal.ts';
import { Operations } from './operations.ts';
import type { PodVolume } from './pod-volume.ts';

const attached = 'kubernetes.io/csi/csi.example.com^disk';
const stagingPath = '/node/plugins/disk/globalmount';
const volume: PodVolume = {
  key: 'uid/data',
  podUid: 'uid',
  podVolume: 'data',
  driver: 'kubernetes.io/csi',
  onNode: { name: 'pv', source: {}, persistentVolume: undefined, readOnly: false, mountOptions: [], mode: 'Filesystem', publishContext: {} },
  uniqueName: attached,
  target: '/node/pods/uid/volumes/pv',
  stagingPath,
  attached: { driver: 'csi.example.com', handle: 'disk' },
  csi: { driver: 'csi.example.com', handle: 'disk' },
  claim: 'default/data',
  group: undefined,
};
const pod: Stored<Pod> = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'uid', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
  spec: { containers: [] },
  status: {},
};

test('the node uses a volume from the moment at which it decides to stage it, also while the journal is written', () =>
  simulate(1, async (world) => {
    let isSlow = false;
    const disk = new SimulatedDisk({ before: async ({ name }) => (isSlow && name === 'sync' ? world.sleep(1000) : undefined) });
    const journal = await Journal.open({ disk, directory: '/journal', log: world.log });
    const [host, actual, inUse] = [new SimulatedHost(), new ActualState(), [] as string[][]];
    const client = createClient({
      transport: { send: async () => ({ type: 'unreachable', error: new Error('no server') }), watch: () => ({ close: () => undefined }) },
    });
    const driver: NodeDriver = {
      capabilities: { name: 'kubernetes.io/csi', stages: true, mountOptions: true, block: true, requiresRemount: false },
      nodeStageVolume: async () => ({ ok: true, value: undefined }),
      nodePublishVolume: async ({ target }) => ({ ok: true, value: { path: target } }),
      nodeUnpublishVolume: async () => ({ ok: true, value: undefined }),
    };
    const operations = new Operations({
      host: { mounts: host, files: host },
      root: '/node',
      journal,
      actual,
      driver: () => driver,
      client,
      recorder: new EventRecorder({ world, client, eventKind, component: 'kubelet' }),
      nodeName: 'node-1',
      clock: world.clock,
      log: world.log,
      mayMount: () => true,
      onEnd: () => inUse.push([...actual.attachedVolumes()]),
    });
    isSlow = true;
    operations.start({ do: 'stage', pod, volume, attached });
    await world.sleep(500);
    expect([...actual.attachedVolumes()]).toEqual([attached]);
    expect(actual.isStaged(stagingPath)).toBe(false);
    await world.sleep(10_000);
    expect(inUse).toEqual([[attached]]);
    expect(actual.isStaged(stagingPath)).toBe(true);
  }));
