import { expect, test, vi } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import type { Stored } from '../../api/stored.ts';
import { createClient } from '../../client/client.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import type { NodeDriver } from '../../drivers/contract.ts';
import { SimulatedHost } from '../../sim/host/simulated-host.ts';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { simulate, type SimulatedWorld } from '../../sim/world/world.ts';
import { ActualState } from './actual-state.ts';
import { Journal, type PublishedRecord } from './journal.ts';
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

/** A client that reaches no server. */
const client = createClient({
  transport: { send: async () => ({ type: 'unreachable', error: new Error('no server') }), watch: () => ({ close: () => undefined }) },
});

const working: NodeDriver = {
  capabilities: { name: 'kubernetes.io/csi', stages: true, mountOptions: true, block: true, requiresRemount: false },
  nodeStageVolume: async () => ({ ok: true, value: undefined }),
  nodePublishVolume: async ({ target }) => ({ ok: true, value: { path: target } }),
  nodeUnpublishVolume: async () => ({ ok: true, value: undefined }),
};

interface Setup {
  readonly disk?: SimulatedDisk;
  readonly host?: SimulatedHost;
  readonly driver?: NodeDriver;
  readonly actual?: ActualState;
  readonly onEnd?: () => void;
}

async function operationsOf(world: SimulatedWorld, setup: Setup = {}) {
  const { disk = new SimulatedDisk(), host = new SimulatedHost(), driver = working, actual = new ActualState(), onEnd = () => undefined } = setup;
  const recorder = new EventRecorder({ world, client, eventKind, component: 'kubelet' });
  const events = vi.spyOn(recorder, 'record');
  const operations = new Operations({
    host: { mounts: host, files: host },
    root: '/node',
    journal: await Journal.open({ disk, directory: '/journal', log: world.log }),
    actual,
    driver: () => driver,
    client,
    recorder,
    nodeName: 'node-1',
    clock: world.clock,
    log: world.log,
    mayMount: () => true,
    onEnd,
  });
  return { operations, events: () => events.mock.calls.map(([, { reason, message }]) => `${reason}: ${message}`) };
}

test('the node uses a volume from the moment at which it decides to stage it, also while the journal is written', () =>
  simulate(1, async (world) => {
    let isSlow = false;
    const disk = new SimulatedDisk({ before: async ({ name }) => (isSlow && name === 'sync' ? world.sleep(1000) : undefined) });
    const [actual, inUse] = [new ActualState(), [] as string[][]];
    const { operations } = await operationsOf(world, { disk, actual, onEnd: () => inUse.push([...actual.attachedVolumes()]) });
    isSlow = true;
    operations.start({ do: 'stage', pod, volume, attached });
    await world.sleep(500);
    expect([...actual.attachedVolumes()]).toEqual([attached]);
    expect(actual.isStaged(stagingPath)).toBe(false);
    await world.sleep(10_000);
    expect(inUse).toEqual([[attached]]);
    expect(actual.isStaged(stagingPath)).toBe(true);
  }));

test('the sub-paths of a volume are unmounted before the volume is', () =>
  simulate(1, async (world) => {
    const host = new SimulatedHost();
    const subPath = '/node/pods/uid/volume-subpaths/data/app/0';
    for (const path of [volume.target, subPath]) await host.makeDirectory(path, 0o750);
    await host.mount({ type: 'bind', source: volume.target, target: subPath, recursive: false });
    const isBound = () => host.machine.mounts.some(({ target }) => target === subPath);
    const seen: boolean[] = [];
    const driver: NodeDriver = {
      ...working,
      nodeUnpublishVolume: async () => {
        seen.push(isBound());
        return { ok: true, value: undefined };
      },
    };
    const { operations } = await operationsOf(world, { host, driver });
    expect(isBound()).toBe(true);
    const { key, podUid, podVolume, target, uniqueName } = volume;
    const record = {
      type: 'published',
      key,
      podUid,
      podVolume,
      target,
      uniqueName,
      name: 'pv',
      driver: 'kubernetes.io/csi',
      pod: 'default/web',
    } as PublishedRecord;
    operations.start({ do: 'unpublish', record });
    await world.sleep(1000);
    expect(seen).toEqual([false]);
  }));

test.each([
  [true, 'VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv" : '],
  [false, 'FailedMount: MountVolume.Setup failed while expanding volume for volume "pv" : '],
])('the event of an expansion that failed says so: mounted %s', (mounted, start) =>
  simulate(1, async (world) => {
    const { operations, events } = await operationsOf(world);
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'default', name: 'data' },
      spec: { resources: {} },
      status: {},
    } as const;
    operations.start({ do: 'expand', pod, volume, growth: { claim, size: '2Gi' }, mounted });
    await world.sleep(1000);
    expect(events().at(-1)).toBe(`${start}no server`);
  }),
);
