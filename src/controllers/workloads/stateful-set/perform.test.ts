import { expect, test } from 'vitest';
import type { Pod, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Client } from '../../../client/client.ts';
import { StatefulSetWorker } from './perform.ts';

test('a pod is deleted with the grace that its spec asks for, and only that pod: its node stops it before the next one of its ordinal is created', async () => {
  const deletions: unknown[] = [];
  const client = {
    delete: async (_: unknown, ref: unknown, options: unknown) => {
      deletions.push([ref, options]);
      return { ok: true, value: undefined };
    },
  } as unknown as Client;
  const worker = new StatefulSetWorker({ client, recorder: { record: () => undefined } });
  const pod = { kind: 'Pod', metadata: { namespace: 'default', name: 'db-0', uid: 'u1' }, spec: { terminationGracePeriodSeconds: 30 } } as Stored<Pod>;
  const set = { metadata: { namespace: 'default', name: 'db', uid: 's' } } as Stored<StatefulSet>;
  expect(await worker.handlers.deletePod({ do: 'deletePod', set, pod })).toBe('done');
  expect(deletions).toEqual([[{ namespace: 'default', name: 'db-0' }, { preconditions: { uid: 'u1' } }]]);
});
