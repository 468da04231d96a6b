import { expect, test } from 'vitest';
import type { Client } from '../client/client.ts';
import { statusErrors } from '../api/status.ts';
import { simulate, type SimulatedWorld } from '../sim/world/world.ts';
import { BindingCycles, type AssumedPod, type BindingResult } from './binding-cycle.ts';

const assumed = { pod: { uid: 'u1', namespace: 'default', name: 'web' }, node: { name: 'n1' }, cycle: { plugins: [] } } as unknown as AssumedPod;
const unreachable = { ok: false, reason: 'unreachable', error: statusErrors.internal('no answer') } as const;
const found = (uid: string, nodeName: string) => ({ ok: true, value: { metadata: { uid }, spec: { nodeName } } });

/** The answer to the binding is lost; `answers`: of the questions that follow, in order. */
function bind(world: SimulatedWorld, answers: readonly object[]): { readonly result: Promise<BindingResult>; readonly asked: () => number } {
  let asked = 0;
  const client = {
    postSubresource: async () => unreachable,
    get: async () => answers[asked++] ?? answers.at(-1),
  } as unknown as Client;
  return { result: new BindingCycles({ client, world, nodeExists: () => true }).run(assumed), asked: () => asked };
}

test('a binding without an answer is bound if the pod has the node', () =>
  simulate(1, async (world) => {
    const { result } = bind(world, [found('u1', 'n1')]);
    expect(await result).toEqual({ type: 'bound' });
  }));

test('a binding without an answer is not failed until the server says so', () =>
  simulate(1, async (world) => {
    const { result, asked } = bind(world, [unreachable, unreachable, unreachable, found('u1', '')]);
    const ended = { yet: false };
    void result.then(() => (ended.yet = true));
    await world.sleep(2_500);
    // The pod stays assumed meanwhile: no other pod gets its place.
    expect([ended.yet, asked()]).toEqual([false, 3]);
    await world.sleep(1_000);
    expect(await result).toMatchObject({ type: 'failed' });
  }));

test.each([
  ['on another node', found('u1', 'n2')],
  ['another pod of its name', found('u2', 'n1')],
  ['gone', { ok: false, reason: 'notFound', error: statusErrors.internal('gone') }],
])('a binding without an answer has failed if the pod is %s', (_, answer) =>
  simulate(1, async (world) => {
    expect(await bind(world, [answer]).result).toMatchObject({ type: 'failed' });
  }),
);

test('a scheduler whose lease another process holds says so: the pod has not failed', () =>
  simulate(1, async (world) => {
    const client = { postSubresource: async () => ({ ok: false, reason: 'deposed', error: statusErrors.internal('deposed') }) } as unknown as Client;
    expect(await new BindingCycles({ client, world, nodeExists: () => true }).run(assumed)).toEqual({ type: 'deposed' });
  }));

test('a nomination that is being written is waited for, and one that is not begun is cancelled, before the pod is bound', () =>
  simulate(1, async (world) => {
    const calls: string[] = [];
    const client = {
      patch: async () => {
        await world.sleep(5_000);
        calls.push('nominated');
        return { ok: true, value: {} };
      },
      postSubresource: async () => {
        calls.push('bound');
        return { ok: true, value: {} };
      },
    } as unknown as Client;
    const cycles = new BindingCycles({ client, world, nodeExists: () => true });
    const after = (ms: number) => ({
      ...assumed,
      pod: { ...assumed.pod, pod: { metadata: assumed.pod, spec: {}, status: {} } },
      cycle: { plugins: [{ plugin: { name: 'VolumeBinding' }, cycle: { preBind: () => world.sleep(ms) } }] },
    });
    // The nomination begins after a second.
    expect(await cycles.run(after(1_500) as unknown as AssumedPod)).toEqual({ type: 'bound' });
    expect(calls.splice(0)).toEqual(['nominated', 'bound']);
    expect(await cycles.run(after(500) as unknown as AssumedPod)).toEqual({ type: 'bound' });
    await world.sleep(10_000);
    expect(calls).toEqual(['bound']);
  }));
