/** The expander, running, on the real registry, in simulated time. Tests play the binder and the external resizer. */
import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/generated/types.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { type ExpandingDrivers, expander } from '../../src/storage/expander/controller.ts';
import type { DriverCapabilities, ExpandOutcome } from '../../src/api/volumes/driver-capabilities.ts';
import { createClient, type Draft, type Result } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { type LoopOptions, runController } from '../../src/client/controller/loop.ts';
import { RecordedEvents } from '../../src/client/events/event-dedup.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import type { Transport } from '../../src/client/transport.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import type { World } from '../../src/world/world.ts';
import { startTestCluster, type TestCluster } from '../client/test-cluster.ts';

const noDrivers: ExpandingDrivers = {
  onChange: () => () => undefined,
  facts: () => undefined,
  expand: () => Promise.reject(new Error('there are no drivers')),
};

interface Running extends Partial<LoopOptions> {
  readonly drivers?: ExpandingDrivers;
}

function runExpander(transport: Transport, world: World, { drivers = noDrivers, ...more }: Running = {}): void {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = new EventRecorder({ world, client, eventKind, component: 'volume_expand' });
  runController(expander({ client, informers, events: new RecordedEvents(recorder, world.clock), drivers, log: world.log }), { world, informers, ...more });
  informers.start();
}

const data = { namespace: 'default', name: 'data' };

async function done<T>(result: Promise<Result<T>>): Promise<T> {
  const outcome = await result;
  if (!outcome.ok) throw outcome.error;
  return outcome.value;
}

const get = ({ client }: TestCluster): Promise<PersistentVolumeClaim> => done(client.get(persistentVolumeClaimKind, data));

/** A claim of a class that lets it grow, bound to a volume. */
async function bound(
  cluster: TestCluster,
  capacity: string,
  source: Draft<PersistentVolume['spec']> = { csi: { driver: 'driver', volumeHandle: 'h' } },
): Promise<void> {
  const { client } = cluster;
  await done(client.create(storageClassKind, { metadata: { name: 'class' }, provisioner: 'driver', allowVolumeExpansion: true }));
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'class', volumeName: 'vol' };
  const { metadata } = await done(client.create(persistentVolumeClaimKind, { metadata: data, spec }));
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...data, uid: metadata.uid ?? '' };
  await done(
    client.create(persistentVolumeKind, {
      metadata: { name: 'vol' },
      spec: { capacity: { storage: capacity }, accessModes: ['ReadWriteOnce'], storageClassName: 'class', claimRef, ...source },
    }),
  );
  await grown(cluster, capacity);
}

const grown = async (cluster: TestCluster, capacity: string) =>
  done(cluster.client.updateStatus(persistentVolumeClaimKind, { ...(await get(cluster)), status: { phase: 'Bound', capacity: { storage: capacity } } }));

async function ask(cluster: TestCluster, storage: string): Promise<void> {
  const claim = await get(cluster);
  await done(cluster.client.update(persistentVolumeClaimKind, { ...claim, spec: { ...claim.spec, resources: { requests: { storage } } } }));
}

async function events({ client }: TestCluster): Promise<string[]> {
  const { items } = await done(client.list(eventKind));
  return items.map(({ source, type, reason, message, count }) => `${source.component} ${type} ${reason} x${count}: ${message}`);
}

const inCluster = (body: (cluster: TestCluster, world: SimulatedWorld) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    runExpander(cluster.transport, world);
    await body(cluster, world);
  });

const external = (count: number) => `volume_expand Normal ExternalExpanding x${count}: waiting for an external controller to expand this PVC`;

test(
  'a claim that requests more gets the event of waiting, once for each larger request',
  inCluster(async (cluster, world) => {
    await bound(cluster, '1Gi');
    await world.sleep(1000);
    expect(await events(cluster)).toEqual([]);
    await ask(cluster, '3Gi');
    await world.sleep(60_000);
    expect(await events(cluster)).toEqual([external(1)]);
    await ask(cluster, '2Gi');
    await world.sleep(1000);
    expect(await events(cluster)).toEqual([external(1)]);
    await ask(cluster, '3Gi');
    await world.sleep(1000);
    expect(await events(cluster)).toEqual([external(2)]);
    await grown(cluster, '3Gi');
    await world.sleep(1000);
    const revision = cluster.store.revision();
    await world.sleep(3_600_000);
    expect(cluster.store.revision()).toBe(revision);
  }),
);

test(
  'a volume that is larger than its claim changes nothing',
  inCluster(async (cluster, world) => {
    await bound(cluster, '5Gi');
    await ask(cluster, '3Gi');
    await world.sleep(1000);
    expect(await events(cluster)).toEqual([]);
  }),
);

test(
  'what the resizer reports is left alone',
  inCluster(async (cluster, world) => {
    await bound(cluster, '1Gi');
    await ask(cluster, '2Gi');
    const claim = await get(cluster);
    const status = {
      ...claim.status,
      allocatedResources: { storage: '2Gi' },
      allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      conditions: [{ type: 'Resizing', status: 'True', lastProbeTime: null, lastTransitionTime: null }],
    };
    await done(cluster.client.updateStatus(persistentVolumeClaimKind, { ...claim, status }));
    const { resourceVersion } = (await get(cluster)).metadata;
    await world.sleep(60_000);
    expect((await get(cluster)).metadata.resourceVersion).toBe(resourceVersion);
  }),
);

const ebs = { awsElasticBlockStore: { volumeID: 'vol-1' } };

test('a process that dies before any action, and one after it, hand the claim to its resizer', async () => {
  for (const survives of [0, 1, 2, 3]) {
    await simulate(survives, async (world) => {
      const cluster = await startTestCluster(world);
      const process = new SimulatedProcess(world, 'first');
      let left = survives;
      runExpander(process.transport(cluster.transport), process, {
        onAction: () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        },
      });
      await bound(cluster, '1Gi', ebs);
      await ask(cluster, '2Gi');
      await world.sleep(1000);
      expect(process.alive).toBe(survives === 3);
      process.kill();
      runExpander(cluster.transport, world);
      await world.sleep(1000);
      expect((await get(cluster)).metadata.annotations).toEqual({ 'volume.kubernetes.io/storage-resizer': 'ebs.csi.aws.com' });
      expect(await events(cluster)).toContain(
        'volume_expand Normal ExternalExpanding x1: CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc',
      );
    });
  }
});

/** A backend that only remembers sizes. */
class Disk implements ExpandingDrivers {
  readonly onChange = () => () => undefined;
  size = '1Gi';
  calls = 0;
  failures = 0;
  readonly #facts: DriverCapabilities = {
    name: 'driver',
    provisions: true,
    deletes: true,
    mountOptions: true,
    block: true,
    expands: 'always',
    attaches: false,
  };

  facts(name: string): DriverCapabilities | undefined {
    return name === 'driver' ? this.#facts : undefined;
  }

  async expand(_: string, __: unknown, capacity: string): Promise<ExpandOutcome> {
    this.calls++;
    if (this.failures-- > 0) return { type: 'failed', message: 'busy', final: true, infeasible: false };
    this.size = capacity;
    return { type: 'expanded', capacity, nodeExpansionRequired: false };
  }
}

test('a driver of this process makes the volume larger, and is then left alone', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    const disk = new Disk();
    disk.failures = 2;
    runExpander(cluster.transport, world, { drivers: disk });
    await bound(cluster, '1Gi');
    await ask(cluster, '2Gi');
    await world.sleep(60_000);
    expect((await get(cluster)).status).toMatchObject({ capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } });
    expect((await get(cluster)).status.conditions).toBeUndefined();
    expect((await done(cluster.client.get(persistentVolumeKind, { name: 'vol' }))).spec.capacity).toEqual({ storage: '2Gi' });
    expect(disk.calls).toBe(3);
    expect((await events(cluster)).map((event) => event.replace(/^volume_expand /, '').replace(/:.*/, ''))).toEqual([
      'Normal ExternalExpanding x1',
      'Normal Resizing x3',
      'Warning VolumeResizeFailed x2',
      'Normal VolumeResizeSuccessful x1',
    ]);
    const revision = cluster.store.revision();
    // Events go after an hour.
    await world.sleep(3_000_000);
    expect(cluster.store.revision()).toBe(revision);
  }));

/** Grows under a process that dies before its n-th action; then under another one. Whether the first one lived. */
const growAfter = (actions: number): Promise<boolean> =>
  simulate(actions, async (world) => {
    const cluster = await startTestCluster(world);
    const disk = new Disk();
    const process = new SimulatedProcess(world, 'first');
    let left = actions;
    runExpander(process.transport(cluster.transport), process, {
      drivers: disk,
      onAction: () => {
        if (left-- > 0) return 'go';
        process.kill();
        return 'crash';
      },
    });
    await bound(cluster, '1Gi');
    await ask(cluster, '2Gi');
    await world.sleep(10_000);
    const lived = process.alive;
    process.kill();
    runExpander(cluster.transport, world, { drivers: disk });
    await world.sleep(10_000);
    const claim = await get(cluster);
    expect(claim.status.capacity, `after ${actions} actions`).toEqual({ storage: '2Gi' });
    expect(claim.status.allocatedResourceStatuses).toBeUndefined();
    expect(disk.size).toBe('2Gi');
    return lived;
  });

test('a process that dies before any action is followed by one that ends the growth', async () => {
  let actions = 0;
  while (!(await growAfter(actions))) actions++;
  expect(actions).toBeGreaterThan(5);
});
