import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Health, HealthCheckResponse_ServingStatus } from '../../../grpc/generated/health.ts';
import { GrpcServer } from '../../../grpc/http2-server.ts';
import { handlersOf, type Implementation } from '../../../grpc/service.ts';
import { RpcError } from '../../../grpc/status.ts';
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

test('a gRPC probe asks the health service, in the words of the kubelet', async () => {
  const serving = new Map([
    ['', HealthCheckResponse_ServingStatus.SERVING],
    ['db', HealthCheckResponse_ServingStatus.NOT_SERVING],
  ]);
  const health: Implementation<typeof Health> = {
    check: ({ service }, { metadata }) => {
      expect(metadata['user-agent']).toBe('kube-probe/1.36');
      const status = serving.get(service);
      return status === undefined ? Promise.reject(new RpcError('NotFound', 'unknown service')) : Promise.resolve({ status });
    },
  };
  const server = new GrpcServer(handlersOf(Health, health));
  const port = await server.listen('127.0.0.1:0');
  const probe = (service: string) => runHandler({ grpc: { port, service } }, target());
  expect(await probe('')).toEqual({ result: 'success', output: 'service healthy' });
  expect(await probe('db')).toEqual({ result: 'failure', output: 'service unhealthy (responded with "NOT_SERVING")' });
  expect(await probe('cache')).toEqual({
    result: 'failure',
    output: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
  });
  await server.close();
  expect(await probe('')).toEqual({
    result: 'failure',
    output: `timeout: failed to connect service "127.0.0.1:${port}" within 1s: context deadline exceeded`,
  });
});

test('a gRPC probe of a server without the health service, of one that hangs, and of none that speaks gRPC', async () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  const hanging = new GrpcServer(handlersOf(Health, { check: never }));
  const other = new GrpcServer();
  const silent = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  const probe = (port: number) => runHandler({ grpc: { port, service: null } }, target({ timeoutMs: 200 }));
  expect(await probe(await hanging.listen('127.0.0.1:0'))).toEqual({ result: 'failure', output: 'timeout: health rpc did not complete within 0.2s' });
  expect(await probe(await other.listen('127.0.0.1:0'))).toEqual({
    result: 'failure',
    output: 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service grpc.health.v1.Health',
  });
  const { port } = silent.address() as AddressInfo;
  expect(await probe(port)).toEqual({
    result: 'failure',
    output: `timeout: failed to connect service "127.0.0.1:${port}" within 0.2s: context deadline exceeded`,
  });
  await Promise.all([hanging.close(), other.close(), new Promise((resolve) => void silent.close(resolve))]);
});

test('a TCP probe', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  expect(await runHandler({ tcpSocket: { port: (server.address() as AddressInfo).port } }, target())).toEqual({ result: 'success', output: '' });
  server.close();
});

test('a runtime without processes answers every handler with success', async () => {
  const runtime = { scripted: {} } as Runtime;
  expect(await runHandler({ httpGet: { port: 1, path: '/' } }, target({ runtime }))).toEqual({ result: 'success', output: '' });
});
