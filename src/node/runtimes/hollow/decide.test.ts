import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SmallNode } from '../../../../test/node/small-node.ts';
import type { Container, Pod } from '../../../api/generated/types.ts';
import type { VolumeState } from '../../volumes/volume-state.ts';

const start = Date.UTC(2026, 0, 1);

const container = (name: string, restartPolicy?: string): Container => ({
  name,
  image: 'nginx',
  resources: {},
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
});

interface PodPlan {
  readonly restartPolicy: string;
  readonly containers: number;
  readonly init: readonly ('init' | 'sidecar')[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly activeDeadlineSeconds?: number | undefined;
}

function podOf({ restartPolicy, containers, init, annotations, activeDeadlineSeconds }: PodPlan): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'web', uid: 'uid', generation: 1, resourceVersion: '1', annotations },
    spec: {
      nodeName: 'node-1',
      restartPolicy,
      initContainers: init.map((kind, i) => container(`init-${i}`, kind === 'sidecar' ? 'Always' : undefined)),
      containers: Array.from({ length: containers }, (_, i) => container(`app-${i}`)),
      ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  };
}

const annotations = fc
  .record({
    'mooring.dev/run-for': fc.constantFrom('1s', '5s', 'app-0=3s', 'init-0=2s,9s', 'nonsense'),
    'mooring.dev/exit-code': fc.constantFrom('0', '1', 'app-1=2'),
    'mooring.dev/ready-after': fc.constantFrom('never', '4s', '0s'),
    'mooring.dev/stop-after': fc.constantFrom('3s', '1h', 'app-0=7s'),
  })
  .chain((all) => fc.subarray(Object.entries(all)).map((some) => Object.fromEntries(some)));

const plans: fc.Arbitrary<PodPlan> = fc.record({
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  containers: fc.integer({ min: 1, max: 3 }),
  init: fc.array(fc.constantFrom('init' as const, 'sidecar' as const), { maxLength: 3 }),
  annotations,
  activeDeadlineSeconds: fc.option(fc.constantFrom(1, 10), { nil: undefined }),
});

const volumes: fc.Arbitrary<readonly VolumeState[]> = fc.array(
  fc.constantFrom<VolumeState>(
    { state: 'ready', name: 'a', attached: 'x' },
    { state: 'unattached', name: 'b' },
    { state: 'unclaimed', name: 'c', error: 'no claim' },
    { state: 'failing', name: 'd', reason: 'FailedMount', message: 'cannot' },
  ),
  { maxLength: 3 },
);

/** What happens to a pod, and when. */
const stories = fc.record({
  plan: plans,
  volumes,
  waitMs: fc.integer({ min: 0, max: 60_000 }),
  grace: fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
});

function tell({
  plan,
  volumes: states,
  waitMs,
  grace,
}: {
  plan: PodPlan;
  volumes: readonly VolumeState[];
  waitMs: number;
  grace: number | undefined;
}): SmallNode {
  const node = new SmallNode(podOf(plan), states);
  node.live(start, waitMs);
  if (grace !== undefined) node.delete(start + waitMs, grace);
  return node;
}

describe('a pod on a hollow node', () => {
  test('comes to rest: deciding again changes nothing', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const now = start + story.waitMs;
        const node = tell(story);
        node.settle(now);
        expect(node.decide(now)).toEqual([]);
      }),
    );
  });

  test('is decided about in the same way each time', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const node = tell(story);
        expect(node.decide(start + story.waitMs)).toEqual(node.decide(start + story.waitMs));
      }),
    );
  });

  test('ends the same if its agent dies after any of its actions', () => {
    fc.assert(
      fc.property(stories, fc.integer({ min: 0, max: 12 }), (story, survived) => {
        const now = start + story.waitMs;
        // An agent that starts anew has forgotten for how long it held a container back, as a kubelet has.
        fc.pre(story.plan.annotations['mooring.dev/run-for'] === undefined);
        const [undisturbed, disturbed] = [tell(story), tell(story)];
        undisturbed.settle(now);
        let left = survived;
        for (let pass = 0; pass < 10 && left >= 0; pass++) {
          for (const action of disturbed.decide(now)) {
            if (left-- <= 0) break;
            disturbed.perform(action);
          }
        }
        disturbed.crash();
        disturbed.settle(now);
        expect(disturbed.pod).toEqual(undisturbed.pod);
      }),
    );
  });

  test('never says what a server would refuse, never ends twice, and never runs less often than before', () => {
    fc.assert(
      fc.property(stories, fc.boolean(), (story, crashes) => {
        const node = tell(story);
        if (crashes) node.crash();
        node.live(start + story.waitMs, 120_000);
        for (const [i, status] of node.statuses.entries()) {
          const before = node.statuses[i - 1];
          if (before === undefined) continue;
          if (before.phase === 'Succeeded' || before.phase === 'Failed') expect(status.phase).toBe(before.phase);
          if (before.podIP !== undefined) expect(status.podIP).toBe(before.podIP);
          for (const { name, restartCount } of status.containerStatuses ?? []) {
            expect(restartCount).toBeGreaterThanOrEqual(before.containerStatuses?.find((each) => each.name === name)?.restartCount ?? 0);
          }
        }
      }),
    );
  });

  test('that is deleted is gone when its grace is over, whatever it was doing', () => {
    fc.assert(
      fc.property(stories, (story) => {
        fc.pre(story.grace !== undefined && story.grace > 0);
        const node = tell(story);
        node.live(start + story.waitMs, 3_000 + (story.grace ?? 0) * 1000 * 2);
        expect(node.pod).toBeUndefined();
      }),
    );
  });

  test('starts nothing before all of its volumes are there', () => {
    fc.assert(
      fc.property(plans, volumes, (plan, states) => {
        fc.pre(states.some(({ state }) => state !== 'ready'));
        const node = new SmallNode(podOf({ ...plan, activeDeadlineSeconds: undefined }), states);
        node.live(start, 30_000);
        expect(node.told.some((event) => event.startsWith('Started'))).toBe(false);
        expect(node.pod?.status.phase).toBe('Pending');
        node.volumes = states.map(({ name }) => ({ state: 'ready', name }));
        node.settle(start + 30_000);
        expect(node.told.some((event) => event.startsWith('Started'))).toBe(true);
      }),
    );
  });
});
