/** Pods, claims and volumes that get into each other's way, in both ways of binding. */
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

/** The claim `data` of the pod `old`, on the node n1; the scheduler that saw to it is gone. */
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

  test('two pods, a claim each, one volume: one pod gets it, and the other the next', async () => {
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
        const seen = await cluster.look();
        expect(seen.filter((line) => line.endsWith(' n1'))).toHaveLength(1);
        expect(seen.filter((line) => line.startsWith('pvc/') && line.endsWith('Bound only'))).toHaveLength(1);
        await cluster.volume('more', '1Gi', 'a');
        await world.sleep(20_000);
        const after = await cluster.look();
        expect(
          after.filter((line) => line.endsWith(' n1')),
          `seed ${seed}`,
        ).toHaveLength(2);
        expect(after.filter((line) => line.includes('Bound'))).toHaveLength(4);
      });
    }
  });

  test('two pods of one claim follow each other to its volume, and nobody is told of trouble', async () => {
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
        const seen = await cluster.look();
        const nodes = new Set(seen.filter((line) => line.startsWith('pod/')).map((line) => line.split(' ')[1]));
        expect([...nodes], `seed ${seed}`).toHaveLength(1);
        expect(nodes.has('nowhere')).toBe(false);
        expect(seen.filter((line) => line.startsWith('pv/') && line.includes('Bound'))).toHaveLength(1);
        expect(await cluster.told('FailedScheduling')).toEqual([]);
      });
    }
  });

  test('two pods of one claim wait together for a volume to be made', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      cluster.schedule('scheduler');
      await cluster.class(hostPath);
      for (const name of ['n1', 'n2', 'n3']) await cluster.node(name, 'a');
      await cluster.claim('data');
      await Promise.all(['one', 'two', 'three'].map((name) => cluster.pod(name, 'data')));
      await world.sleep(10_000);
      const seen = await cluster.look();
      const chosen = (await cluster.claimNamed('data')).metadata.annotations?.['volume.kubernetes.io/selected-node'];
      expect(seen.filter((line) => line.startsWith('pod/'))).toEqual([`pod/one ${chosen}`, `pod/three ${chosen}`, `pod/two ${chosen}`]);
      expect(await cluster.told('FailedScheduling')).toEqual([]);
    }));

  test('somebody else takes the volume after it was reserved: the pod gets another one', () =>
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
      expect(await cluster.look()).toEqual(['pod/web n1', 'pv/first Available thief', 'pv/second Bound data', 'pvc/data Bound second']);
      expect(await cluster.told('FailedScheduling')).toEqual([
        'web: running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on persistentvolumes "first": the object has been modified; please apply your changes to the latest version and try again',
      ]);
    }));

  test('objects that change without effect on the match are no reason to start again', () =>
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
      expect(await cluster.look()).toEqual(['pod/web n1', 'pv/vol Bound data', 'pvc/data Bound vol']);
      expect(await cluster.told('FailedScheduling')).toEqual([]);
    }));

  test('a claim is deleted and made anew before the scheduler hears of it: the next pod waits for the volume of the new one', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      await boundForEarlierPod(cluster);
      // It still learns from its first list that the claim is bound.
      const { through, letGo } = deafTo(/persistentvolumeclaims/);
      cluster.schedule('second', through);
      await world.sleep(1_000);
      await cluster.client.delete(podKind, inDefault('old'), { gracePeriodSeconds: 0 });
      await cluster.dropClaim('data');
      await cluster.claim('data');
      await cluster.pod('new', 'data');
      await world.sleep(5_000);
      expect((await cluster.look()).filter((line) => !line.startsWith('pv/'))).toEqual(['pod/new nowhere', 'pvc/data Pending']);
      letGo();
      await world.sleep(20_000);
      expect((await cluster.look()).filter((line) => line.startsWith('pod/'))).toEqual(['pod/new n1']);
      expect((await cluster.claimNamed('data')).status.phase).toBe('Bound');
    }));

  test('a bound claim is deleted and made anew while the pod waits for another volume to be made: it waits for both', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      const replace = async () => {
        await cluster.dropClaim('data');
        await cluster.claim('data');
      };
      await boundForEarlierPod(cluster);
      await cluster.client.delete(podKind, inDefault('old'), { gracePeriodSeconds: 0 });
      await cluster.claim('fresh');
      // Right before the node is noted on the claim that has no volume yet.
      cluster.schedule('second', interrupting(/persistentvolumeclaims\/fresh/, replace));
      await cluster.pod('new', 'data', 'fresh');
      await world.sleep(60_000);
      expect((await cluster.look()).filter((line) => line.startsWith('pod/'))).toEqual(['pod/new n1']);
      for (const name of ['data', 'fresh']) expect((await cluster.claimNamed(name)).status.phase).toBe('Bound');
    }));

  test('the claim is deleted after its volume was reserved: the pod waits for another claim', () =>
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
      expect(await cluster.look()).toContain('pod/web nowhere');
      expect(await cluster.told('FailedScheduling')).toContainEqual(expect.stringContaining('persistentvolumeclaim "data" not found'));
      // In one transaction nothing half is left; else the volume belongs to a claim that is gone, as in Kubernetes.
      expect(await cluster.look()).toContain(mode === 'transaction' ? 'pv/vol Available' : 'pv/vol Released data');
      await cluster.volume('other', '1Gi', 'a');
      await cluster.claim('data');
      await world.sleep(20_000);
      expect(await cluster.look()).toContain('pod/web n1');
    }));

  test('the node is deleted while a volume is being made: the pod is told, and goes once the node is back', () =>
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
      expect(await cluster.told('FailedScheduling')).toContainEqual(
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
      expect(await cluster.look()).toEqual(['pod/web n1', 'pv/made Bound data', 'pvc/data Bound made']);
    }));

  test('whoever makes volumes gives up on a node: another one is chosen', async () => {
    const failure = 'web: running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"';
    const told: string[] = [];
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
        expect(await cluster.look()).toContain('pod/web n3');
        told.push(...(await cluster.told('FailedScheduling')));
      });
    }
    // Which node comes first is drawn: the right one in some of the worlds.
    expect(new Set(told)).toEqual(new Set([failure]));
  });

  test('nobody makes the volume for ten minutes: the pod is scheduled anew', () =>
    simulate(1, async (world) => {
      const cluster = await VolumeCluster.start(world, mode);
      cluster.backend.drivers.clear();
      cluster.schedule('scheduler');
      await cluster.class('example.com/never');
      await cluster.node('n1', 'a');
      await cluster.claim('data');
      await cluster.pod('web', 'data');
      await world.sleep(590_000);
      expect(await cluster.told('FailedScheduling')).toEqual([]);
      await world.sleep(20_000);
      expect(await cluster.told('FailedScheduling')).toEqual(['web: running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded']);
    }));

  test('a pod that goes while it waits leaves the node on its claim, and nothing that keeps others waiting', () =>
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
      expect(await cluster.told('FailedScheduling')).toEqual([
        'web: running PreBind plugin "VolumeBinding": binding volumes: pod does not exist any more: pod "web" not found',
      ]);
    }));

  test('a pod goes while the answer about its volume is lost: the volume is there for the next', () =>
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
      expect(await cluster.look()).toEqual(['pod/two n1', 'pv/only Bound y', 'pvc/x Pending', 'pvc/y Bound only']);
    }));

  test('many pods on a bad network: every pod with its own volume, each where its volume is, once the network heals', async () => {
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
        const seen = await cluster.look();
        expect(
          seen.filter((line) => line.startsWith('pod/') && line.includes(' n-')),
          `seed ${seed}`,
        ).toHaveLength(12);
        expect(seen.filter((line) => line.startsWith('pvc/') && line.includes('Bound'))).toHaveLength(12);
        for (let i = 0; i < 12; i++) {
          const volume = (await cluster.claimNamed(`c${i}`)).spec.volumeName ?? '';
          expect(seen).toContain(`pv/${volume} Bound c${i}`);
          expect(seen).toContain(`pod/p${i} n-${'abc'[Number(volume.slice(1)) % 3] ?? ''}`);
        }
      });
    }
  });

  describe.each([
    ['static', none, ['pv/v1 Bound a', 'pv/v2 Bound b', 'pvc/a Bound v1', 'pvc/b Bound v2']],
    ['made', hostPath, undefined],
  ] as const)('killed between any two steps (%s)', (_, provisioner, expected) => {
    test.each(['before', 'after'] as const)('%s a write took effect: the next scheduler ends where this one would have', async (when) => {
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
          const seen = await cluster.look();
          expect(seen, `killed ${when} write ${at}`).toContain('pod/web n1');
          if (expected !== undefined) expect(seen.filter((line) => !line.startsWith('pod/'))).toEqual(expected);
          expect(seen.filter((line) => line.startsWith('pvc/') && line.includes('Bound'))).toHaveLength(2);
          expect(seen.filter((line) => line.startsWith('pv/'))).toHaveLength(2);
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
