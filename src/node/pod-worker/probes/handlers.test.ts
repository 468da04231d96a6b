import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { Runtime } from '../../runtime.ts';
import type { World } from '../../../world/world.ts';
import { type HandlerTarget, runHandler } from './handlers.ts';

const timers = {
  after: (ms: number, callback: () => void) => {
    const timeout = setTimeout(callback, ms);
    return () => clearTimeout(timeout);
  },
};

const target = (more: Partial<HandlerTarget> = {}): HandlerTarget => ({
  runtime: {} as Runtime,
  world: { timers } as unknown as World,
  container: { name: 'app', resources: {} },
  field: 'livenessProbe',
  id: 'id',
  ip: '127.0.0.1',
  timeoutMs: 1000,
  ...more,
});

test('a gRPC probe fails with a message that names its field, and opens no connection', async () => {
  let connections = 0;
  const server = createServer(() => connections++);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  expect(await runHandler({ grpc: { port, service: '' } }, target())).toEqual({
    result: 'failure',
    output: 'livenessProbe.grpc: gRPC probes are not supported yet',
  });
  expect(connections).toBe(0);
  expect(await runHandler({ tcpSocket: { port } }, target())).toEqual({ result: 'success', output: '' });
  server.close();
});

test('a runtime without processes answers every handler with success', async () => {
  const runtime = { scripted: {} } as Runtime;
  expect(await runHandler({ httpGet: { port: 1, path: '/' } }, target({ runtime }))).toEqual({ result: 'success', output: '' });
});
