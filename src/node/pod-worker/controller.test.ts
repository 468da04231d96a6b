import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Change } from '../../client/informers/cache.ts';
import type { PodsContext } from './context.ts';
import { podsController } from './controller.ts';

const podOn = (nodeName: string, uid: string): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name: 'db-0', uid, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { nodeName, containers: [] },
  status: {},
});

/** The keys that a change of a pod enqueues on the agent of the node 'mine'. */
function keysFor(change: Change<Pod>): readonly string[] {
  const ignored = () => () => undefined;
  const context = {
    caches: {
      hostOf: ({ spec }: Pod) => (spec.nodeName === 'mine' ? { name: 'mine' } : undefined),
      waitingPods: { get: () => [] },
      pods: { subscribe: ignored },
    },
    runtime: { observe: ignored, scripted: {} },
    volumes: { subscribe: ignored },
  } as unknown as PodsContext;
  const keys: string[] = [];
  const informers = {
    cache: ({ kind }: { readonly kind: string }) => ({ subscribe: (listener: (change: Change<Pod>) => void) => void (kind === 'Pod' && listener(change)) }),
  } as unknown as Informers;
  for (const source of podsController(context).controller.sources) source.subscribe(informers, (key) => keys.push(key));
  return keys;
}

test('a pod is enqueued while it is on a node of the agent, and when it is no longer', () => {
  const [mine, other] = [podOn('mine', 'a'), podOn('other', 'b')];
  expect(keysFor({ before: undefined, after: mine })).toEqual(['team/db-0']);
  expect(keysFor({ before: mine, after: undefined })).toEqual(['team/db-0']);
  expect(keysFor({ before: undefined, after: other })).toEqual([]);
});

test('a pod that another one of its name on another node replaced is enqueued: the runtime still has it', () => {
  expect(keysFor({ before: podOn('mine', 'a'), after: podOn('other', 'b') })).toEqual(['team/db-0']);
});
