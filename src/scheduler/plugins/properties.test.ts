/** Properties of all plugins about nodes and pods, on random clusters. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inZone, node, SmallCluster, zone } from '../../../test/scheduler/small-cluster.ts';
import { pod } from '../../../test/storage/objects.ts';
import type { Node, Pod, PodAffinityTerm } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ClusterEvent } from '../framework.ts';
import type { LiveNodeInfo } from '../node-info.ts';
import { readPod } from '../pod-info.ts';
import { runPreFilterPlugins } from '../pod-cycle.ts';
import { defaultPlugins } from './index.ts';

const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 1 });
const app = fc.constantFrom('web', 'db');
const topologyKey = fc.constantFrom(zone, 'kubernetes.io/hostname');

const nodeOf = (name: string): fc.Arbitrary<Node> =>
  fc
    .record({
      labels: fc.constantFrom({}, inZone('a'), inZone('b')),
      disk: fc.constantFrom({}, { disk: 'ssd' }),
      unschedulable: fc.boolean(),
      taints: few(fc.constantFrom({ key: 'x', effect: 'NoSchedule' }, { key: 'x', effect: 'PreferNoSchedule' })),
      cpu: fc.constantFrom('1', '2'),
      pods: fc.constantFrom('1', '3'),
    })
    .map(({ labels, disk, unschedulable, taints, cpu, pods }) => ({
      ...node(name, { ...labels, ...disk }),
      spec: { unschedulable, taints },
      status: { allocatable: { cpu, pods } } as unknown as Node['status'],
    }));

const term: fc.Arbitrary<PodAffinityTerm> = fc
  .record({ app, topologyKey })
  .map((made) => ({ labelSelector: { matchLabels: { app: made.app } }, topologyKey: made.topologyKey }));

const podOf = (name: string): fc.Arbitrary<Pod> =>
  fc
    .record({
      app,
      cpu: fc.constantFrom('0', '1', '2'),
      near: few(term),
      away: few(term),
      spread: few(fc.record({ topologyKey, app, maxSkew: fc.constantFrom(1, 2) })),
      tolerations: few(fc.constant({ key: 'x', operator: 'Exists' })),
      nodeSelector: fc.constantFrom(undefined, { disk: 'ssd' }),
      hostPort: fc.constantFrom(0, 80),
    })
    .map((made) =>
      pod(name, [], {
        metadata: { namespace: 'default', name, labels: { app: made.app } },
        spec: {
          containers: [{ name: 'app', resources: { requests: { cpu: made.cpu } }, ports: [{ containerPort: 1, hostPort: made.hostPort }] }],
          tolerations: made.tolerations,
          affinity: {
            podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: made.near },
            podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: made.away },
          },
          topologySpreadConstraints: made.spread.map(({ app: counted, ...each }) => ({
            ...each,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: counted } },
          })),
          ...(made.nodeSelector === undefined ? {} : { nodeSelector: made.nodeSelector }),
        },
      }),
    );

const names = ['n1', 'n2', 'n3'] as const;
const placed = (name: string): fc.Arbitrary<Pod> =>
  fc.tuple(podOf(name), fc.constantFrom(...names)).map(([made, nodeName]) => ({ ...made, spec: { ...made.spec, nodeName } }));
const objects: fc.Arbitrary<readonly KubeObject[]> = fc.tuple(
  ...names.slice(0, 2).map((name) => nodeOf(name)),
  ...['p1', 'p2', 'p3'].map((name) => placed(name)),
);
/** A random event: a node is created, updated or deleted; a pod is created, relabelled or deleted. */
type Happening = (cluster: SmallCluster) => ClusterEvent | undefined;
const event: fc.Arbitrary<Happening> = fc.oneof(
  ...names.map((name) =>
    nodeOf(name).map(
      (made): Happening =>
        (cluster) =>
          cluster.set(made)[0],
    ),
  ),
  placed('p4').map(
    (made): Happening =>
      (cluster) =>
        cluster.set(made)[0],
  ),
  fc.tuple(fc.constantFrom('p1', 'p2', 'p3'), app).map(
    ([name, label]): Happening =>
      (cluster) => {
        const known = cluster.views.pod.getKey(`default/${name}`);
        return known === undefined ? undefined : cluster.set({ ...known, metadata: { ...known.metadata, labels: { app: label } } })[0];
      },
  ),
  fc.constantFrom('Pod default/p1', 'Pod default/p2', 'Node n1').map(
    (gone): Happening =>
      (cluster) =>
        cluster.delete(...(gone.split(' ') as [string, string])),
  ),
);

describe('all plugins', () => {
  it('have hints that queue every pod that an event makes schedulable', () => {
    fc.assert(
      fc.property(objects, podOf('waiting'), event, (before, waiting, trigger) => {
        const cluster = new SmallCluster(defaultPlugins([]));
        cluster.set(...before);
        const pending = readPod(waiting);
        const first = runPreFilterPlugins(pending, cluster.plugins, cluster.cache);
        if (first.type !== 'ready') return;
        const verdicts = cluster.cache.nodes.map((each) => first.cycle.filter(each));
        if (verdicts.includes(undefined)) return;
        const unschedulablePlugins = new Set(verdicts.map((verdict) => verdict?.plugin));
        const change = trigger(cluster);
        const again = runPreFilterPlugins(pending, cluster.plugins, cluster.cache);
        if (change === undefined || again.type !== 'ready' || !cluster.cache.nodes.some((each) => again.cycle.filter(each) === undefined)) return;
        const hinting = cluster.plugins.filter(
          ({ name, queueingHints }) => unschedulablePlugins.has(name) && queueingHints?.events.includes(change.resource) && queueingHints.hint(pending, change),
        );
        expect(hinting.length, `rejected by ${[...unschedulablePlugins].join()}, without a hint`).toBeGreaterThan(0);
      }),
      { numRuns: 3000 },
    );
  });

  it('give the same verdict in a dry run as in the real cluster', () => {
    fc.assert(
      fc.property(objects, podOf('waiting'), fc.constantFrom('p1', 'p2', 'p3'), placed('p4'), (given, waiting, deletedName, added) => {
        const cluster = new SmallCluster(defaultPlugins([]));
        cluster.set(...given);
        const ready = runPreFilterPlugins(readPod(waiting), cluster.plugins, cluster.cache);
        if (ready.type !== 'ready') return;
        const [nodeName, deleted] = [added.spec.nodeName ?? '', given.find(({ metadata }) => metadata.name === deletedName) as Pod];
        const original = cluster.cache.node(nodeName);
        if (original === undefined) return;
        const cycleCopy = ready.cycle.copy();
        const copy: LiveNodeInfo = original.copy();
        // A dry run changes the pods of one node.
        if (deleted.spec.nodeName === nodeName) {
          copy.removePod(readPod(deleted));
          cycleCopy.removePod(readPod(deleted), copy);
        }
        copy.addPod(readPod(added));
        cycleCopy.addPod(readPod(added), copy);
        const untouched = cluster.cache.nodes.map((each) => ready.cycle.filter(each)?.plugin);
        const dryRun = cycleCopy.filter(copy)?.plugin;
        expect(
          cluster.cache.nodes.map((each) => ready.cycle.filter(each)?.plugin),
          'the dry run does not affect the original',
        ).toEqual(untouched);

        if (deleted.spec.nodeName === nodeName) cluster.delete('Pod', `default/${deletedName}`);
        cluster.set(added);
        const now = runPreFilterPlugins(readPod(waiting), cluster.plugins, cluster.cache);
        const actual = cluster.cache.node(nodeName);
        if (now.type !== 'ready' || actual === undefined) throw new Error('PreFilter succeeded before');
        expect(dryRun).toBe(now.cycle.filter(actual)?.plugin);
      }),
      { numRuns: 2000 },
    );
  });

  it('are deterministic, and score between 0 and 100', () => {
    fc.assert(
      fc.property(objects, podOf('waiting'), (given, waiting) => {
        const cluster = new SmallCluster(defaultPlugins([]));
        cluster.set(...given);
        const [first, second] = [
          runPreFilterPlugins(readPod(waiting), cluster.plugins, cluster.cache),
          runPreFilterPlugins(readPod(waiting), cluster.plugins, cluster.cache),
        ];
        if (first.type !== 'ready' || second.type !== 'ready') return;
        for (const each of cluster.cache.nodes) expect(JSON.stringify(first.cycle.filter(each))).toBe(JSON.stringify(second.cycle.filter(each)));
        for (const { cycle } of first.cycle.plugins) {
          for (const score of Array.from(cycle.score?.(cluster.cache.nodes) ?? [])) {
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThanOrEqual(100);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
