/** Races between pods, claims and volumes, in both bind modes. */
import { describe, expect, test } from 'vitest';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { requestPath } from '../../src/api/request-info.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { deafTo, interrupting, isWrite, VolumeCluster } from './volume-cluster.ts';

const none = 'kubernetes.io/no-provisioner';
const hostPath = 'kubernetes.io/host-path';
const inDefault = (name: string) => ({ namespace: 'default', name });

/** The claim `data` of the pod `old`, on the node n1; their scheduler has stopped. */
async function boundForEarlierPod(cluster: VolumeCluster): Promise<void> {
  const first = cluster.schedule('first');
  await cluster.class(hostPath);
  await cluster.node('n1', 'a');
  await cluster.claim('data');
  await cluster.pod('old', 'data');
  await cluster.world.sleep(5_000);
  first.kill();
}

describe.each(['transaction', 'plain'] as const)('%s', (mode) => {
  const bindsVolume = mode === 'transaction' ? /volumebindings/ : /persistentvolumes\//;

  test('two pods with a claim each and one PV: one pod gets it, the other the next PV', async () => {
    for (const seed of seeds(4)) {
      await simulate(seed, async (world) => {
        const cluster = await VolumeCluster.start(world, mode);
        cluster.schedule('scheduler');
        await cluster.class(none);
        await cluster.node('n1', 'a');
        await cluster.volume('only', '2Gi', 'a');
        for (const name of ['x', 'y']) await cluster.claim(name);
        await Promise.all([cluster.pod('one', 'x'), cluster.pod('two', 'y')]);
        await world.sleep(10_000);
        const lines = await cluster.summary();
        expect(lines.filter((line) => line.endsWith(' n1'))).toHaveLength(1);
        expect(lines.filter((line) => line.startsWith('pvc/') && line.endsWith('Bound only'))).toHaveLength(1);
        await cluster.volume('more', '1Gi', 'a');
        await world.sleep(20_000);
        const after = await cluster.summary();
        expect(
          after.filter((line) => line.endsWith(' n1')),
          `seed ${seed}`,
        ).toHaveLength(2);
        expect(after.filter((line) => line.includes('Bound'))).toHaveLength(4);
      });
    }
  });

  test('two pods with one claim go to the node of its volume, without a warning', async () => {
    for (const seed of seeds(4)) {
      await simulate(seed, async (world) => {
        const cluster = await VolumeCluster.start(world, mode);
        cluster.schedule('scheduler');
        await cluster.class(none);
        await cluster.node('n1', 'a');
        await cluster.node('n2', 'b');
        await cluster.volume('only', '2Gi', 'b');
        await cluster.volume('far', '2Gi', 'a');
        await cluster.claim('data');
        await world.sleep(100);
        await Promise.all(['one', 'two', 'three'].map((name) => cluster.pod(name, 'data')));
        await world.sleep(10_000);
        const lines = await cluster.summary();
        const nodes = new Set(lines.filter((line) => line.startsWith('pod/')).map((line) => line.split(' ')[1]));
        expect([...nodes], `seed ${seed}`).toHaveLength(1);
        expect(nodes.has('nowhere')).toBe(false);
        expect(lines.filter((line) => line.startsWith('pv/') && line.includes('Bound'))).toHaveLength(1);
        expect(await cluster.eventsOf('FailedScheduling')).toEqual([]);
      });
    }
  });

  test('two pods with one claim wait together for provisioning', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      cluster.schedule('scheduler');
      await cluster.class(hostPath);
      for (const name of ['n1', 'n2', 'n3']) await cluster.node(name, 'a');
      await cluster.claim('data');
      await Promise.all(['one', 'two', 'three'].map((name) => cluster.pod(name, 'data')));
      await world.sleep(10_000);
      const lines = await cluster.summary();
      const chosen = (await cluster.claimNamed('data')).metadata.annotations?.['volume.kubernetes.io/selected-node'];
      expect(lines.filter((line) => line.startsWith('pod/'))).toEqual([`pod/one ${chosen}`, `pod/three ${chosen}`, `pod/two ${chosen}`]);
      expect(await cluster.eventsOf('FailedScheduling')).toEqual([]);
    }));

  test('another claim gets the PV after it was assumed: the pod gets another PV', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      const steal = async () => {
        const found = await cluster.client.get(persistentVolumeKind, { name: 'first' });
        if (!found.ok) throw found.error;
        const claimRef = { namespace: 'default', name: 'thief' };
        await cluster.client.update(persistentVolumeKind, { ...found.value, spec: { ...found.value.spec, claimRef } });
      };
      cluster.schedule('scheduler', interrupting(bindsVolume, steal));
      await cluster.class(none);
      await cluster.node('n1', 'a');
      await cluster.volume('first', '1Gi', 'a');
      await cluster.volume('second', '2Gi', 'a');
      await cluster.claim('data');
      await world.sleep(100);
      await cluster.pod('web', 'data');
      await world.sleep(20_000);
      expect(await cluster.summary()).toEqual(['pod/web n1', 'pv/first Available thief', 'pv/second Bound data', 'pvc/data Bound second']);
      expect(await cluster.eventsOf('FailedScheduling')).toEqual([
        'web: running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on persistentvolumes "first": the object has been modified; please apply your changes to the latest version and try again',
      ]);
    }));

  test('updates that do not affect the match do not restart the cycle', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      const touch = async () => {
        await cluster.client.patch(persistentVolumeKind, { name: 'vol' }, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
        await cluster.client.patch(persistentVolumeClaimKind, inDefault('data'), { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
      };
      cluster.schedule('scheduler', interrupting(bindsVolume, touch));
      await cluster.class(none);
      await cluster.node('n1', 'a');
      await cluster.volume('vol', '1Gi', 'a');
      await cluster.claim('data');
      await world.sleep(100);
      await cluster.pod('web', 'data');
      await world.sleep(5_000);
      expect(await cluster.summary()).toEqual(['pod/web n1', 'pv/vol Bound data', 'pvc/data Bound vol']);
      expect(await cluster.eventsOf('FailedScheduling')).toEqual([]);
    }));

  test('a claim is deleted and created again before the scheduler sees it: the next pod waits for the PV of the new claim', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      await boundForEarlierPod(cluster);
      // Its first list shows the old, bound claim.
      const { through, letGo } = deafTo(/persistentvolumeclaims/);
      cluster.schedule('second', through);
      await world.sleep(1_000);
      await cluster.client.delete(podKind, inDefault('old'), { gracePeriodSeconds: 0 });
      await cluster.dropClaim('data');
      await cluster.claim('data');
      await cluster.pod('new', 'data');
      await world.sleep(5_000);
      expect((await cluster.summary()).filter((line) => !line.startsWith('pv/'))).toEqual(['pod/new nowhere', 'pvc/data Pending']);
      letGo();
      await world.sleep(20_000);
      expect((await cluster.summary()).filter((line) => line.startsWith('pod/'))).toEqual(['pod/new n1']);
      expect((await cluster.claimNamed('data')).status.phase).toBe('Bound');
    }));

  test('a bound claim is deleted and created again while the pod waits for provisioning of another: it waits for both', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      const replace = async () => {
        await cluster.dropClaim('data');
        await cluster.claim('data');
      };
      await boundForEarlierPod(cluster);
      await cluster.client.delete(podKind, inDefault('old'), { gracePeriodSeconds: 0 });
      await cluster.claim('fresh');
      // Right before the selected node is written to the unbound claim.
      cluster.schedule('second', interrupting(/persistentvolumeclaims\/fresh/, replace));
      await cluster.pod('new', 'data', 'fresh');
      await world.sleep(60_000);
      expect((await cluster.summary()).filter((line) => line.startsWith('pod/'))).toEqual(['pod/new n1']);
      for (const name of ['data', 'fresh']) expect((await cluster.claimNamed(name)).status.phase).toBe('Bound');
    }));

  test('the claim is deleted after its PV was assumed: the pod waits for another claim', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      cluster.schedule(
        'scheduler',
        interrupting(bindsVolume, () => cluster.dropClaim('data')),
      );
      await cluster.class(none);
      await cluster.node('n1', 'a');
      await cluster.volume('vol', '1Gi', 'a');
      await cluster.claim('data');
      await world.sleep(100);
      await cluster.pod('web', 'data');
      await world.sleep(10_000);
      expect(await cluster.summary()).toContain('pod/web nowhere');
      expect(await cluster.eventsOf('FailedScheduling')).toContainEqual(expect.stringContaining('persistentvolumeclaim "data" not found'));
      // A transaction leaves no half binding; otherwise the PV keeps the claimRef of the deleted claim, as in Kubernetes.
      expect(await cluster.summary()).toContain(mode === 'transaction' ? 'pv/vol Available' : 'pv/vol Released data');
      await cluster.volume('other', '1Gi', 'a');
      await cluster.claim('data');
      await world.sleep(20_000);
      expect(await cluster.summary()).toContain('pod/web n1');
    }));

  test('the node is deleted during provisioning: the pod gets an Event, and its node once that is back', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      cluster.backend.drivers.clear();
      cluster.schedule('scheduler');
      await cluster.class('example.com/slow');
      await cluster.node('n1', 'a');
      await cluster.claim('data');
      await cluster.pod('web', 'data');
      await world.sleep(5_000);
      expect((await cluster.claimNamed('data')).metadata.annotations).toMatchObject({ 'volume.kubernetes.io/selected-node': 'n1' });
      await cluster.client.delete(nodeKind, { name: 'n1' });
      await world.sleep(5_000);
      expect(await cluster.eventsOf('FailedScheduling')).toContainEqual(
        'web: running PreBind plugin "VolumeBinding": binding volumes: failed to get node "n1": node "n1" not found',
      );
      await cluster.node('n1', 'a');
      await world.sleep(20_000);
      const { metadata, spec } = await cluster.claimNamed('data');
      const claimRef = { namespace: 'default', name: 'data', uid: metadata.uid ?? '' };
      const { accessModes = [] } = spec;
      await cluster.client.create(persistentVolumeKind, {
        metadata: { name: 'made' },
        spec: { capacity: { storage: '1Gi' }, accessModes, storageClassName: 'class', hostPath: { path: '/tmp/made' }, claimRef },
      });
      await world.sleep(5_000);
      expect(await cluster.summary()).toEqual(['pod/web n1', 'pv/made Bound data', 'pvc/data Bound made']);
    }));

  test('the provisioner gives up on a node: another one is selected', async () => {
    const failure = 'web: running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"';
    const events: string[] = [];
    for (const seed of [1, 2, 3, 4, 5]) {
      await simulate(seed, async (world) => {
        const cluster = await VolumeCluster.start(world, mode);
        cluster.backend.fullNodes.add('n1').add('n2');
        cluster.schedule('scheduler');
        await cluster.class(hostPath);
        for (const name of ['n1', 'n2', 'n3']) await cluster.node(name, 'a');
        await cluster.claim('data');
        await cluster.pod('web', 'data');
        await world.sleep(300_000);
        expect(await cluster.summary()).toContain('pod/web n3');
        events.push(...(await cluster.eventsOf('FailedScheduling')));
      });
    }
    // The first node is random: in some seeds it is the right one.
    expect(new Set(events)).toEqual(new Set([failure]));
  });

  test('provisioning takes longer than ten minutes: the pod is scheduled again', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      cluster.backend.drivers.clear();
      cluster.schedule('scheduler');
      await cluster.class('example.com/never');
      await cluster.node('n1', 'a');
      await cluster.claim('data');
      await cluster.pod('web', 'data');
      await world.sleep(590_000);
      expect(await cluster.eventsOf('FailedScheduling')).toEqual([]);
      await world.sleep(20_000);
      expect(await cluster.eventsOf('FailedScheduling')).toEqual(['web: running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded']);
    }));

  test('a pod that is deleted during PreBind leaves the selected node on its claim', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      cluster.backend.drivers.clear();
      cluster.schedule('scheduler');
      await cluster.class('example.com/slow');
      await cluster.node('n1', 'a');
      await cluster.claim('x');
      await cluster.claim('y');
      await cluster.volume('vol', '1Gi', 'b');
      await cluster.pod('web', 'x');
      await world.sleep(5_000);
      await cluster.client.delete(podKind, inDefault('web'), { gracePeriodSeconds: 0 });
      await world.sleep(5_000);
      expect((await cluster.claimNamed('x')).metadata.annotations).toMatchObject({ 'volume.kubernetes.io/selected-node': 'n1' });
      expect(await cluster.eventsOf('FailedScheduling')).toEqual([
        'web: running PreBind plugin "VolumeBinding": binding volumes: pod does not exist any more: pod "web" not found',
      ]);
    }));

  test('a pod is deleted while the response about its PV is lost: the next pod gets the PV', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      let lost = false;
      cluster.schedule('scheduler', (server) => ({
        watch: (request, sink) => server.watch(request, sink),
        send: async (request) => {
          if (lost || !isWrite(request) || !bindsVolume.test(requestPath(request.info))) return server.send(request);
          lost = true;
          await world.sleep(5_000);
          return { type: 'unreachable', error: new Error('the request was lost') };
        },
      }));
      await cluster.class(none);
      await cluster.node('n1', 'a');
      await cluster.volume('only', '1Gi', 'a');
      await cluster.claim('x');
      await cluster.claim('y');
      await world.sleep(100);
      await cluster.pod('one', 'x');
      await world.sleep(1_000);
      await cluster.pod('two', 'y');
      await world.sleep(1_000);
      await cluster.client.delete(podKind, inDefault('one'), { gracePeriodSeconds: 0 });
      await world.sleep(60_000);
      expect(await cluster.summary()).toEqual(['pod/two n1', 'pv/only Bound y', 'pvc/x Pending', 'pvc/y Bound only']);
    }));

  test('many pods on a lossy network: once it heals, every pod has its own PV, on a node that can access it', async () => {
    for (const seed of seeds(3)) {
      await simulate(seed, async (world) => {
        const cluster = await VolumeCluster.start(world, mode);
        const network = new SimulatedNetwork(world, badNetwork);
        cluster.schedule('scheduler', (server) => network.transport(server));
        await cluster.class(none);
        for (const zoneName of ['a', 'b', 'c']) await cluster.node(`n-${zoneName}`, zoneName);
        for (let i = 0; i < 12; i++) {
          await cluster.volume(`v${i}`, '1Gi', 'abc'[i % 3] ?? 'a');
          await cluster.claim(`c${i}`);
        }
        for (let i = 0; i < 12; i++) await cluster.pod(`p${i}`, `c${i}`);
        await world.sleep(120_000);
        network.heal();
        await world.sleep(400_000);
        const lines = await cluster.summary();
        expect(
          lines.filter((line) => line.startsWith('pod/') && line.includes(' n-')),
          `seed ${seed}`,
        ).toHaveLength(12);
        expect(lines.filter((line) => line.startsWith('pvc/') && line.includes('Bound'))).toHaveLength(12);
        for (let i = 0; i < 12; i++) {
          const volume = (await cluster.claimNamed(`c${i}`)).spec.volumeName ?? '';
          expect(lines).toContain(`pv/${volume} Bound c${i}`);
          expect(lines).toContain(`pod/p${i} n-${'abc'[Number(volume.slice(1)) % 3] ?? ''}`);
        }
      });
    }
  });

  describe.each([
    ['static', none, ['pv/v1 Bound a', 'pv/v2 Bound b', 'pvc/a Bound v1', 'pvc/b Bound v2']],
    ['dynamic', hostPath, undefined],
  ] as const)('crash between any two writes (%s)', (_, provisioner, expected) => {
    test.each(['before', 'after'] as const)('%s a write took effect: the next scheduler reaches the same state', async (when) => {
      for (let at = 1; ; at++) {
        const reached = await simulate(at, async (world) => {
          const cluster = await VolumeCluster.start(world, mode);
          await cluster.class(provisioner);
          await cluster.node('n1', 'a');
          if (provisioner === none)
            for (const [name, size] of [
              ['v1', '1Gi'],
              ['v2', '2Gi'],
            ] as const)
              await cluster.volume(name, size, 'a');
          await cluster.claim('a', '1Gi');
          await cluster.claim('b', '2Gi');
          let writes = 0;
          const first = cluster.schedule('first', (server) => ({
            watch: (request, sink) => server.watch(request, sink),
            send: (request) => {
              const isLast = isWrite(request) && ++writes === at;
              if (isLast && when === 'before') {
                first.kill();
                return new Promise(() => undefined);
              }
              const answer = server.send(request);
              if (isLast) first.kill();
              return answer;
            },
          }));
          await cluster.pod('web', 'a', 'b');
          await world.sleep(10_000);
          const killed = !first.alive;
          if (killed) cluster.schedule('second');
          await world.sleep(20_000);
          const lines = await cluster.summary();
          expect(lines, `crash ${when} write ${at}`).toContain('pod/web n1');
          if (expected !== undefined) expect(lines.filter((line) => !line.startsWith('pod/'))).toEqual(expected);
          expect(lines.filter((line) => line.startsWith('pvc/') && line.includes('Bound'))).toHaveLength(2);
          expect(lines.filter((line) => line.startsWith('pv/'))).toHaveLength(2);
          return killed;
        });
        if (!reached) {
          expect(at, 'there are steps to be killed between').toBeGreaterThan(3);
          return;
        }
      }
    });
  });
});
