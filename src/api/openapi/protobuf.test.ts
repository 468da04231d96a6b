import { describe, expect, test } from 'vitest';
import { encodeOpenApiV2 } from './protobuf.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

describe('OpenAPI 2 in protobuf', () => {
  test('a document: numbers, names and nesting as in the proto', () => {
    const bytes = encodeOpenApiV2({
      swagger: '2.0',
      info: { title: 'T', version: 'v' },
      definitions: { D: { type: 'object', properties: { p: { type: 'string' } }, 'x-kubernetes-map-type': 'atomic' } },
    });
    expect(hex(bytes).startsWith('\x0a\x032.0\x12\x06\x0a\x01T\x12\x01v\x4a')).toBe(true);
    // Schema.type is field 22, Schema.properties 25, a vendor extension 31 with its value as YAML.
    expect(hex(bytes)).toContain('\xb2\x01\x08\x0a\x06object');
    expect(hex(bytes)).toContain('\x0a\x01p\x12\x0b\xb2\x01\x08\x0a\x06string');
    expect(hex(bytes)).toContain('\xfa\x01\x23\x0a\x15x-kubernetes-map-type\x12\x0a\x12\x08"atomic"');
  });

  test('parameters by where they are, responses by code', () => {
    const bytes = hex(
      encodeOpenApiV2({
        paths: {
          '/p': {
            get: {
              parameters: [{ in: 'query', name: 'q', type: 'string', uniqueItems: true }],
              responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/D' } } },
            },
          },
        },
      }),
    );
    expect(bytes).toContain('\x12\x05query\x22\x01q\x32\x06string\xa0\x01\x01');
    expect(bytes).toContain('\x0a\x03200');
    expect(bytes).toContain('\x0a\x0f#/definitions/D');
  });

  test('every member of a custom schema has its field', () => {
    const bytes = hex(
      encodeOpenApiV2({
        definitions: {
          D: {
            maximum: 1.5,
            exclusiveMaximum: true,
            maxLength: 300,
            pattern: 'a',
            maxItems: 2,
            additionalProperties: true,
            example: 1,
            externalDocs: { url: 'u' },
            title: 't',
          },
        },
      }),
    );
    expect(bytes).toContain('\x39\x00\x00\x00\x00\x00\x00\xf8\x3f\x40\x01\x58\xac\x02\x6a\x01a\x70\x02\xaa\x01\x02\x10\x01');
  });

  test('a member without a field is refused, not dropped', () => {
    expect(() => encodeOpenApiV2({ surprise: 1 })).toThrow('no field for surprise');
  });
});
