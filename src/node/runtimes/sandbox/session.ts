import type { Socket } from 'node:net';
import { Duplex, PassThrough, Writable } from 'node:stream';
import type { SessionFailure } from '../../../streams/contract.ts';
import type { Session } from '../../runtime.ts';
import { frame, frameReader, frames, type SessionEnd } from './protocol.ts';

interface SessionOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** A session over a connection to the shim. */
export function sessionOver(socket: Socket, options: SessionOptions): Session {
  const output = { stdout: new PassThrough(), stderr: new PassThrough() };
  let settle = (_end: number | SessionFailure): void => undefined;
  const done = new Promise<number | SessionFailure>((resolve) => {
    settle = resolve;
  });
  const give = (stream: 'stdout' | 'stderr', bytes: Buffer): void => {
    if (!options[stream] || output[stream].write(bytes)) return;
    socket.pause();
    // Further frames of the same chunk come although it is paused.
    if (output[stream].listenerCount('drain') === 0) output[stream].once('drain', () => socket.resume());
  };
  const read = frameReader((kind, bytes) => {
    if (kind === frames.stdout) give('stdout', bytes);
    else if (kind === frames.stderr) give('stderr', bytes);
    else if (kind === frames.exit) settle(endOf(JSON.parse(bytes.toString()) as SessionEnd));
  });
  socket.on('data', read);
  socket.on('close', () => {
    output.stdout.end();
    output.stderr.end();
    // The connection broke: the program's end is unknown.
    settle(killedExitCode);
  });
  socket.resume();
  return {
    stdin: options.stdin ? stdinOf(socket) : undefined,
    stdout: options.stdout ? output.stdout : undefined,
    stderr: options.stderr ? output.stderr : undefined,
    resize: (size) => void socket.write(frame(frames.resize, Buffer.from(JSON.stringify(size)))),
    done,
    close: () => socket.destroy(),
  };
}

/** As the kubelet reports it. */
const endOf = (end: SessionEnd): number | SessionFailure => ('code' in end ? end.code : { message: `error executing command in container: ${end.message}` });

/** Of SIGKILL. */
const killedExitCode = 137;

const stdinOf = (socket: Socket): Writable =>
  new Writable({
    write: (chunk: Buffer, _encoding, callback) => {
      if (socket.destroyed) callback();
      else if (socket.write(frame(frames.stdin, chunk))) callback();
      else waitForDrain(socket, callback);
    },
    final: (callback) => {
      if (!socket.destroyed) socket.write(frame(frames.stdinEnd, Buffer.alloc(0)));
      callback();
    },
  });

function waitForDrain(socket: Socket, callback: () => void): void {
  const go = (): void => {
    socket.off('drain', go).off('close', go);
    callback();
  };
  socket.on('drain', go).on('close', go);
}

/** Standard input and output of a session as one stream. */
export function duplexOf(session: Session): Duplex {
  const { stdin, stdout } = session;
  if (stdin === undefined || stdout === undefined) throw new Error('a session without streams');
  const duplex = Duplex.from({ writable: stdin, readable: stdout });
  duplex.on('close', () => session.close());
  return duplex;
}
