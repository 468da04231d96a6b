import { expect, test } from 'vitest';
import type { Pod, RuntimeClass } from '../../api/generated/types.ts';
import { statusErrors } from '../../api/status.ts';
import { runtimeClassKind } from '../../api/kinds/node/runtime-class.ts';
import type { Client } from '../../client/client.ts';
import { runtimeHandlerProblem } from './runtime-handler.ts';

const podOf = (runtimeClassName?: string) => ({ metadata: {}, spec: runtimeClassName === undefined ? {} : { runtimeClassName }, status: {} }) as Pod;
const kata: RuntimeClass = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'vm' }, handler: 'kata' };
const client = {
  get: (_: unknown, { name }: { name: string }) =>
    Promise.resolve(name === 'vm' ? { ok: true, value: kata } : { ok: false, reason: 'notFound', error: statusErrors.notFound(runtimeClassKind, name) }),
} as unknown as Pick<Client, 'get'>;

test('a pod whose RuntimeClass names a handler that the runtime does not have gets no sandbox', async () => {
  expect(await runtimeHandlerProblem(podOf(), client)).toBeUndefined();
  expect(await runtimeHandlerProblem(podOf('vm'), client)).toBe('failed to get sandbox runtime: no runtime for "kata" is configured');
  expect(await runtimeHandlerProblem(podOf('gone'), client)).toBe('failed to get runtime handler: runtimeclasses.node.k8s.io "gone" not found');
});

test('the RuntimeClass is read anew for each attempt', async () => {
  let handler = 'kata';
  const changing = { get: () => Promise.resolve({ ok: true, value: { ...kata, handler } }) } as unknown as Pick<Client, 'get'>;
  expect(await runtimeHandlerProblem(podOf('vm'), changing)).toContain('"kata"');
  handler = 'gvisor';
  expect(await runtimeHandlerProblem(podOf('vm'), changing)).toContain('"gvisor"');
});
