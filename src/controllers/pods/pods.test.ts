import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod, PodTemplateSpec } from '../../api/generated/types.ts';
import { replicaSetKind } from '../../api/kinds/apps/replica-set.ts';
import type { Outcome } from '../../client/controller/loop.ts';
import { shortHash } from './hash.ts';
import { slowStart } from './slow-start.ts';
import { isPodActive, isPodAvailable, isPodTerminating, nextAvailability } from './state.ts';
import { podFromTemplate } from './template.ts';

const now = Date.parse('2026-01-01T00:00:30Z');
const readyAt = (time: string | null, status = 'True', phase = 'Running'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {},
  spec: { containers: [] },
  status: { phase, conditions: [{ type: 'Ready', status, lastProbeTime: null, lastTransitionTime: time }] },
});

describe('availability', () => {
  test.each([
    [0, '2026-01-01T00:00:30Z', true],
    [10, '2026-01-01T00:00:20Z', true],
    [10, '2026-01-01T00:00:21Z', false],
    [10, null, false],
    [0, null, true],
  ])('ready for %d seconds at least, since %s: %s', (minReadySeconds, since, expected) => {
    expect(isPodAvailable(readyAt(since), minReadySeconds, now)).toBe(expected);
    expect(isPodAvailable(readyAt(since, 'False'), minReadySeconds, now)).toBe(false);
  });

  test('the next pod to become available is the unavailable one that has been ready longest', () => {
    const pods = [readyAt('2026-01-01T00:00:00Z'), readyAt('2026-01-01T00:00:25Z'), readyAt('2026-01-01T00:00:22Z'), readyAt('2026-01-01T00:00:21Z', 'False')];
    expect(nextAvailability(pods, 10, now)).toBe(Date.parse('2026-01-01T00:00:32Z'));
    expect(nextAvailability(pods, 0, now)).toBeUndefined();
    expect(nextAvailability([], 10, now)).toBeUndefined();
  });

  test('a pod that has ended is neither active nor terminating, even if it is being deleted', () => {
    const going = (phase: string): Pod => ({ ...readyAt(null, 'True', phase), metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    expect(['Pending', 'Running', 'Succeeded', 'Failed'].map((phase) => isPodActive(readyAt(null, 'True', phase)))).toEqual([true, true, false, false]);
    expect(['Pending', 'Running', 'Succeeded', 'Failed'].map((phase) => isPodTerminating(going(phase)))).toEqual([true, true, false, false]);
    expect(isPodActive(going('Running'))).toBe(false);
  });
});

describe('a pod from a template', () => {
  const template: PodTemplateSpec = { metadata: { labels: { app: 'web' }, finalizers: ['example.com/x'] }, spec: { containers: [] } };
  const owner = (name: string) => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { namespace: 'team', name, uid: 'u1', resourceVersion: '1' } });

  test('has the contents of the template and its owner', () => {
    expect(podFromTemplate(template, owner('web'), replicaSetKind)).toEqual({
      metadata: {
        namespace: 'team',
        generateName: 'web-',
        labels: { app: 'web' },
        finalizers: ['example.com/x'],
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true, blockOwnerDeletion: true }],
      },
      spec: { containers: [] },
    });
  });
});

describe('short hashes', () => {
  test('are equal for equal contents in any order, and use safe letters', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (contents, count) => {
        const reversed = Object.fromEntries(Object.entries(contents).toReversed());
        expect(shortHash(reversed, count)).toBe(shortHash(contents, count));
        expect(shortHash(contents)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
      }),
    );
  });

  test('differ by contents and by collision', () => {
    expect(new Set([shortHash({ a: 1 }), shortHash({ a: 2 }), shortHash({ a: 1 }, 0), shortHash({ a: 1 }, 1)]).size).toBe(4);
  });
});

describe('a slow start', () => {
  async function run(count: number, failing: (item: number) => Outcome): Promise<{ outcome: Outcome; batches: readonly number[] }> {
    const batches: number[] = [];
    let under = 0;
    const outcome = await slowStart(
      Array.from({ length: count }, (_, i) => i),
      async (item) => {
        if (under++ === 0) batches.push(0);
        batches[batches.length - 1] = (batches.at(-1) ?? 0) + 1;
        await Promise.resolve();
        under--;
        return failing(item);
      },
      { most: 4 },
    );
    return { outcome, batches };
  }

  test('doubles as long as all items succeed, up to a limit', async () => {
    expect(await run(14, () => 'done')).toEqual({ outcome: 'done', batches: [1, 2, 4, 4, 3] });
    expect(await run(0, () => 'done')).toEqual({ outcome: 'done', batches: [] });
  });

  test('stops after the batch in which one fails', async () => {
    expect(await run(100, (item) => (item === 2 ? { retry: 'no' } : 'done'))).toEqual({ outcome: { retry: 'no' }, batches: [1, 2] });
    expect(await run(100, (item) => (item === 1 ? 'conflict' : item === 2 ? 'deposed' : 'done'))).toEqual({ outcome: 'deposed', batches: [1, 2] });
  });
});
