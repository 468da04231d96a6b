/** The handlers of probes and lifecycle hooks: exec, httpGet, tcpSocket, grpc, sleep. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Container, HTTPGetAction, LifecycleHandler, ProbeHandler } from '../../../api/generated/types.ts';
import type { World } from '../../../world/world.ts';
import type { Runtime, Session } from '../../runtime.ts';
import { grpcProbe } from './grpc-probe.ts';
import type { HandlerResult } from './handler-result.ts';

export type ContainerHandler = ProbeHandler & Pick<LifecycleHandler, 'sleep'>;

export interface HandlerTarget {
  readonly runtime: Runtime;
  readonly world: World;
  readonly container: Container;
  /** The handler's field in the container: 'livenessProbe', 'lifecycle.preStop'. */
  readonly field: string;
  /** Of the run. */
  readonly id: string;
  readonly ip: string;
  readonly timeoutMs: number;
}

/** Of a program's or a server's output, in bytes. */
const maxOutput = 10 * 1024;

/** Never rejects, and takes no longer than the time it is given. */
export async function runHandler(handler: ContainerHandler, target: HandlerTarget): Promise<HandlerResult> {
  const isScripted = target.runtime.scripted !== undefined;
  if (isScripted && handler.sleep === undefined) return { result: 'success', output: '' };
  if (handler.exec !== undefined) return execProbe(handler.exec.command ?? [], target);
  if (handler.httpGet !== undefined) return httpProbe(handler.httpGet, target);
  if (handler.tcpSocket !== undefined) return tcpProbe(handler.tcpSocket.host ?? target.ip, portOf(handler.tcpSocket.port, target), target);
  if (handler.grpc !== undefined) {
    const { port, service } = handler.grpc;
    return grpcProbe({ host: target.ip, port, service, timers: target.world.timers, timeoutMs: target.timeoutMs });
  }
  if (handler.sleep !== undefined) return sleepHandler(handler.sleep.seconds * 1000, target);
  return { result: 'unknown', output: 'missing probe handler' };
}

async function execProbe(command: readonly string[], { runtime, id, world, timeoutMs }: HandlerTarget): Promise<HandlerResult> {
  const opened = await runtime.exec(id, { command, stdin: false, tty: false });
  if (!opened.ok) return { result: 'unknown', output: opened.error.message };
  const session = opened.value;
  const output = collect(session);
  return inTime(world, timeoutMs, {
    work: session.done.then((end) =>
      typeof end === 'number' ? { result: end === 0 ? 'success' : 'failure', output: output() } : { result: 'unknown', output: end.message },
    ),
    late: () => {
      session.close();
      return { result: 'failure', output: `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${timeoutMs / 1000}s` };
    },
  });
}

function collect({ stdout, stderr }: Session): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      if (text.length < maxOutput) text += chunk.toString();
    });
  }
  return () => text.slice(0, maxOutput);
}

function httpProbe({ scheme = 'HTTP', host, path = '/', port, httpHeaders = [] }: HTTPGetAction, target: HandlerTarget): Promise<HandlerResult> {
  const number = portOf(port, target);
  const address = host ?? target.ip;
  const url = `${scheme.toLowerCase()}://${address}:${number}${path.startsWith('/') ? '' : '/'}${path}`;
  const headers = {
    'User-Agent': 'kube-probe/1.36',
    Accept: '*/*',
    Connection: 'close',
    ...Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value])),
  };
  const abort = new AbortController();
  const work = new Promise<HandlerResult>((resolve) => {
    const onAnswer = (answer: IncomingMessage): void => {
      const { statusCode = 0 } = answer;
      answer.resume();
      answer.on('error', () => undefined);
      resolve(
        statusCode >= 200 && statusCode < 400
          ? { result: 'success', output: '' }
          : { result: 'failure', output: `HTTP probe failed with statuscode: ${statusCode}` },
      );
    };
    const ask = scheme === 'HTTPS' ? httpsRequest : httpRequest;
    const request = ask(
      url,
      { headers, signal: abort.signal, rejectUnauthorized: false, agent: false } as Parameters<typeof httpsRequest>[1] & object,
      onAnswer,
    );
    request.on('error', (error: NodeJS.ErrnoException) => resolve({ result: 'failure', output: `Get "${url}": ${dialError(error, address, number)}` }));
    request.end();
  });
  return inTime(target.world, target.timeoutMs, {
    work,
    late: () => {
      abort.abort();
      return { result: 'failure', output: `Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)` };
    },
  });
}

function tcpProbe(host: string, port: number, { world, timeoutMs }: HandlerTarget): Promise<HandlerResult> {
  const socket = connect({ host, port });
  const work = new Promise<HandlerResult>((resolve) => {
    socket.once('connect', () => resolve({ result: 'success', output: '' }));
    socket.on('error', (error) => resolve({ result: 'failure', output: dialError(error, host, port) }));
  });
  const late = (): HandlerResult => ({ result: 'failure', output: `dial tcp ${host}:${port}: i/o timeout` });
  return inTime(world, timeoutMs, { work, late }).finally(() => socket.destroy());
}

async function sleepHandler(ms: number, { world, timeoutMs }: HandlerTarget): Promise<HandlerResult> {
  await new Promise<void>((resolve) => void world.timers.after(Math.min(ms, timeoutMs), resolve));
  return { result: 'success', output: '' };
}

/** As Go prints it. */
function dialError(error: NodeJS.ErrnoException, host: string, port: number): string {
  const messages: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'connect: connection refused',
    EHOSTUNREACH: 'connect: no route to host',
    ENETUNREACH: 'connect: network is unreachable',
    ETIMEDOUT: 'i/o timeout',
  };
  const known = Object.hasOwn(messages, error.code ?? '') ? messages[error.code ?? ''] : undefined;
  return known === undefined ? error.message : `dial tcp ${host}:${port}: ${known}`;
}

/** A number, or the name of one of the container's ports. */
function portOf(port: number | string, { container }: HandlerTarget): number {
  if (typeof port === 'number') return port;
  return container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
}

interface Work {
  readonly work: Promise<HandlerResult>;
  readonly late: () => HandlerResult;
}

function inTime(world: World, ms: number, { work, late }: Work): Promise<HandlerResult> {
  return new Promise((resolve) => {
    const cancel = world.timers.after(ms, () => resolve(late()));
    void work.then((outcome) => {
      cancel();
      resolve(outcome);
    });
  });
}
