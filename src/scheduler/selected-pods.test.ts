import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inZone, node, SmallCluster } from '../../test/scheduler/small-cluster.ts';
import { pod } from '../../test/storage/objects.ts';
import { type LabelSelector, labelSelectorOf } from '../api/selectors/label-selector.ts';
import { readPod } from './pod-info.ts';
import { SchedulerCache } from './scheduler-cache.ts';
import { SelectedPodsIndex } from './selected-pods.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const selectors: readonly LabelSelector[] = [
  labelSelectorOf({ matchLabels: { app: 'web' } }),
  labelSelectorOf({ matchLabels: { app: 'web', set: 'one' } }),
  labelSelectorOf({ matchLabels: { app: 'db' } }),
  labelSelectorOf({ matchExpressions: [{ key: 'set', operator: 'DoesNotExist' }] }),
  labelSelectorOf({ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }),
];
const nodeNames = fc.constantFrom('n1', 'n2', 'n3');

const podChange = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  nodeName: nodeNames,
  labels: fc.constantFrom({ app: 'web' }, { app: 'web', set: 'one' }, { app: 'db', set: 'two' }, undefined),
  goes: fc.boolean(),
});
const change = fc.oneof(
  fc.record({ do: fc.constantFrom('setPod' as const, 'assumePod' as const), pod: podChange }),
  fc.record({ do: fc.constantFrom('removePod' as const, 'forgetPod' as const), name: fc.constantFrom('a', 'b', 'c', 'd') }),
  fc.record({ do: fc.constant('setNode' as const), name: nodeNames, zone: fc.constantFrom('zone-1', 'zone-2', undefined) }),
  fc.record({ do: fc.constant('removeNode' as const), name: nodeNames }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

interface PodParts {
  readonly name: string;
  readonly nodeName?: string;
  readonly labels?: Record<string, string> | undefined;
  readonly goes?: boolean;
}

function podOf({ name, nodeName = '', labels, goes = false }: PodParts) {
  const metadata = { labels, ...(goes ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) };
  const made = pod(name, [], { spec: { nodeName, containers: [] } });
  return readPod({ ...made, metadata: { ...made.metadata, ...metadata } } as typeof made);
}

function apply(cache: SchedulerCache, step: Change): void {
  switch (step.do) {
    case 'setPod':
      return cache.setPod(podOf(step.pod));
    case 'assumePod':
      return cache.assumePod(podOf(step.pod), step.pod.nodeName);
    case 'removePod':
      return cache.removePod(podOf(step).uid);
    case 'forgetPod':
      cache.forgetPod(podOf(step).uid);
      return;
    case 'setNode':
      return cache.setNode(node(step.name, step.zone === undefined ? {} : inZone(step.zone)));
    case 'removeNode':
      return cache.removeNode(step.name);
  }
}

test('the counts that are kept up are those of a look at every pod', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const cache = new SchedulerCache(new SmallCluster([]).views);
      for (const step of changes) {
        apply(cache, step);
        for (const selector of selectors) {
          const counts = (index: Pick<SelectedPodsIndex, 'of'>) => {
            const { byNode, byLabel } = countsOf(index, selector);
            return { byNode: Object.fromEntries(byNode), byLabel: Object.fromEntries(byLabel) };
          };
          expect(counts({ of: (namespace, of) => cache.selectedPods(namespace, of) })).toEqual(counts(new SelectedPodsIndex(cache)));
        }
      }
    }),
  );
});

function countsOf(index: Pick<SelectedPodsIndex, 'of'>, selector: LabelSelector) {
  const selected = index.of('default', selector);
  return { byNode: selected.byNode, byLabel: selected.byLabel(zoneLabel) };
}

test('a selector that was not asked for lately is counted anew', () => {
  const cache = new SchedulerCache(new SmallCluster([]).views);
  cache.setNode(node('n1'));
  const web = labelSelectorOf({ matchLabels: { app: 'web' } });
  const placed = (name: string) => cache.setPod(podOf({ name, nodeName: 'n1', labels: { app: 'web' } }));
  placed('a');
  const before = cache.selectedPods('default', web);
  for (let i = 0; i < 1_000; i++) cache.selectedPods('default', labelSelectorOf({ matchLabels: { set: `web-${i}` } }));
  placed('b');
  // The index dropped the old counts, and holds no more than its limit.
  expect(before.byNode.get('n1')).toBe(1);
  expect(cache.selectedPods('default', web).byNode.get('n1')).toBe(2);
});
