import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import golden from '../schema/golden.json' with { type: 'json' };
import { decode } from '../schema/index.ts';
import { randomObject, seededRandom } from '../schema/random-object.ts';
import { typeNameOf } from '../schema/type-schema.ts';
import { decodeMessage, decodeProtobuf, encodeMessage, encodeProtobuf, encodeProtobufList, encodeWatchFrame, ProtobufError } from './index.ts';

interface Golden {
  readonly name: string;
  readonly stored?: string;
  readonly protobuf?: string;
}
interface Typed {
  readonly apiVersion: string;
  readonly kind: string;
}

const goldens = (golden as Golden[]).filter((entry): entry is Required<Golden> => entry.protobuf !== undefined && entry.stored !== undefined);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** golden.json holds the bytes that Kubernetes' own serializer writes for each object. */
describe('the bytes are those of Kubernetes', () => {
  it.each(goldens)('$name', ({ stored, protobuf }) => {
    expect(base64(encodeProtobuf(JSON.parse(stored) as Typed))).toBe(protobuf);
  });
});

describe('what Kubernetes writes is read', () => {
  it.each(goldens)('$name', ({ stored, protobuf }) => {
    const value = decodeProtobuf(Buffer.from(protobuf, 'base64')) as Record<string, unknown> & Typed;
    const { object } = decode(typeNameOf(value.apiVersion, value.kind) ?? '', value);
    expect(JSON.stringify(object)).toBe(stored.replace('"items":null', '"items":[]'));
  });
});

describe('laws', () => {
  const kinds: [string, string][] = [
    ['v1', 'Pod'],
    ['v1', 'Node'],
    ['v1', 'PersistentVolume'],
    ['apps/v1', 'StatefulSet'],
    ['batch/v1', 'CronJob'],
    ['events.k8s.io/v1', 'Event'],
    ['authorization.k8s.io/v1', 'SubjectAccessReview'],
    ['meta.k8s.io/v1', 'PartialObjectMetadata'],
  ];

  it('decoding what was encoded gives the object again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.nat(), ([apiVersion, kind], seed) => {
        const type = typeNameOf(apiVersion, kind) ?? '';
        const { object } = decode<Typed>(type, { ...randomObject(type, seededRandom(seed)), apiVersion, kind });
        const again = decode(type, decodeProtobuf(encodeProtobuf(object)));
        expect(JSON.stringify(again.object)).toBe(JSON.stringify(object));
      }),
    );
  });

  it('any bytes at all are read or refused, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeMessage('Pod', bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
    );
  });

  it('damaged messages are read or refused, nothing else', () => {
    const whole = encodeProtobuf(JSON.parse(goldens[40]?.stored ?? '{}') as Typed);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, end) => {
        const damaged = Uint8Array.from(whole);
        damaged[at] = byte;
        try {
          decodeProtobuf(damaged.subarray(0, end));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
    );
  });
});

describe('numbers', () => {
  it.each([0, 1, -1, 127, 128, 300, 2 ** 31 - 1, 2 ** 31, 2 ** 40 + 5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -(2 ** 31)])('%d', (seconds) => {
    const message = encodeMessage('ObjectMeta', { deletionGracePeriodSeconds: seconds });
    expect(decodeMessage('ObjectMeta', message)['deletionGracePeriodSeconds']).toBe(seconds);
  });
});

describe('frames', () => {
  const item = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } };

  it('a list of encoded items is the encoded list of the items', () => {
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
    expect(base64(encodeProtobufList(list, [encodeMessage('ConfigMap', item), encodeMessage('ConfigMap', item)]))).toBe(
      base64(encodeProtobuf({ ...list, items: [item, item] } as Typed)),
    );
  });

  it('a watch event is its length, then the event with the object inside', () => {
    const object = encodeProtobuf(item);
    const frame = encodeWatchFrame('ADDED', object);
    expect(Buffer.from(frame).readUInt32BE(0)).toBe(frame.length - 4);
    expect(text(frame.subarray(4, 11))).toBe('\n\u0005ADDED');
    // object = 2: a RawExtension whose raw = 1 is the object, magic and all.
    expect(text(frame)).toContain(`\n${String.fromCharCode(object.length)}k8s\0`);
    expect(base64(frame.subarray(-object.length))).toBe(base64(object));
  });
});

describe('envelopes', () => {
  it.each([
    [[], 'empty data'],
    [[0x6b, 0x38, 0x73], 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    [[0x6b, 0x38, 0x73, 0], 'empty body'],
    [[0x6b, 0x38, 0x73, 0, 0x0a, 0x7f], 'unexpected EOF'],
    [[0x6b, 0x38, 0x73, 0, 0x0f], 'proto: illegal wireType 7'],
  ])('%o: %s', (bytes, message) => {
    expect(() => decodeProtobuf(Uint8Array.from(bytes))).toThrow(message);
  });

  it('a kind that the schema lacks is named and nothing more', () => {
    const bytes = encodeProtobuf({ kind: 'Pod', apiVersion: 'v1' });
    const renamed = Buffer.from(text(bytes).replace('Pod', 'Nod'), 'latin1');
    expect(decodeProtobuf(renamed)).toEqual({ kind: 'Nod', apiVersion: 'v1' });
  });
});

it('a list of schemas as items is read and written', () => {
  const schema = { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false };
  expect(decodeMessage('JSONSchemaProps', encodeMessage('JSONSchemaProps', schema))).toEqual(schema);
});
