/** One stream in one direction over a WebSocket: how a browser reads a log (v1.36.4: streaming/pkg/httpstream/wsstream/stream.go). */
import type { Readable } from 'node:stream';
import { statusErrors } from '../api/status.ts';
import type { UpgradeRequest } from './upgrades.ts';
import { negotiateProtocol, WebSocketConnection } from './websocket.ts';

const base64Protocol = 'base64.binary.k8s.io';
const protocols = ['', 'binary.k8s.io', base64Protocol];

/** Sends all of it as messages, and closes the connection behind it. @throws ApiError if the client speaks none of the protocols */
export function serveReader(request: UpgradeRequest, source: Readable): void {
  const protocol = negotiateProtocol((name) => request.header(name), protocols);
  if (request.upgrade === undefined || request.header('upgrade')?.toLowerCase() !== 'websocket' || protocol === undefined) {
    source.destroy();
    throw statusErrors.badRequest(`unable to upgrade: this server speaks ${protocols.slice(1).join(', ')}`);
  }
  const connection = WebSocketConnection.accept(request.upgrade(), protocol);
  if (connection === undefined) {
    source.destroy();
    return;
  }
  connection.start({ onMessage: () => undefined, onClose: () => source.destroy() });
  source.on('data', (chunk: Buffer) => {
    if (connection.send(protocol === base64Protocol ? chunk.toString('base64') : chunk)) return;
    source.pause();
    connection.onceDrained(() => source.resume());
  });
  source.on('close', () => connection.close());
  source.on('error', () => connection.close());
}
