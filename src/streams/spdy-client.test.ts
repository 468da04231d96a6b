import { type Duplex, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/generated/types.ts';
import { duplexPair } from './duplex-pair.ts';
import type { AttachOptions, PortForwarder, Session } from './contract.ts';
import { forwardPorts } from './port-forward.ts';
import { overSpdy, readStatus, SpdyChannels } from './remote-command.ts';
import { remotePortForwarder, remoteSession } from './spdy-client.ts';
import { SpdySession } from './spdy.ts';

const noHead = Buffer.alloc(0);
const all: AttachOptions = { stdin: true, stdout: true, stderr: true, tty: false };
const never = { after: () => () => undefined, soon: () => undefined };

/** A node at the far end, on which this program runs. */
function sessionWith(program: Session, options = all): { readonly session: Session; readonly far: Duplex } {
  const [near, far] = duplexPair();
  const channels = new SpdyChannels(options, never);
  const spdy = new SpdySession(far, noHead, (stream) => channels.add(stream));
  void channels.all.then((streams) => streams !== undefined && overSpdy(spdy, streams, program));
  return { session: remoteSession({ socket: near, head: noHead }, options), far };
}

/** Says what it is told, in capitals, until that ends; then it exits. */
function loud(exitCode: number): Session & { readonly sizes: object[] } {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const sizes: object[] = [];
  const done = text(stdin).then((told) => {
    stdout.end(told.toUpperCase());
    stderr.end('done');
    return exitCode;
  });
  return { stdin, stdout, stderr, done, sizes, resize: (size) => void sizes.push(size), close: () => undefined };
}

describe('a session on a node', () => {
  test.each([[0], [7]])('carries all streams, the end of standard input, and the exit code %d', async (exitCode) => {
    const { session } = sessionWith(loud(exitCode));
    session.stdin?.write('hello ');
    session.stdin?.end('node');
    const [out, err] = [session.stdout, session.stderr].map((stream) => text(stream ?? new PassThrough().end()));
    expect([await out, await err, await session.done]).toEqual(['HELLO NODE', 'done', exitCode]);
  });

  test('with a terminal has one output, and tells its size', async () => {
    const options = { ...all, stderr: false, tty: true };
    const program = loud(0);
    const { session } = sessionWith(program, options);
    expect(session.stderr).toBeUndefined();
    session.resize({ width: 80, height: 24 });
    await expect.poll(() => program.sizes).toEqual([{ width: 80, height: 24 }]);
    session.stdin?.end();
    session.stdout?.resume();
    expect(await session.done).toBe(0);
  });

  test('that breaks off is not taken for one that ended well', async () => {
    const { session, far } = sessionWith(loud(0));
    session.stdin?.write('x');
    far.destroy();
    expect(await session.done).toEqual({ message: 'error reading from error stream: unexpected EOF' });
  });
});

test.each([
  ['', 0],
  ['{"metadata":{},"status":"Success"}', 0],
  ['{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}', 3],
  ['{"status":"Failure","message":"it broke"}', { message: 'it broke' }],
  ['{"status":"Failure","reason":"NonZeroExitCode","message":"odd"}', { message: 'odd' }],
  ['{"status":"Failure","reason":"InternalError","message":"Internal error occurred: error executing"}', { message: 'error executing' }],
  ['not JSON', { message: 'not JSON' }],
  ['7', { message: '7' }],
])('the last word %j means %j', (said, expected) => expect(readStatus(said)).toEqual(expected));

describe('ports of a pod on a node', () => {
  const pod: Pod = { metadata: { name: 'web' }, spec: {}, status: {} } as Pod;

  function portsOf(ports: PortForwarder): PortForwarder {
    const [near, far] = duplexPair();
    forwardPorts({ socket: far, head: noHead }, pod, ports);
    return remotePortForwarder({ socket: near, head: noHead });
  }

  async function connected(ports: PortForwarder, port: number): Promise<Duplex> {
    const opened = await ports.connect(port);
    if (!opened.ok) throw new Error(opened.message);
    return opened.value;
  }

  test('several connections at once, each ended by either side', async () => {
    const echo: PortForwarder = { connect: () => Promise.resolve({ ok: true, value: new PassThrough() }), close: () => undefined };
    const ports = portsOf(echo);
    const [one, two] = [await connected(ports, 80), await connected(ports, 80)];
    one.end('first');
    two.end('second');
    expect(await Promise.all([text(one), text(two)])).toEqual(['first', 'second']);
  });

  test('one without a listener ends with the message of the kubelet', async () => {
    const refusing: PortForwarder = { connect: () => Promise.resolve({ ok: false, code: 500, message: 'connection refused' }), close: () => undefined };
    const connection = await connected(portsOf(refusing), 81);
    connection.resume();
    await expect(new Promise((_, reject) => void connection.on('error', reject))).rejects.toThrow(
      'error forwarding port 81 to pod web, uid : connection refused',
    );
  });
});
