import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';

/** A request for another protocol, with its connection. */
export interface UpgradedConnection {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came right behind the request. */
  readonly head: Buffer;
}

export interface WebSocketEvents {
  onMessage(message: Buffer): void;
  /** Once, however it ended. */
  onClose(): void;
}

/** The first of the client's subprotocols that the server speaks, or '' if it offers none; undefined: none of them, or the request is no valid handshake. */
export function negotiateProtocol(header: (name: string) => string | undefined, supported: readonly string[]): string | undefined {
  if (!/^[+/\dA-Za-z]{22}==$/.test(header('sec-websocket-key') ?? '') || header('sec-websocket-version') !== '13') return undefined;
  const offered = (header('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  return offered.find((name) => supported.includes(name));
}

/** ws refuses what is sound here: a subprotocol that is no token (kubectl's 'SPDY/3.1+portforward.k8s.io'), and other methods than GET. */
function withoutProtocols(request: IncomingMessage): IncomingMessage {
  const { 'sec-websocket-protocol': _, ...headers } = request.headers;
  return Object.create(request, { headers: { value: headers }, method: { value: 'GET' } }) as IncomingMessage;
}

/** Clients send standard input in messages of some tens of KiB. */
const maxMessageBytes = 4 * 1024 * 1024;
/** For the client to answer a close frame; then the connection is cut. */
const closeTimeoutMs = 5_000;

/** The server's side of a WebSocket: whole messages in; out, binary ones for bytes and texts for strings. Nothing is read before `start`. */
export class WebSocketConnection {
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;

  private constructor(webSocket: WebSocket, socket: Duplex) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    // A 'close' with the code of the error follows.
    webSocket.on('error', () => undefined);
    webSocket.pause();
  }

  /** Grants a WebSocket whose subprotocol was negotiated. Undefined: the client has left. */
  static accept({ request, socket, head }: UpgradedConnection, protocol: string): WebSocketConnection | undefined {
    const options = { noServer: true, clientTracking: false, maxPayload: maxMessageBytes, closeTimeout: closeTimeoutMs };
    const server = new WebSocketServer(options);
    if (protocol !== '') server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
    let accepted: WebSocketConnection | undefined;
    server.handleUpgrade(withoutProtocols(request), socket, head, (webSocket) => {
      accepted = new WebSocketConnection(webSocket, socket);
    });
    return accepted;
  }

  start(events: WebSocketEvents): void {
    if (this.#webSocket.readyState === WebSocket.CLOSED) return events.onClose();
    this.#webSocket.on('message', (data: RawData) => events.onMessage(data as Buffer)).on('close', () => events.onClose());
    this.#webSocket.resume();
  }

  /** False: wait for `onceDrained` before you send more. */
  send(message: Uint8Array | string): boolean {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return false;
    this.#webSocket.send(message, { binary: typeof message !== 'string' });
    return !this.#socket.writableNeedDrain;
  }

  onceDrained(callback: () => void): void {
    if (!this.#socket.destroyed) this.#socket.once('drain', callback);
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  close(): void {
    // The client's own close frame must be read for the connection to end.
    this.#webSocket.resume();
    this.#webSocket.close(1000);
  }
}
