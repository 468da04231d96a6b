import fc from 'fast-check';

/** HTTP/2 as bytes: frames that fit together and frames that do not. */

const frameTypes = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, push: 5, ping: 6, goAway: 7, window: 8, continuation: 9 } as const;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
  /** What the frame says its length is; undefined: what it is. */
  readonly length?: number | undefined;
}

function encodeFrame({ type, flags, stream, payload, length = payload.length }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A header as HPACK has it without tables and without Huffman. */
function literal([name, value]: readonly [string, string]): Buffer {
  const text = (part: string): Buffer => Buffer.concat([length(part.length), Buffer.from(part, 'latin1')]);
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** An integer with a prefix of seven bits. */
function length(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

const pseudo = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'a'],
  [':path', '/api/v1/namespaces/default/configmaps'],
] as const;
const oddHeaders: readonly (readonly [string, string])[] = [
  [':method', 'POST'],
  [':method', ''],
  [':path', ''],
  [':path', '*'],
  [':path', '/api/v1/namespaces/%00/configmaps'],
  [':path', '/api/v1/configmaps?watch=1&resourceVersion=x'],
  [':status', '200'],
  [':nonsense', 'x'],
  ['connection', 'close'],
  ['transfer-encoding', 'chunked'],
  ['te', 'gzip'],
  ['UPPER', 'x'],
  ['content-length', '7'],
  ['content-length', 'x'],
  ['host', 'b'],
  ['x', 'a\r\nb: c'],
  ['x\0', 'y'],
  ['', 'x'],
  ['cookie', 'x'.repeat(5_000)],
  ['accept', ';;'],
  ['content-type', 'application/vnd.kubernetes.protobuf'],
  ['impersonate-user', 'joe'],
  ['impersonate-extra-__proto__', 'x'],
  ['authorization', 'Bearer \xff'],
  ['audit-id', '\x7f'],
  ['mooring-fence', 'x'],
];

const headerBlock = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...oddHeaders), { maxLength: 3 }).map((odd) => Buffer.concat([...pseudo, ...odd].map(literal))) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...pseudo, ...oddHeaders), { maxLength: 6 }).map((all) => Buffer.concat(all.map(literal))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
);

const stream = fc.constantFrom(0, 1, 3, 5, 5, 7, 7, 9, 9, 2, 2 ** 31 - 1, 2 ** 31);
const flags = fc.constantFrom(0, 1, 4, 5, 5, 5, 8, 0x20, 0x2d, 0xff);
const bytes = fc.uint8Array({ maxLength: 24 }).map((given) => Buffer.from(given));

const frame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant(frameTypes.headers), flags: fc.constantFrom(5, 5, 5, 4, 1, 0x25), stream, payload: headerBlock }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant(frameTypes.data), flags, stream, payload: bytes }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant(frameTypes.continuation), flags, stream, payload: headerBlock }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant(frameTypes.settings),
      flags,
      stream: fc.constantFrom(0, 0, 1),
      payload: fc.oneof(bytes, fc.constant(Buffer.alloc(6))),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant(frameTypes.window),
      flags: fc.constant(0),
      stream,
      payload: fc.constantFrom(Buffer.alloc(4), Buffer.from([0x7f, 255, 255, 255]), Buffer.from([0, 0, 0, 1])),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant(frameTypes.ping), flags, stream: fc.constantFrom(0, 1), payload: fc.oneof(fc.constant(Buffer.alloc(8)), bytes) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant(frameTypes.reset), flags, stream, payload: fc.oneof(fc.constant(Buffer.alloc(4)), bytes) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.nat({ max: 255 }), flags, stream, payload: bytes, length: fc.constantFrom(undefined, undefined, 0, 5, 20_000, 0xffffff) }),
  },
);

const ask = (id: number): Buffer => encodeFrame({ type: frameTypes.headers, flags: 5, stream: id, payload: Buffer.concat(pseudo.map(literal)) });

/** What goes over one connection: most begin as they should. */
export const frameConversation: fc.Arbitrary<Buffer> = fc
  .record({
    begins: fc.oneof(
      { weight: 9, arbitrary: fc.constant(preface) },
      { weight: 1, arbitrary: fc.constantFrom(preface.subarray(0, 20), Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n')) },
    ),
    asks: fc.nat({ max: 2 }),
    frames: fc.array(frame, { maxLength: 6 }),
  })
  .map(({ begins, asks, frames }) =>
    Buffer.concat([
      begins,
      encodeFrame({ type: frameTypes.settings, flags: 0, stream: 0, payload: Buffer.alloc(0) }),
      ...[1, 3].slice(0, asks).map(ask),
      ...frames.map(encodeFrame),
    ]),
  );

/** The types of the frames that bytes consist of; undefined: they are no frames. What is cut off at the end does not count. */
export function frameTypesIn(received: Buffer): readonly number[] | undefined {
  const types: number[] = [];
  for (let at = 0; at + 9 <= received.length; ) {
    const size = received.readUIntBE(at, 3);
    const type = received[at + 3] ?? 255;
    if (type > 12 || size > 16_384) return undefined;
    types.push(type);
    at += 9 + size;
  }
  return types;
}
