/** How a program's streams travel: as channels of a WebSocket (channel-protocol.ts), or as streams of SPDY (v4.channel.k8s.io). */
import type { Readable } from 'node:stream';
import { type ApiError, type Status, statusErrors } from '../api/status.ts';
import type { Cancel, Timers } from '../world/world.ts';
import type { AttachOptions, Session, SessionFailure } from './contract.ts';
import { type ChannelProtocol, channels } from './channel-protocol.ts';
import type { SpdySession, SpdyStream } from './spdy.ts';
import type { WebSocketConnection } from './websocket.ts';

export const spdyProtocol = 'v4.channel.k8s.io';

/** The result of the program: the last message. */
function statusOf(exitCode: number | SessionFailure): string {
  if (typeof exitCode !== 'number') return failureOf(statusErrors.internal(exitCode.message));
  if (exitCode === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  const message = `command terminated with non-zero exit code: exit status ${exitCode}`;
  const details = { causes: [{ reason: 'ExitCode', message: String(exitCode) }] };
  return JSON.stringify({ metadata: {}, status: 'Failure', message, reason: 'NonZeroExitCode', details });
}

/** A Status on a channel has no kind and apiVersion. */
function failureOf(error: ApiError): string {
  const { kind: _, apiVersion: __, ...status } = error.toStatus();
  return JSON.stringify(status);
}

/** Reports on the error channel of an accepted WebSocket that there will be no session. */
export function sendFailure(connection: WebSocketConnection, error: ApiError): void {
  connection.send(Buffer.concat([Buffer.from([channels.error]), Buffer.from(failureOf(error))]));
  connection.close();
}

/** A kubelet's message on the error stream: the exit code, or the failure. */
export function readStatus(text: string): number | SessionFailure {
  if (text === '') return 0;
  const status = parsed(text);
  if (status?.status === 'Success') return 0;
  const code = Number(status?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message);
  if (status?.reason === 'NonZeroExitCode' && Number.isInteger(code)) return code;
  // The API server adds the prefix again.
  return { message: (status?.message ?? text).replace(/^Internal error occurred: /, '') };
}

function parsed(text: string): Partial<Status> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Before v4 there is no Status: of a failure its message, of success nothing. */
function resultText(exitCode: number | SessionFailure, hasStatus: boolean): string {
  if (hasStatus) return statusOf(exitCode);
  if (typeof exitCode !== 'number') return exitCode.message;
  return exitCode === 0 ? '' : `command terminated with non-zero exit code: exit status ${exitCode}`;
}

/** Connects a program's streams to a WebSocket. */
export function overWebSocket(connection: WebSocketConnection, session: Session, protocol: ChannelProtocol): void {
  const send = (channel: number, bytes: Buffer): boolean => connection.send(protocol.encode(channel, bytes));
  const forward = (stream: Readable | undefined, channel: number): Promise<void> =>
    forwarded(stream, (chunk, resume) => {
      if (send(channel, chunk)) resume();
      else connection.onceDrained(resume);
    });
  const outputs = Promise.all([forward(session.stdout, channels.stdout), forward(session.stderr, channels.stderr)]);
  void Promise.all([session.done, outputs]).then(([code]) => {
    const result = resultText(code, protocol.hasStatus);
    if (result !== '') send(channels.error, Buffer.from(result));
    connection.close();
  });
  connection.start({
    onMessage(message) {
      const { channel, bytes } = protocol.decode(message);
      if (channel === channels.stdin && session.stdin !== undefined && !session.stdin.writableEnded) {
        if (session.stdin.write(bytes)) return;
        connection.pause();
        session.stdin.once('drain', () => connection.resume());
      } else if (channel === channels.close && bytes[0] === channels.stdin) session.stdin?.end();
      else if (channel === channels.resize) resize(session, bytes);
    },
    onClose: () => session.close(),
  });
}

/** Clients wait for a first message before they send anything. */
export const openingChannel = ({ stdout, stderr }: AttachOptions): number => (stdout ? channels.stdout : stderr ? channels.stderr : channels.error);

function forwarded(stream: Readable | undefined, onChunk: (chunk: Buffer, resume: () => void) => void): Promise<void> {
  if (stream === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      stream.pause();
      onChunk(chunk, () => stream.resume());
    });
    stream.on('close', resolve);
    stream.on('error', () => resolve());
  });
}

function resize(session: Session, bytes: Buffer): void {
  try {
    const { Width, Height } = JSON.parse(bytes.toString()) as { Width?: unknown; Height?: unknown };
    if (typeof Width === 'number' && typeof Height === 'number') session.resize({ width: Width, height: Height });
  } catch {
    // No size: the terminal keeps the one it has.
  }
}

/** Streams that a client of SPDY opens, by what they are for; collected until all are there. */
export class SpdyChannels {
  readonly #wanted: ReadonlySet<string>;
  readonly #streams = new Map<string, SpdyStream>();
  readonly #cancel: Cancel;
  #resolveAll: (streams: ReadonlyMap<string, SpdyStream> | undefined) => void = () => undefined;
  /** Undefined: they did not come in time. */
  readonly all: Promise<ReadonlyMap<string, SpdyStream> | undefined>;

  constructor({ stdin, stdout, stderr, tty }: AttachOptions, timers: Timers) {
    const names = { error: true, stdin, stdout, stderr: stderr && !tty, resize: tty };
    this.#wanted = new Set(Object.entries(names).flatMap(([name, isWanted]) => (isWanted ? [name] : [])));
    this.all = new Promise((resolve) => {
      this.#resolveAll = resolve;
    });
    this.#cancel = timers.after(streamsTimeoutMs, () => this.#resolveAll(undefined));
  }

  add(stream: SpdyStream): void {
    this.#streams.set(stream.headers.get('streamtype') ?? '', stream);
    if (![...this.#wanted].every((name) => this.#streams.has(name))) return;
    this.#cancel();
    this.#resolveAll(this.#streams);
  }
}

const streamsTimeoutMs = 30_000;

/** A session over the streams of SPDY. */
export function overSpdy(spdy: SpdySession, streams: ReadonlyMap<string, SpdyStream>, session: Session): void {
  const error = streams.get('error');
  const stdin = streams.get('stdin');
  if (session.stdin !== undefined && stdin !== undefined) stdin.pipe(session.stdin);
  const forward = (source: Readable | undefined, name: string): Promise<void> => {
    const target = streams.get(name);
    if (source === undefined || target === undefined) return Promise.resolve();
    source.pipe(target);
    return new Promise((resolve) => void source.on('close', resolve));
  };
  streams.get('resize')?.on('data', (bytes: Buffer) => resize(session, bytes));
  error?.on('close', () => session.close());
  void Promise.all([session.done, forward(session.stdout, 'stdout'), forward(session.stderr, 'stderr')]).then(([code]) => {
    error?.end(code === 0 ? '' : statusOf(code), () => spdy.end());
  });
}
