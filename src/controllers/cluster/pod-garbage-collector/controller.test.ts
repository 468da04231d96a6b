import { expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { Informers } from '../../../client/informers/informers.ts';
import { simulate } from '../../../sim/world/world.ts';
import { podGarbageCollector } from './controller.ts';

test.each([
  ['there', { ok: true, value: {} }, 'conflict'],
  ['not there', { ok: false, reason: 'notFound', error: new Error('not found') }, 'done'],
])('a node that the cache lacks and the server says is %s', (_, answer, outcome) =>
  simulate(1, async (world) => {
    const client = { get: async () => answer } as unknown as Client;
    const collector = podGarbageCollector({ client, informers: new Informers({ client, world }), clock: world.clock });
    const snapshot = {} as Parameters<typeof collector.perform>[2];
    expect(await collector.perform({ do: 'confirmNodeGone', node: 'a' }, 'default/web', snapshot)).toBe(outcome);
  }),
);
