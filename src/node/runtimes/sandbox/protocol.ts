/**
 * The protocol of an agent and its container shim, over a local socket. The shim is a process that continues when the agent ends: it holds the
 * pipes of the containers and reaps them.
 *
 * A connection begins with one line of JSON. `{"open":"control"}`: lines both ways from then on, calls and answers, and the state of every pod, now and
 * whenever it changes. `{"open":"exec"…}` and its like: one line of answer, then frames both ways until the program has ended.
 */
import type { AttachOptions, ContainerLimits, ContainerSpec, ExecOptions, PodSandboxSpec, PodState, RuntimeFailure } from '../../runtime.ts';

export type ShimOpening =
  | { readonly open: 'control' }
  | ({ readonly open: 'exec'; readonly id: string } & ExecOptions)
  | ({ readonly open: 'attach'; readonly id: string } & AttachOptions)
  | { readonly open: 'connect'; readonly uid: string; readonly port: number };

export type ShimCall =
  | { readonly call: 'start-pod'; readonly spec: PodSandboxSpec }
  | { readonly call: 'limit-pod'; readonly uid: string; readonly limits: ContainerLimits }
  | { readonly call: 'stop-pod'; readonly uid: string }
  | { readonly call: 'remove-pod'; readonly uid: string }
  | { readonly call: 'start-container'; readonly spec: ContainerSpec }
  | { readonly call: 'stop-container'; readonly id: string; readonly graceMs: number }
  | { readonly call: 'limit-container'; readonly id: string; readonly limits: ContainerLimits }
  | { readonly call: 'remove-container'; readonly id: string }
  /** Removes every pod, the network and the control groups, and ends the shim. The answer is its process id. */
  | { readonly call: 'shut-down' };

export type ShimRequest = { readonly number: number } & ShimCall;

export type ShimMessage =
  | { readonly tell: 'answer'; readonly number: number; readonly value: unknown }
  | { readonly tell: 'failure'; readonly number: number; readonly error: RuntimeFailure }
  | { readonly tell: 'pod'; readonly pod: PodState }
  | { readonly tell: 'gone'; readonly uid: string }
  /** Every pod that existed when the connection began has been sent. */
  | { readonly tell: 'all' };

/** Before the frames of a session. */
export type SessionAnswer = { readonly ok: true; readonly stdin: boolean; readonly tty: boolean } | { readonly ok: false; readonly error: RuntimeFailure };

/** The content of an `exit` frame: the program's exit code, or why it could not be started. */
export type SessionEnd = { readonly code: number } | { readonly message: string };

/** Kinds of frames: a byte, four bytes of length, that many bytes. */
export const frames = { stdin: 0, stdout: 1, stderr: 2, exit: 3, resize: 4, stdinEnd: 5 } as const;

/** Of a line or frame, in bytes. */
const longest = 16 * 1024 * 1024;

/** Calls back with every line, without its end. @throws if one does not end */
export function lineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest: Buffer[] = [];
  let held = 0;
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)]).toString();
      [rest, held, from] = [[], 0, end + 1];
      onLine(line);
    }
    if (from >= chunk.length) return;
    rest.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held > longest) throw new Error('a line that does not end');
  };
}

export function frame(kind: number, bytes: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(5 + bytes.length);
  framed.writeUInt8(kind, 0);
  framed.writeUInt32BE(bytes.length, 1);
  framed.set(bytes, 5);
  return framed;
}

/** Calls back with every whole frame. @throws if one is too long */
export function frameReader(onFrame: (kind: number, bytes: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5) {
      const length = rest.readUInt32BE(1);
      if (length > longest) throw new Error('a frame that is too long');
      if (rest.length < 5 + length) return;
      const bytes = rest.subarray(5, 5 + length);
      const kind = rest.readUInt8(0);
      rest = rest.subarray(5 + length);
      onFrame(kind, bytes);
    }
  };
}

/** Node's exit code and signal of a process, as one number. */
export const exitCodeOf = (code: number | null, signal: number): number => code ?? 128 + signal;
