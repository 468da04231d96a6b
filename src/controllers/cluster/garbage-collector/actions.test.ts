import { expect, test } from 'vitest';
import { configMapKind } from '../../../api/kinds/core/config-map.ts';
import { statusErrors } from '../../../api/status.ts';
import type { Client } from '../../../client/client.ts';
import { untypedKind } from '../../../api/kind.ts';
import { garbageCollectorHandlers, type Target } from './actions.ts';

const target: Target = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'child', uid: 'u1', resourceVersion: '5', ownerReferences: [] };
const conflict = { ok: false, reason: 'conflict', error: statusErrors.internal('changed') } as const;

/** The first deletion is a conflict; `live`: what the server has then. */
async function deleteChanged(live: object) {
  const preconditions: unknown[] = [];
  const client = {
    delete: async (_kind: unknown, _ref: unknown, options: { preconditions: unknown }) => {
      preconditions.push(options.preconditions);
      return preconditions.length === 1 ? conflict : { ok: true, value: {} };
    },
    get: async () => ({ ok: true, value: { metadata: live } }),
  } as unknown as Client;
  const handlers = garbageCollectorHandlers(client, { kindOf: () => untypedKind(configMapKind), lookedUp: () => undefined });
  return { outcome: await handlers.delete({ do: 'delete', target, propagation: 'Background' }, ''), preconditions };
}

test('an object that was only written meanwhile is deleted as it is now', async () => {
  const { outcome, preconditions } = await deleteChanged({ uid: 'u1', resourceVersion: '6' });
  expect([outcome, preconditions.at(-1)]).toEqual(['done', { uid: 'u1', resourceVersion: '6' }]);
});

test('another object of its name is left alone', async () => {
  const { outcome, preconditions } = await deleteChanged({ uid: 'u2', resourceVersion: '6' });
  expect([outcome, preconditions.length]).toEqual(['done', 1]);
});

test('an object that another owner has adopted meanwhile is decided about again', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'u3' };
  const { outcome, preconditions } = await deleteChanged({ uid: 'u1', resourceVersion: '6', ownerReferences: [owner] });
  expect([outcome, preconditions.length]).toEqual(['conflict', 1]);
});
