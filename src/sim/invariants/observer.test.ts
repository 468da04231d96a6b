import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import { put } from '../../store/contract.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { Observer, type Violation } from './observer.ts';
import { noSurplus } from './workloads.ts';

const bytes = (object: unknown) => Buffer.from(JSON.stringify(object));

function observer(...invariants: ConstructorParameters<typeof Observer>[0]['invariants']) {
  const violations: Violation[] = [];
  const watch = new Observer({ invariants, now: () => 0, onChange: () => undefined, onViolation: (violation) => violations.push(violation) });
  return { watch, violations };
}

test('a store that lost an acknowledged write is a violation', async () => {
  const store = openMemoryStore();
  const written = await store.transact({ compares: [], writes: [put('/a', bytes(1))] });
  if (!written.ok) throw new Error('nothing was written');
  const { watch, violations } = observer();
  watch.acknowledge(written.revision);
  await watch.follow(store);
  expect(violations).toEqual([]);
  await watch.follow(openMemoryStore());
  expect(violations.map(({ invariant }) => invariant)).toEqual(['what was acknowledged is kept']);
});

test('a heartbeat is no change; another node status is', async () => {
  const store = openMemoryStore();
  const { watch } = observer();
  await watch.follow(store);
  const say = (lastHeartbeatTime: string, status: string) =>
    store.transact({
      compares: [],
      writes: [put('/registry/nodes/n', bytes({ metadata: { name: 'n' }, spec: {}, status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime }] } }))],
    });
  await say('2026-01-01T00:00:00Z', 'True');
  const before = watch.changes;
  await say('2026-01-01T00:00:10Z', 'True');
  expect(watch.changes).toBe(before);
  await say('2026-01-01T00:00:20Z', 'False');
  expect(watch.changes).toBe(before + 1);
});

test('a surplus pod is a violation; one that replaces a terminating pod is not', async () => {
  const store = openMemoryStore();
  const { watch, violations } = observer(noSurplus(new Map([['web', 1]])));
  await watch.follow(store);
  const make = (name: string, metadata: Partial<Pod['metadata']> = {}) =>
    store.transact({
      compares: [],
      writes: [
        put(
          `/registry/pods/default/${name}`,
          bytes({
            metadata: { name, namespace: 'default', labels: { app: 'web' }, ownerReferences: [{ kind: 'ReplicaSet', name: 'web-1', uid: 'u' }], ...metadata },
            spec: {},
            status: { phase: 'Running' },
          }),
        ),
      ],
    });
  await make('a', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  await make('b');
  expect(violations).toEqual([]);
  await make('c');
  expect(violations.map(({ what }) => what)).toEqual(['web-1 has 2 pods, and the highest replicas was 1']);
});
