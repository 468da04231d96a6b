import { expect, test } from 'vitest';
import type { Node } from '../../api/generated/types.ts';
import type { Client } from '../../client/client.ts';
import { Informers } from '../../client/informers/informers.ts';
import { simulate } from '../../sim/world/world.ts';
import { registration, type RegistrationOptions } from './controller.ts';

test('what a node writes about itself names the revision that it decided on: another client’s change meanwhile is a conflict', () =>
  simulate(1, async (world) => {
    const bodies: unknown[] = [];
    const client = {
      patch: async (_kind: unknown, _ref: unknown, { body }: { body: unknown }) => {
        bodies.push(body);
        return { ok: true, value: {} };
      },
    } as unknown as Client;
    const options = {
      hosts: new Map(),
      clientOf: () => client,
      informers: new Informers({ client, world }),
      world,
      sources: [],
      volumesInUse: () => new Set<string>(),
      inUse: { withdraw: () => undefined, confirmReported: () => undefined },
      onReported: () => undefined,
      onReady: () => undefined,
    } as unknown as RegistrationOptions;
    const object = { metadata: { name: 'a', resourceVersion: '7', labels: {} }, spec: {}, status: {} } as unknown as Node;
    const controller = registration(options);
    const snapshot = {} as Parameters<typeof controller.perform>[2];
    await controller.perform({ do: 'update-node', object }, 'a', snapshot);
    await controller.perform({ do: 'report', object }, 'a', snapshot);
    expect(bodies).toEqual([
      { metadata: expect.objectContaining({ resourceVersion: '7' }), spec: {} },
      { metadata: { resourceVersion: '7' }, status: { volumesInUse: null } },
    ]);
  }));
