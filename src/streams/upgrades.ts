/** Sessions and forwarded ports for clients that ask for another protocol than HTTP: a WebSocket, or SPDY. */
import type { Pod } from '../api/generated/types.ts';
import { ApiError, statusErrors } from '../api/status.ts';
import type { Timers } from '../world/world.ts';
import { type AttachOptions, NodeUnreachable, type PortForwarder, type StreamRefusal, type Session, type StreamResult } from './contract.ts';
import { forwardPorts, portForwardProtocol, tunnel, tunnelProtocol } from './port-forward.ts';
import { type ChannelProtocol, channelProtocols, closingProtocol } from './channel-protocol.ts';
import { openingChannel, overSpdy, overWebSocket, SpdyChannels, spdyProtocol, sendFailure } from './remote-command.ts';
import { SpdySession } from './spdy.ts';
import { negotiateProtocol, type UpgradedConnection, WebSocketConnection } from './websocket.ts';

export interface UpgradeRequest {
  header(name: string): string | undefined;
  /** Each value of the headers whose lower-case names have this prefix. */
  headersWithPrefix(prefix: string): readonly (readonly [name: string, value: string])[];
  /** Undefined: it asks for no other protocol. */
  readonly upgrade?: Upgrade | undefined;
}

/** Takes the connection over. The caller answers with 101. */
export type Upgrade = () => UpgradedConnection;

/** The kubelet refused before the upgrade: its message is the response, as text. */
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
    const protocol = agreedChannels(request);
    if (protocol === closingProtocol) return openAfterUpgrade(WebSocketConnection.accept(upgrade(), protocol.name), options, open);
    const session = unwrapResult(await open());
    return connectSession(WebSocketConnection.accept(upgrade(), protocol.name), { options, protocol }, session);
  }
  const protocol = agreedSpdy(request, spdyProtocol);
  const session = unwrapResult(await open());
  const { socket, head } = switchToSpdy(upgrade, protocol);
  const channels = new SpdyChannels(options, timers);
  const spdy = new SpdySession(socket, head, (stream) => channels.add(stream));
  socket.on('close', () => session.close());
  void channels.all.then((streams) => (streams === undefined ? socket.destroy() : overSpdy(spdy, streams, session)));
  return undefined;
}

/** @throws ApiError if the client speaks none of them */
function agreedChannels(request: UpgradeRequest): ChannelProtocol {
  const names = channelProtocols.map(({ name }) => name);
  const name = negotiateProtocol((header) => request.header(header), names);
  const protocol = channelProtocols.find((each) => each.name === name);
  if (protocol !== undefined) return protocol;
  throw statusErrors.badRequest(`unable to upgrade: this server speaks ${names.filter((each) => each !== '').join(', ')}`);
}

/** The WebSocket is granted first, and a failure is sent on it (v1.36.4: apiserver/pkg/util/proxy/streamtranslator.go). */
async function openAfterUpgrade(connection: WebSocketConnection | undefined, options: AttachOptions, open: SessionService['open']): Promise<void> {
  const session = await open().then(
    (opened) => (opened.ok ? opened.value : statusErrors.internal(`unable to upgrade connection: ${opened.message}`)),
    (error: unknown) => failureOf(error),
  );
  if (!(session instanceof ApiError)) return connectSession(connection, { options, protocol: closingProtocol }, session);
  return connection === undefined ? undefined : sendFailure(connection, session);
}

function failureOf(error: unknown): ApiError {
  if (error instanceof NodeUnreachable) return statusErrors.internal(`error sending request: Post ${JSON.stringify(error.url)}: ${error.message}`);
  return error instanceof ApiError ? error : statusErrors.internal(String(error));
}

function connectSession(
  connection: WebSocketConnection | undefined,
  { options, protocol }: { readonly options: AttachOptions; readonly protocol: ChannelProtocol },
  session: Session,
): void {
  if (connection === undefined) return session.close();
  connection.send(protocol.encode(openingChannel(options), Buffer.alloc(0)));
  return overWebSocket(connection, session, protocol);
}

/** Resolves once ports can be forwarded. @throws ApiError, StreamRefused, NodeUnreachable */
export async function servePortForward(request: UpgradeRequest, pod: Pod, open: () => Promise<StreamResult<PortForwarder>>): Promise<void> {
  const { upgrade } = request;
  if (upgrade === undefined) throw statusErrors.badRequest('Upgrade request required');
  if (request.header('upgrade')?.toLowerCase() !== 'websocket') {
    const protocol = agreedSpdy(request, portForwardProtocol);
    const ports = unwrapResult(await open());
    return forwardPorts(switchToSpdy(upgrade, protocol), pod, ports);
  }
  const protocol = negotiateProtocol((name) => request.header(name), [tunnelProtocol]);
  if (protocol === undefined) throw statusErrors.badRequest(`unable to upgrade: this server speaks ${tunnelProtocol}`);
  const ports = unwrapResult(await open());
  const connection = WebSocketConnection.accept(upgrade(), protocol);
  if (connection === undefined) return ports.close();
  return forwardPorts({ socket: tunnel(connection), head: Buffer.alloc(0) }, pod, ports);
}

function switchToSpdy(upgrade: Upgrade, protocol: string): UpgradedConnection {
  const connection = upgrade();
  connection.socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`);
  return connection;
}

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
