/** Sessions and forwarded ports for clients that ask for another protocol than HTTP: a WebSocket, or SPDY. */
import type { Duplex } from 'node:stream';
import type { Pod } from '../api/generated/types.ts';
import { ApiError, statusErrors } from '../api/status.ts';
import type { Timers } from '../world/world.ts';
import { type AttachOptions, NodeUnreachable, type PortForwarder, type StreamRefusal, type Session, type StreamResult } from './contract.ts';
import { forwardPorts, portForwardProtocol, tunnel, tunnelProtocol } from './port-forward.ts';
import { closingProtocol, openingFrame, overSpdy, overWebSocket, SpdyChannels, spdyProtocol, sendFailure, webSocketProtocols } from './remote-command.ts';
import { SpdySession } from './spdy.ts';
import { handshake, WebSocketConnection } from './websocket.ts';

export interface UpgradeRequest {
  header(name: string): string | undefined;
  /** Every value by itself of the headers whose names, in lower case, begin so. */
  headersWithPrefix(prefix: string): readonly (readonly [name: string, value: string])[];
  /** Undefined: it asks for no other protocol. */
  readonly upgrade?: Upgrade | undefined;
}

/** Grants it, with these lines as the answer's headers. `head`: what came right behind the request. */
type Upgrade = (headers: readonly string[]) => { readonly socket: Duplex; readonly head: Buffer };

/** The node refused before any other protocol was granted: answered in its own words, as text. */
export class StreamRefused extends Error {
  readonly code: number;
  constructor({ code, message }: StreamRefusal) {
    super(message);
    this.code = code;
  }
}

export interface SessionService {
  readonly options: AttachOptions;
  readonly timers: Timers;
  readonly open: () => Promise<StreamResult<Session>>;
}

/** Resolves once the streams flow. @throws ApiError, StreamRefused, NodeUnreachable */
export async function serveSession(request: UpgradeRequest, { options, timers, open }: SessionService): Promise<void> {
  const { upgrade } = request;
  if (upgrade === undefined) throw statusErrors.badRequest('Upgrade request required');
  if (request.header('upgrade')?.toLowerCase() === 'websocket') {
    const agreed = handshake((name) => request.header(name), webSocketProtocols);
    if (agreed === undefined) throw statusErrors.badRequest(`unable to upgrade: this server speaks ${webSocketProtocols.join(', ')}`);
    if (agreed.protocol === closingProtocol) return openAfterUpgrade(upgrade(agreed.headers), options, open);
    const session = unwrapResult(await open());
    connectSession(upgrade(agreed.headers), options, session);
    return;
  }
  const protocol = agreedSpdy(request, spdyProtocol);
  const session = unwrapResult(await open());
  const { socket, head } = upgrade([...spdyHeaders, `X-Stream-Protocol-Version: ${protocol}`]);
  const channels = new SpdyChannels(options, timers);
  const spdy = new SpdySession(socket, head, (stream) => channels.add(stream));
  socket.on('close', () => session.close());
  void channels.all.then((streams) => (streams === undefined ? socket.destroy() : overSpdy(spdy, streams, session)));
}

/** The WebSocket is granted first, and what goes wrong then is told on it (v1.36.4: apiserver/pkg/util/proxy/streamtranslator.go). */
async function openAfterUpgrade(line: ReturnType<Upgrade>, options: AttachOptions, open: SessionService['open']): Promise<void> {
  const { socket } = line;
  socket.on('error', () => socket.destroy());
  const session = await open().then(
    (opened) => (opened.ok ? opened.value : statusErrors.internal(`unable to upgrade connection: ${opened.message}`)),
    (error: unknown) => failureOf(error),
  );
  if (!(session instanceof ApiError)) return connectSession(line, options, session);
  return sendFailure(new WebSocketConnection(socket, line.head, { onMessage: () => undefined, onClose: () => undefined }), session);
}

function failureOf(error: unknown): ApiError {
  if (error instanceof NodeUnreachable) return statusErrors.internal(`error sending request: Post ${JSON.stringify(error.url)}: ${error.message}`);
  return error instanceof ApiError ? error : statusErrors.internal(String(error));
}

function connectSession({ socket, head }: ReturnType<Upgrade>, options: AttachOptions, session: Session): void {
  if (socket.destroyed) return session.close();
  const events = overWebSocket(() => connection, session);
  const connection: WebSocketConnection = new WebSocketConnection(socket, Buffer.alloc(0), events);
  connection.send(openingFrame(options));
  if (head.length > 0) socket.unshift(head);
}

/** Resolves once ports can be asked for. @throws ApiError, StreamRefused, NodeUnreachable */
export async function servePortForward(request: UpgradeRequest, pod: Pod, open: () => Promise<StreamResult<PortForwarder>>): Promise<void> {
  const { upgrade } = request;
  if (upgrade === undefined) throw statusErrors.badRequest('Upgrade request required');
  if (request.header('upgrade')?.toLowerCase() !== 'websocket') {
    const protocol = agreedSpdy(request, portForwardProtocol);
    const ports = unwrapResult(await open());
    return forwardPorts(upgrade([...spdyHeaders, `X-Stream-Protocol-Version: ${protocol}`]), pod, ports);
  }
  const agreed = handshake((name) => request.header(name), [tunnelProtocol]);
  if (agreed === undefined) throw statusErrors.badRequest(`unable to upgrade: this server speaks ${tunnelProtocol}`);
  const ports = unwrapResult(await open());
  const { socket, head } = upgrade(agreed.headers);
  const { stream, events } = tunnel(() => connection);
  const connection: WebSocketConnection = new WebSocketConnection(socket, Buffer.alloc(0), events);
  if (head.length > 0) socket.unshift(head);
  return forwardPorts({ socket: stream, head: Buffer.alloc(0) }, pod, ports);
}

const spdyHeaders = ['Upgrade: SPDY/3.1', 'Connection: Upgrade'];

/** @throws ApiError if the client does not speak it */
function agreedSpdy(request: UpgradeRequest, protocol: string): string {
  const offered = request.headersWithPrefix('x-stream-protocol-version').flatMap(([, value]) => value.split(',').map((each) => each.trim()));
  if (request.header('upgrade')?.toLowerCase() === 'spdy/3.1' && offered.includes(protocol)) return protocol;
  const message = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${protocol}]`;
  throw new ApiError(403, 'Forbidden', message);
}

function unwrapResult<T>(streamed: StreamResult<T>): T {
  if (streamed.ok) return streamed.value;
  throw new StreamRefused(streamed);
}
