/** The client's side of sessions and forwarded ports, over SPDY: what an API server speaks to a node. */
import type { Duplex } from 'node:stream';
import { type AttachOptions, PortRefused, type PortForwarder, type Session, type SessionFailure } from './contract.ts';
import { readStatus } from './remote-command.ts';
import { SpdySession, type SpdyStream } from './spdy.ts';

interface UpgradedConnection {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Of an error stream. */
const maxMessageBytes = 64 * 1024;

/** A program's streams on a node. */
export function remoteSession({ socket, head }: UpgradedConnection, { stdin, stdout, stderr, tty }: AttachOptions): Session {
  const spdy = new SpdySession(socket, head, refuseStream);
  const open = (streamtype: string): SpdyStream => closedByPeer(spdy.open({ streamtype }));
  const error = open('error');
  const size = tty ? open('resize') : undefined;
  return {
    stdin: stdin ? open('stdin') : undefined,
    stdout: stdout ? open('stdout') : undefined,
    stderr: stderr && !tty ? open('stderr') : undefined,
    resize: ({ width, height }) => void size?.write(JSON.stringify({ Width: width, Height: height })),
    done: readToEnd(error).then((text): number | SessionFailure =>
      text === undefined ? { message: 'error reading from error stream: unexpected EOF' } : readStatus(text),
    ),
    close: () => socket.destroy(),
  };
}

/** Connections to ports of a pod on a node, all of them over one to the node. */
export function remotePortForwarder({ socket, head }: UpgradedConnection): PortForwarder {
  const spdy = new SpdySession(socket, head, refuseStream);
  let requests = 0;
  return {
    connect: (port) => {
      const about = { port: String(port), requestid: String(requests++) };
      const error = spdy.open({ streamtype: 'error', ...about });
      error.end();
      const data = spdy.open({ streamtype: 'data', ...about });
      void readToEnd(error).then((text) => text !== undefined && text !== '' && data.destroy(new PortRefused(text)));
      return Promise.resolve({ ok: true, value: data });
    },
    close: () => socket.destroy(),
  };
}

/** Nodes open none. */
const refuseStream = (stream: SpdyStream): void => void stream.destroy();

/** Nothing is written to a stream once the other side has ended it: only then it is closed. */
function closedByPeer(stream: SpdyStream): SpdyStream {
  stream.on('end', () => stream.end());
  return stream;
}

/** The text of a stream; undefined: it broke off. */
function readToEnd(stream: SpdyStream): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      if (text.length < maxMessageBytes) text += chunk.toString();
    });
    stream.on('end', () => resolve(text));
    stream.on('close', () => resolve(undefined));
  });
}
