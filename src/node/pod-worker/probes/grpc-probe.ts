/** A gRPC probe, with the messages of Kubernetes (pkg/probe/grpc/grpc.go). */
import { createClient } from '../../../grpc/client.ts';
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from '../../../grpc/generated/health.ts';
import { Http2Channel } from '../../../grpc/http2-channel.ts';
import { type RpcError, rpcErrorOf } from '../../../grpc/status.ts';
import type { Timers } from '../../../world/world.ts';
import type { HandlerResult } from './handler-result.ts';

export interface GrpcProbe {
  readonly host: string;
  readonly port: number;
  readonly service: string | null;
  readonly timers: Timers;
  readonly timeoutMs: number;
}

export async function grpcProbe({ host, port, service, timers, timeoutMs }: GrpcProbe): Promise<HandlerResult> {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const channel = new Http2Channel({ address, timers, userAgent: 'kube-probe/1.36' });
  try {
    const { status } = await createClient(Health, channel).check({ service: service ?? '' }, { timeoutMs });
    if (status === ServingStatus.SERVING) return { result: 'success', output: 'service healthy' };
    return { result: 'failure', output: `service unhealthy (responded with ${JSON.stringify(nameOf(status))})` };
  } catch (error) {
    return { result: 'failure', output: failureText(rpcErrorOf(error), { address, timeout: `${timeoutMs / 1000}s`, connected: channel.everConnected }) };
  } finally {
    channel.close();
  }
}

const nameOf = (status: number): string => Object.entries(ServingStatus).find(([, number]) => number === status)?.[0] ?? String(status);

/** The kubelet dials until its timeout: a refused connection is a timeout too. */
function failureText({ code, message }: RpcError, { address, timeout, connected }: { address: string; timeout: string; connected: boolean }): string {
  if (!connected) return `timeout: failed to connect service ${JSON.stringify(address)} within ${timeout}: context deadline exceeded`;
  if (code === 'Unimplemented') return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`;
  if (code === 'DeadlineExceeded') return `timeout: health rpc did not complete within ${timeout}`;
  return `error: health rpc probe failed: rpc error: code = ${code} desc = ${message}`;
}
