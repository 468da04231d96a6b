import { expect, test } from 'vitest';
import { allKinds } from '../../api/kinds/index.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { serviceAccountKind } from '../../api/kinds/core/service-account.ts';
import { createClient } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import { createApi } from '../../apiserver/create-api.ts';
import { simulate } from '../../sim/world/world.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { createInProcessTransport } from './in-process-transport.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import type { SimulatedWorld } from '../../sim/world/world.ts';

const hour = 3_600_000;

/** A server that numbers the tokens it issues. */
async function start(world: SimulatedWorld) {
  let issued = 0;
  const issue = async () => ({ token: `token ${++issued}`, audiences: [], expiresAt: world.clock.now() + hour });
  const api = createApi({ store: openMemoryStore(), kinds: allKinds, world, tokens: { issue } });
  const server = createInProcessTransport(api, { name: 'test', groups: ['system:masters'] }, 'test');
  const link = { up: true };
  const transport: Transport = {
    send: (request) => (link.up ? server.send(request) : Promise.resolve({ type: 'unreachable', error: new Error('cut off') })),
    watch: (request, sink) => server.watch(request, sink),
  };
  const client = createClient({ transport });
  await client.create(namespaceKind, { metadata: { name: 'kube-system' } });
  const tokens = new ServiceAccountTokens({ world, client, namespace: 'kube-system' });
  return { client, tokens, link };
}

test('a missing ServiceAccount is created; its token is renewed before it expires', () =>
  simulate(1, async (world) => {
    const { client, tokens } = await start(world);
    expect(await tokens.hold('binder')).toMatchObject({ ok: true });
    expect(await client.get(serviceAccountKind, { namespace: 'kube-system', name: 'binder' })).toMatchObject({ ok: true });
    expect(tokens.current('binder')).toBe('token 1');
    await world.sleep(hour * 0.79);
    expect(tokens.current('binder')).toBe('token 1');
    await world.sleep(hour * 0.02);
    expect(tokens.current('binder')).toBe('token 2');
  }));

test('a failed renewal is retried in time', () =>
  simulate(1, async (world) => {
    const { tokens, link } = await start(world);
    await tokens.hold('binder');
    link.up = false;
    await world.sleep(hour * 0.9);
    expect(tokens.current('binder')).toBe('token 1');
    link.up = true;
    await world.sleep(11_000);
    expect(tokens.current('binder')).toBe('token 2');
  }));

test('many refusals of a token fetch one new token', () =>
  simulate(1, async (world) => {
    const { tokens } = await start(world);
    await tokens.hold('binder');
    for (let i = 0; i < 100; i++) {
      tokens.refused('binder');
      await world.sleep(1);
    }
    await world.sleep(10_000);
    expect(tokens.current('binder')).toBe('token 2');
  }));

test('a failed request is reported to the caller, and nothing is renewed after stop', () =>
  simulate(1, async (world) => {
    const { tokens, link } = await start(world);
    link.up = false;
    expect(await tokens.hold('binder')).toMatchObject({ ok: false, reason: 'unreachable' });
    expect(() => tokens.current('binder')).toThrow('no token of binder is held');
    link.up = true;
    await tokens.hold('binder');
    tokens.stop();
    await world.sleep(hour * 2);
    expect(tokens.current('binder')).toBe('token 1');
  }));
