import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { inDeletionOrder } from './deletion-order.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();

interface Facts {
  readonly node?: string;
  readonly phase?: string;
  readonly readyFor?: number;
  readonly age?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
}

function pod(uid: string, { node = 'n1', phase = 'Running', readyFor, age = 3600, cost, restarts = 0, sidecarRestarts = 0 }: Facts): Stored<Pod> {
  const status = (name: string, restartCount: number) => ({ name, restartCount, ready: true, image: '', imageID: '', state: {}, lastState: {} });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: uid,
      uid,
      resourceVersion: '1',
      creationTimestamp: ago(age),
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: { nodeName: node, containers: [], initContainers: [{ name: 'side', restartPolicy: 'Always', resources: {} }] },
    status: {
      phase,
      conditions: readyFor === undefined ? [] : [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: ago(readyFor) }],
      containerStatuses: [status('app', restarts)],
      initContainerStatuses: [status('side', sidecarRestarts)],
    },
  };
}

const order = (pods: Record<string, Facts>, rank?: (pod: Stored<Pod>) => number) =>
  inDeletionOrder(
    Object.entries(pods).map(([uid, facts]) => pod(uid, facts)),
    { now, ...(rank === undefined ? {} : { rank }) },
  ).map(({ metadata }) => metadata.uid);

const ready = { readyFor: 600 };

describe('pods to be deleted first', () => {
  test.each<[string, Record<string, Facts>]>([
    ['those without a node', { second: {}, first: { node: '', ...ready } }],
    ['pending before unknown before running', { third: {}, second: { phase: 'Unknown' }, first: { phase: 'Pending' } }],
    ['those that are not ready', { second: ready, first: {} }],
    ['those whose deletion costs less', { second: { ...ready, cost: '10' }, first: { ...ready, cost: '-3' } }],
    ['readiness counts more than cost', { second: { ...ready, cost: '-10' }, first: { cost: '10' } }],
    ['those that have been ready for much less time', { second: { readyFor: 6000 }, first: { readyFor: 60 } }],
    ['those that restarted more often', { second: { ...ready, restarts: 1 }, first: { ...ready, restarts: 2 } }],
    [
      'those whose sidecars restarted more often',
      { second: { ...ready, restarts: 1, sidecarRestarts: 1 }, first: { ...ready, restarts: 1, sidecarRestarts: 2 } },
    ],
    ['those that are much younger', { second: { age: 100_000 }, first: { age: 10 } }],
  ])('%s', (_, pods) => {
    expect(order(pods)).toEqual(['first', 'second', 'third'].slice(0, Object.keys(pods).length));
  });

  test('of about the same age are ordered by uid', () => {
    expect(order({ b: { age: 1000 }, a: { age: 1001 } })).toEqual(['a', 'b']);
    expect(order({ b: { age: 1001 }, a: { age: 1000 } })).toEqual(['a', 'b']);
  });

  test('those that share their node with more ready pods of the same kind', () => {
    const rank = ({ metadata }: Stored<Pod>) => (metadata.uid === 'doubled' ? 2 : 1);
    expect(order({ alone: { readyFor: 60 }, doubled: { readyFor: 6000 } }, rank)).toEqual(['doubled', 'alone']);
    expect(order({ alone: {}, doubled: { ...ready } }, rank)).toEqual(['alone', 'doubled']);
  });

  test.each(['+5', '05', '1.5', '99999999999', ''])('a cost of %j counts as none', (cost) => {
    expect(order({ second: { ...ready, cost: '1' }, first: { ...ready, cost } })).toEqual(['first', 'second']);
  });

  // Two pods that became ready in the same second are ordered by restarts, but not a third of about their age: as in Kubernetes, that is no total order.
  test('unless they are equally old, the order does not depend on the input order', () => {
    const facts = fc.record({ node: fc.constantFrom('', 'n1'), phase: fc.constantFrom('Pending', 'Running'), restarts: fc.nat(2), isReady: fc.boolean() });
    const times = fc.uniqueArray(fc.nat(5000), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 8 }), times, times, (all, ages, ready) => {
        const entries = all.map(({ isReady, ...each }, i): [string, Facts] => {
          const [age = 0, readyFor = 0] = [ages[i], ready[i]];
          return [`u${i}`, { ...each, age, ...(isReady ? { readyFor } : {}) }];
        });
        expect(order(Object.fromEntries(entries))).toEqual(order(Object.fromEntries(entries.toReversed())));
      }),
    );
  });
});
