import { describe, expect, test } from 'vitest';
import { negotiate, type Target } from './accept.ts';
import { resourceRendition } from './targets.ts';

const anything = (): boolean => true;
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const asTable: Target = { kind: 'Table', group: 'meta.k8s.io', version: 'v1' };

describe('which form a client gets', () => {
  test.each<[string | undefined, string]>([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['*', 'json'],
    ['application/yaml', 'yaml'],
    ['application/vnd.kubernetes.protobuf', 'protobuf'],
    ['application/vnd.kubernetes.protobuf,application/json', 'protobuf'],
    ['application/json;q=0.5, application/yaml', 'yaml'],
    ['text/html, application/yaml;q=0.9, */*;q=0.8', 'yaml'],
    ['text/html, */*;q=0.1', 'json'],
    ['application/yaml;q=nonsense, application/json;q=0.1', 'json'],
    [' application/json ; charset=utf-8 ', 'json'],
    ['nonsense, application/yaml', 'yaml'],
    ['a/b/c, application/yaml', 'yaml'],
    ['application/json;stream=watch', 'json'],
  ])('%j → %s', (accept, format) => {
    expect(negotiate(accept, anything)?.format).toBe(format);
  });

  test.each(['text/html', 'application/xml, text/plain', 'application/json;sv=v7', 'application/yaml;stream=watch', 'application/json;stream=other', 'x'])(
    '%j → none',
    (accept) => {
      expect(negotiate(accept, anything)).toBe(undefined);
    },
  );

  test('the first clause that the endpoint can meet wins', () => {
    const noTables = (_format: string, as: Target | undefined): boolean => as === undefined;
    expect(negotiate(`${table},application/json`, anything)?.as).toEqual(asTable);
    expect(negotiate(`${table},application/json`, noTables)).toEqual({ format: 'json', as: undefined, pretty: false });
    expect(negotiate(table, noTables)).toBe(undefined);
  });

  test('pretty can be asked for', () => {
    expect(negotiate('application/json;pretty=1', anything)?.pretty).toBe(true);
    expect(negotiate('application/json;pretty=true', anything)?.pretty).toBe(false);
  });
});

describe('what resources can be shown as', () => {
  test.each([
    table,
    'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
    'application/yaml;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
  ])('%s', (accept) => {
    expect(resourceRendition(accept, false).as?.kind).toMatch(/^(Table|PartialObjectMetadata(List)?)$/);
  });

  test('what kubectl asks for falls back to the object itself only if a Table cannot be had', () => {
    const kubectl = `${table},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`;
    expect(resourceRendition(kubectl, false).as).toEqual(asTable);
    expect(() => resourceRendition('application/json;as=Table;v=v1;g=meta.k8s.io', false, 'authorization.k8s.io')).toThrow(
      expect.objectContaining({ code: 406, reason: 'NotAcceptable' }) as Error,
    );
    expect(resourceRendition(kubectl, false, 'authorization.k8s.io').as).toBe(undefined);
    expect(resourceRendition('application/json;as=Table;v=v3;g=meta.k8s.io,application/json', false).as).toBe(undefined);
  });

  test.each<[string, boolean, string]>([
    [
      'application/json;as=Chair;v=v1;g=meta.k8s.io',
      false,
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    ['application/yaml', true, 'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'],
    [
      'text/html',
      false,
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ],
  ])('%s (watch: %s) is 406', (accept, watch, message) => {
    expect(() => resourceRendition(accept, watch)).toThrow(expect.objectContaining({ code: 406, reason: 'NotAcceptable', message }) as Error);
  });
});
