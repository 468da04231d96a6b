import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../json.ts';
import { DecodeError, decode } from './decode.ts';
import golden from './golden.json' with { type: 'json' };
import { randomObject, seededRandom } from './random-object.ts';
import { typeNameOf } from './type-schema.ts';

interface Golden {
  readonly name: string;
  readonly input: string;
  readonly error?: string;
  readonly strict?: readonly string[];
  readonly stored?: string;
}

function decodeText(input: string): { stored: string; strict: readonly string[] } | { error: string } {
  const value = readJson(input, { exactNumbers: true }).value as { apiVersion: string; kind: string };
  try {
    const { object, strictErrors } = decode(typeNameOf(value.apiVersion, value.kind) ?? '', value);
    return { stored: JSON.stringify(object), strict: strictErrors };
  } catch (error) {
    if (error instanceof DecodeError) return { error: error.message };
    throw error;
  }
}

/** golden.json holds what Kubernetes v1.36's own decoder made of each input, once stored and read again. */
describe('decodes as Kubernetes does', () => {
  it.each(golden as Golden[])('$name', ({ input, error, strict, stored }) => {
    // Kubernetes' servers make an empty list where Go's decoder has none.
    const expected = error === undefined ? { stored: stored?.replace(/"items":null/, '"items":[]'), strict: strict ?? [] } : { error };
    expect(decodeText(input)).toEqual(expected);
  });
});

describe('laws', () => {
  const kinds = ['Pod', 'PersistentVolume', 'PersistentVolumeClaim', 'Node', 'StatefulSet', 'CronJob', 'EventsEvent', 'CertificateSigningRequest'];

  it('what was decoded decodes to itself', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.nat(), (type, seed) => {
        const first = decode(type, randomObject(type, seededRandom(seed)));
        const second = decode(type, first.object);
        expect(JSON.stringify(second.object)).toBe(JSON.stringify(first.object));
        expect(second.strictErrors).toEqual([]);
      }),
    );
  });

  it('the input stays as it is, and shares nothing with the result', () => {
    const input = { metadata: { labels: { a: 'b' } }, data: { k: 'v' } };
    const before = JSON.stringify(input);
    const { object } = decode<typeof input>('ConfigMap', input);
    object.metadata.labels.a = 'changed';
    object.data.k = 'changed';
    expect(JSON.stringify(input)).toBe(before);
  });

  it('any JSON at all is decoded or refused, nothing else', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.jsonValue(), (type, spec) => {
        try {
          decode(type, { spec, metadata: spec, status: spec });
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      }),
    );
  });
});

describe('unknown fields', () => {
  it('are counted up to a hundred', () => {
    const object = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`field${i}`, i]));
    const { strictErrors } = decode('Pod', object);
    expect(strictErrors).toHaveLength(100);
    expect(strictErrors[99]).toBe('unknown field "field99"');
  });

  it('cannot change a prototype', () => {
    const { object, strictErrors } = decode<{ data: Record<string, string> }>('ConfigMap', JSON.parse('{"__proto__":{"x":1},"data":{"__proto__":"p"}}'));
    expect(strictErrors).toEqual(['unknown field "__proto__"']);
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(object.data)).toBe(Object.prototype);
    expect(JSON.stringify(object.data)).toBe('{"__proto__":"p"}');
  });
});
