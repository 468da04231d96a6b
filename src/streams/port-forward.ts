import { Duplex } from 'node:stream';
import type { Pod } from '../api/generated/types.ts';
import { PortRefused, type PortForwarder } from './contract.ts';
import { SpdySession, type SpdyStream } from './spdy.ts';
import type { WebSocketConnection } from './websocket.ts';

export const portForwardProtocol = 'portforward.k8s.io';
/** SPDY inside of a WebSocket. */
export const tunnelProtocol = `SPDY/3.1+${portForwardProtocol}`;

/** Connections to ports of a pod: each is a pair of streams, one for data and one for what goes wrong. */
export function forwardPorts(line: { readonly socket: Duplex; readonly head: Buffer }, pod: Pod, ports: PortForwarder): void {
  /** By the request's id: the one that came first. */
  const waiting = new Map<string, SpdyStream>();
  const session = new SpdySession(line.socket, line.head, (stream) => {
    const id = `${stream.headers.get('requestid') ?? ''} ${stream.headers.get('port') ?? ''}`;
    const other = waiting.get(id);
    if (other === undefined) {
      waiting.set(id, stream);
      stream.on('close', () => waiting.delete(id));
      return;
    }
    waiting.delete(id);
    const [error, data] = stream.headers.get('streamtype') === 'error' ? [stream, other] : [other, stream];
    void forwardOne({ error, data }, pod, ports);
  });
  line.socket.on('end', () => session.end());
  line.socket.on('close', () => ports.close());
}

async function forwardOne({ error, data }: { readonly error: SpdyStream; readonly data: SpdyStream }, pod: Pod, ports: PortForwarder): Promise<void> {
  const port = Number(data.headers.get('port'));
  const end = (message?: string): void => {
    if (error.writableEnded) return;
    error.end(message);
    data.end();
  };
  const refuse = (why: string): void => end(`error forwarding port ${port} to pod ${pod.metadata.name ?? ''}, uid : ${why}`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return refuse(`port ${data.headers.get('port') ?? ''} is not valid`);
  const connection = await ports.connect(port);
  if (!connection.ok) return refuse(connection.message);
  const far = connection.value;
  data.pipe(far).pipe(data);
  far.on('error', (failure) => (failure instanceof PortRefused ? end(failure.message) : data.destroy()));
  data.on('close', () => far.destroy());
  far.on('close', () => end());
  return undefined;
}

/** The bytes in a WebSocket's messages as one stream. */
export function tunnel(connection: WebSocketConnection): Duplex {
  const stream: Duplex = new Duplex({
    read: () => connection.resume(),
    write: (chunk: Buffer, _encoding, callback) => {
      if (connection.send(chunk)) callback();
      else connection.onceDrained(callback);
    },
    final: (callback) => {
      connection.close();
      callback();
    },
  });
  connection.start({
    onMessage: (message) => {
      if (!stream.push(message)) connection.pause();
    },
    onClose: () => stream.destroy(),
  });
  return stream;
}
