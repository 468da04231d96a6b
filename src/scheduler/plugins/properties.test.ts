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
type Happening = (seen: SmallCluster) => ClusterEvent | undefined;
const event: fc.Arbitrary<Happening> = fc.oneof(
  ...names.map((name) =>
    nodeOf(name).map(
      (made): Happening =>
        (seen) =>
          seen.set(made)[0],
    ),
  ),
  placed('p4').map(
    (made): Happening =>
      (seen) =>
        seen.set(made)[0],
  ),
  fc.tuple(fc.constantFrom('p1', 'p2', 'p3'), app).map(
    ([name, label]): Happening =>
      (seen) => {
        const known = seen.views.pod.getKey(`default/${name}`);
        return known === undefined ? undefined : seen.set({ ...known, metadata: { ...known.metadata, labels: { app: label } } })[0];
      },
  ),
  fc.constantFrom('Pod default/p1', 'Pod default/p2', 'Node n1').map(
    (gone): Happening =>
      (seen) =>
        seen.delete(...(gone.split(' ') as [string, string])),
  ),
);

describe('all plugins', () => {
  it('have hints that queue every pod that an event makes schedulable', () => {
    fc.assert(
      fc.property(objects, podOf('waiting'), event, (before, waiting, happening) => {
        const seen = new SmallCluster(defaultPlugins([]));
        seen.set(...before);
        const pending = readPod(waiting);
        const first = runPreFilterPlugins(pending, seen.plugins, seen.cluster);
        if (first.type !== 'ready') return;
        const verdicts = seen.cluster.nodes.map((each) => first.run.filter(each));
        if (verdicts.includes(undefined)) return;
        const rejectors = new Set(verdicts.map((verdict) => verdict?.plugin));
        const change = happening(seen);
        const again = runPreFilterPlugins(pending, seen.plugins, seen.cluster);
        if (change === undefined || again.type !== 'ready' || !seen.cluster.nodes.some((each) => again.run.filter(each) === undefined)) return;
        const wakers = seen.plugins.filter(
          ({ name, queueingHints: wakes }) => rejectors.has(name) && wakes?.events.includes(change.resource) && wakes.hint(pending, change),
        );
        expect(wakers.length, `rejected by ${[...rejectors].join()}, and none of them wakes it`).toBeGreaterThan(0);
      }),
      { numRuns: 3000 },
    );
  });

  it('give the same verdict in a dry run as in the real cluster', () => {
    fc.assert(
      fc.property(objects, podOf('waiting'), fc.constantFrom('p1', 'p2', 'p3'), placed('p4'), (given, waiting, leaver, comer) => {
        const seen = new SmallCluster(defaultPlugins([]));
        seen.set(...given);
        const ready = runPreFilterPlugins(readPod(waiting), seen.plugins, seen.cluster);
        if (ready.type !== 'ready') return;
        const [nodeName, leaves] = [comer.spec.nodeName ?? '', given.find(({ metadata }) => metadata.name === leaver) as Pod];
        const original = seen.cluster.node(nodeName);
        if (original === undefined) return;
        const whatIf = ready.run.copy();
        const copy: LiveNodeInfo = original.copy();
        // A dry run changes the pods of one node.
        if (leaves.spec.nodeName === nodeName) {
          copy.removePod(readPod(leaves));
          whatIf.removePod(readPod(leaves), copy);
        }
        copy.addPod(readPod(comer));
        whatIf.addPod(readPod(comer), copy);
        const untouched = seen.cluster.nodes.map((each) => ready.run.filter(each)?.plugin);
        const guessed = whatIf.filter(copy)?.plugin;
        expect(
          seen.cluster.nodes.map((each) => ready.run.filter(each)?.plugin),
          'the real ones do not notice',
        ).toEqual(untouched);

        if (leaves.spec.nodeName === nodeName) seen.delete('Pod', `default/${leaver}`);
        seen.set(comer);
        const now = runPreFilterPlugins(readPod(waiting), seen.plugins, seen.cluster);
        const actual = seen.cluster.node(nodeName);
        if (now.type !== 'ready' || actual === undefined) throw new Error('it was ready before');
        expect(guessed).toBe(now.run.filter(actual)?.plugin);
      }),
      { numRuns: 2000 },
    );
  });

  it('are deterministic, and score between 0 and 100', () => {
    fc.assert(
      fc.property(objects, podOf('waiting'), (given, waiting) => {
        const seen = new SmallCluster(defaultPlugins([]));
        seen.set(...given);
        const [first, second] = [
          runPreFilterPlugins(readPod(waiting), seen.plugins, seen.cluster),
          runPreFilterPlugins(readPod(waiting), seen.plugins, seen.cluster),
        ];
        if (first.type !== 'ready' || second.type !== 'ready') return;
        for (const each of seen.cluster.nodes) expect(JSON.stringify(first.run.filter(each))).toBe(JSON.stringify(second.run.filter(each)));
        for (const { cycle: stages } of first.run.plugins) {
          for (const score of Array.from(stages.score?.(seen.cluster.nodes) ?? [])) {
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThanOrEqual(100);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
