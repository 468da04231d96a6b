/** Sessions: exec, attach and port forwarding, between an agent and a program. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { World } from '../../../../world/world.ts';
import type { AttachOptions, ExecOptions, RuntimeFailure, TerminalSize } from '../../../runtime.ts';
import { execInit } from '../init/container-init.ts';
import { failureText } from '../init/execute.ts';
import { initSpec } from '../init/init-spec.ts';
import type { InitLauncher, ProcessStreams } from '../init/launcher.ts';
import { exitCodeOf, frame, frameReader, frames, type SessionAnswer, type SessionEnd } from '../protocol.ts';
import type { ShimContainer } from './container.ts';
import type { ShimPod } from './pod.ts';
import { followInit, type InitEnd } from './init-process.ts';
import { descendantsOf, launch, marking, signal, signalNumber } from './processes.ts';
import { feed } from './feed.ts';
import { terminalSize } from './terminal-size.ts';

export interface SessionContext {
  readonly world: World;
  readonly inits: InitLauncher;
  readonly pod: ShimPod;
  readonly mark: string;
}

/** Output that is buffered for an attached client that does not read, before its connection is closed. */
const mostWaiting = 4 * 1024 * 1024;

/** Delivers first what the client sent before the answer. */
export type Incoming = (onChunk: (chunk: Buffer) => void) => void;

export function refuse(socket: Socket, error: RuntimeFailure): void {
  socket.end(`${JSON.stringify({ ok: false, error } satisfies SessionAnswer)}\n`);
}

const accept = (socket: Socket, answer: { readonly stdin: boolean; readonly tty: boolean }): boolean =>
  socket.write(`${JSON.stringify({ ok: true, ...answer } satisfies SessionAnswer)}\n`);

const exitFrame = (code: number): Buffer => frame(frames.exit, Buffer.from(JSON.stringify({ code } satisfies SessionEnd)));

/** With the messages of containerd and runc. */
const notStartedFrame = (why: string): Buffer => {
  const message = `failed to exec in container: failed to start exec "${randomBytes(32).toString('hex')}": OCI runtime exec failed: exec failed: unable to start container process: ${why}`;
  return frame(frames.exit, Buffer.from(JSON.stringify({ message } satisfies SessionEnd)));
};

/** A program beside the container's own. */
export function serveExec(
  { socket, incoming }: SessionConnection,
  container: ShimContainer,
  { context, options }: { readonly context: SessionContext; readonly options: ExecOptions },
): void {
  const { spec, groups, process } = container;
  if (process === undefined) return refuse(socket, notRunning(container));
  const init = initSpec({ ...spec, tty: options.tty }, options.command, groups);
  const launched = context.inits.launch(execInit(init), {
    stdio: [options.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    owner: init.identity.uid,
    handed: [process],
    variables: marking(context.mark),
  });
  accept(socket, { stdin: options.stdin, tty: options.tty });
  pipe(socket, incoming, { child: launched.child, world: context.world, tty: options.tty });
  const endFrame = ({ failure, exitCode }: InitEnd) => (failure === undefined ? exitFrame(exitCode) : notStartedFrame(failureText(failure, init)));
  followInit(launched, { waitsItself: false, onEnd: (end) => socket.end(endFrame(end)) });
}

/** A connection to a port of the pod's loopback. */
export function serveConnect({ socket, incoming }: SessionConnection, port: number, context: SessionContext): void {
  const { pause } = context.pod;
  if (pause === undefined) return refuse(socket, { reason: 'not-found', message: 'the pod does not run' });
  // The program reports that it is connected, and ends with the connection.
  const dial = `const s=require('net').connect(${Math.trunc(port)},'localhost',()=>{process.stderr.write('c');process.stdin.pipe(s);s.pipe(process.stdout)});s.on('error',()=>{}).on('close',()=>process.stdin.destroy())`;
  const enter = context.pod.hasNetwork ? ['nsenter', '-t', String(pause), '-n', '--'] : [];
  const child = launch([...enter, process.execPath, '-e', dial], { stdio: ['pipe', 'pipe', 'pipe'], mark: context.mark });
  const fail = (): void => refuse(socket, { reason: 'failed', message: refusedInside(context.pod.uid, port) });
  const streams = streamsOf(child);
  const abandon = (): void => endSession(streams);
  child.once('close', fail).once('error', fail);
  socket.once('close', abandon);
  child.stderr?.once('data', () => {
    child.off('close', fail).off('error', fail);
    socket.off('close', abandon);
    accept(socket, { stdin: true, tty: false });
    child.on('close', (code, name) => socket.end(exitFrame(exitCodeOf(code, signalNumber(name)))));
    pipe(socket, incoming, { child: streams, world: context.world, tty: false });
  });
}

/** With containerd's message. */
const refusedInside = (uid: string, port: number): string =>
  `failed to connect to localhost:${port} inside namespace ${JSON.stringify(uid)}, IPv4: dial tcp4 127.0.0.1:${port}: connect: connection refused`;

interface SessionConnection {
  readonly socket: Socket;
  readonly incoming: Incoming;
}

function pipe(
  socket: Socket,
  incoming: Incoming,
  { child, world, tty }: { readonly child: ProcessStreams; readonly world: World; readonly tty: boolean },
): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    const source = child[stream];
    source?.on('data', (chunk: Buffer) => {
      // Back-pressure: unread output stays in the program's pipe.
      if (!socket.write(frame(frames[stream], chunk))) {
        source.pause();
        socket.once('drain', () => source.resume());
      }
    });
  }
  child.stdin?.on('error', () => undefined);
  socket.on('close', () => endSession(child));
  const size = tty ? terminalSize(world, () => child.pid) : undefined;
  socket.on('close', () => size?.close());
  incoming(
    reader(socket, (kind, bytes) => {
      if (kind === frames.stdin) feed(socket, child.stdin, bytes);
      else if (kind === frames.stdinEnd) child.stdin?.end();
      else if (kind === frames.resize) size?.set(sizeOf(bytes));
    }),
  );
}

/** The standard streams of the container's own program. */
export function serveAttach(
  { socket, incoming }: SessionConnection,
  container: ShimContainer,
  { context, options }: { readonly context: SessionContext; readonly options: AttachOptions },
): void {
  if (container.pid === undefined) return refuse(socket, notRunning(container));
  const { spec } = container;
  accept(socket, { stdin: options.stdin && (spec.stdin || spec.tty), tty: spec.tty });
  const silence = container.listen((stream, chunk) => {
    if (!options[stream] && !(spec.tty && options.stdout)) return;
    socket.write(frame(frames[stream], chunk));
    if (socket.writableLength > mostWaiting) socket.destroy();
  });
  void container.ended.then(() => {
    const { state } = container.run;
    socket.end(exitFrame(state.type === 'exited' ? state.exitCode : 0));
  });
  const size = spec.tty ? terminalSize(context.world, () => container.pid) : undefined;
  socket.on('close', () => {
    silence();
    size?.close();
    if (options.stdin && spec.stdinOnce) container.stdin?.end();
  });
  incoming(
    reader(socket, (kind, bytes) => {
      if (kind === frames.stdin && options.stdin) feed(socket, container.stdin, bytes);
      else if (kind === frames.stdinEnd && options.stdin && spec.stdinOnce) container.stdin?.end();
      else if (kind === frames.resize) size?.set(sizeOf(bytes));
    }),
  );
}

const notRunning = ({ spec }: ShimContainer): RuntimeFailure => ({ reason: 'not-found', message: `container ${spec.name} does not run` });

/** Closes the connection of a client that does not send frames. */
function reader(socket: Socket, onFrame: (kind: number, bytes: Buffer) => void): (chunk: Buffer) => void {
  const read = frameReader(onFrame);
  return (chunk) => {
    try {
      read(chunk);
    } catch {
      socket.destroy();
    }
  };
}

function sizeOf(bytes: Buffer): TerminalSize {
  const { width, height } = JSON.parse(bytes.toString()) as TerminalSize;
  return { width: Math.trunc(width) || 80, height: Math.trunc(height) || 24 };
}

/** The process id of a program that has ended may be reused. */
function endSession(child: ProcessStreams): void {
  if (!child.hasEnded) killAll(child.pid);
}

const streamsOf = (child: ChildProcess): ProcessStreams => ({
  pid: child.pid,
  stdin: child.stdin ?? undefined,
  stdout: child.stdout ?? undefined,
  stderr: child.stderr ?? undefined,
  get hasEnded() {
    return child.exitCode !== null || child.signalCode !== null;
  },
});

/** A session's program and its descendants: nsenter(1) waits outside for the program inside. */
function killAll(pid: number | undefined): void {
  if (pid === undefined) return;
  for (const each of descendantsOf(pid).toReversed()) signal(each, 'SIGKILL');
}
