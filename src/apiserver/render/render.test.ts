import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { statusErrors } from '../../api/status.ts';
import type { Stored } from '../../api/stored.ts';
import type { ObjectRevision } from '../api.ts';
import type { Rendition } from './accept.ts';
import { renderResponse } from './response.ts';
import type { WholeResponse } from './whole-response.ts';
import { renderStatus } from './status.ts';
import { includeObjectOf } from './table.ts';
import { resourceRendition } from './targets.ts';
import { warningHeaders } from './warnings.ts';

const widgets = {
  group: 'example.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  columns: [
    { name: 'Name', type: 'string', format: 'name', priority: 0, cell: (object: KubeObject) => object.metadata.name ?? '' },
    { name: 'Size', type: 'integer', format: '', priority: 1, cell: (object: KubeObject) => (object as unknown as { size: number }).size },
    { name: 'Age', type: 'string', format: '', priority: 0, cell: (_object: KubeObject, now: number) => `${now / 1000}s` },
  ],
  rowConditions: (object: KubeObject) => (object.metadata.name === 'done' ? [{ type: 'Completed', status: 'True', reason: 'Succeeded' }] : []),
} as unknown as Kind;

function widget(name: string, size = 1): ObjectRevision {
  const object = { kind: 'Widget', apiVersion: 'example.dev/v1', metadata: { resourceVersion: '7', name, labels: { a: 'ü' } }, size } as unknown as Stored;
  return { object, revision: 7, json: () => Buffer.from(JSON.stringify(object)) };
}

const list = (items: readonly ObjectRevision[], metadata = { resourceVersion: '9' }): WholeResponse => ({
  type: 'list',
  kind: widgets,
  items,
  metadata,
  warnings: [],
});
const one: WholeResponse = { type: 'object', code: 201, kind: widgets, stored: widget('a'), warnings: [] };

async function text(
  response: WholeResponse,
  accept = 'application/json',
  changes: Partial<Rendition> & { includeObject?: 'None' | 'Metadata' | 'Object' } = {},
): Promise<string> {
  const { includeObject = 'Metadata', ...rendition } = changes;
  const rendered = await renderResponse(response, { rendition: { ...resourceRendition(accept, false), ...rendition }, includeObject, now: 5000 });
  const { body } = rendered;
  const bytes = body.type === 'whole' ? Buffer.from(body.bytes) : Buffer.concat([...body.pieces]);
  if (body.type === 'pieces') expect(bytes.length).toBe(body.length);
  return bytes.toString();
}

describe('objects and lists', () => {
  test('an object is its own bytes and a newline', async () => {
    expect(await text(one)).toBe('{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"resourceVersion":"7","name":"a","labels":{"a":"ü"}},"size":1}\n');
  });

  test('the items of a list do not repeat kind and apiVersion', async () => {
    expect(await text(list([widget('a'), widget('b')]))).toBe(
      '{"kind":"WidgetList","apiVersion":"example.dev/v1","metadata":{"resourceVersion":"9"},"items":[' +
        '{"metadata":{"resourceVersion":"7","name":"a","labels":{"a":"ü"}},"size":1},' +
        '{"metadata":{"resourceVersion":"7","name":"b","labels":{"a":"ü"}},"size":1}]}\n',
    );
  });

  test('an item that begins differently is shown as it is', async () => {
    const odd: ObjectRevision = { ...widget('a'), json: () => Buffer.from('{"apiVersion":"example.dev/v1","kind":"Widget"}') };
    expect(await text(list([odd]))).toContain('"items":[{"apiVersion":"example.dev/v1","kind":"Widget"}]');
  });

  test('an empty list has an empty list', async () => {
    expect(await text(list([]))).toBe('{"kind":"WidgetList","apiVersion":"example.dev/v1","metadata":{"resourceVersion":"9"},"items":[]}\n');
  });

  test('a page says how to go on', async () => {
    const page = await text(list([], { resourceVersion: '9', continue: 'abc', remainingItemCount: 3 } as { resourceVersion: string }));
    expect(page).toContain('"metadata":{"resourceVersion":"9","continue":"abc","remainingItemCount":3}');
  });

  test('the same list again is the same bytes, put together once for all who ask again', async () => {
    const items = Array.from({ length: 300 }, (_, i) => widget(`w${i}`));
    let printed = 0;
    const counted = items.map((item) => ({ ...item, json: () => (printed++, item.json()) }));
    const first = await text(list(counted));
    for (let again = 0; again < 5; again++) expect(await text(list(counted))).toBe(first);
    expect(printed).toBe(600);
    expect(await text(list(counted, { resourceVersion: '10' }))).toContain('"metadata":{"resourceVersion":"10"}');
  });

  test.each([1, 999, 5000])('%d items of any size come out whole', async (count) => {
    const items = Array.from({ length: count }, (_, i) => ({
      ...widget(`w${i}`),
      json: () => Buffer.from(`{"kind":"Widget","apiVersion":"example.dev/v1","n":${i},"x":"${'x'.repeat((i * 7919) % 3000)}"}`),
    }));
    const parsed = JSON.parse(await text(list(items))) as { items: { n: number }[] };
    expect(parsed.items.map(({ n }) => n)).toEqual(Array.from({ length: count }, (_, i) => i));
  });

  test('an item larger than a piece is no problem', async () => {
    const items = [
      widget('a'),
      { ...widget('b'), json: () => Buffer.from(`{"kind":"Widget","apiVersion":"example.dev/v1","x":"${'x'.repeat(2_000_000)}"}`) },
      widget('c'),
    ];
    expect((JSON.parse(await text(list(items))) as { items: unknown[] }).items).toHaveLength(3);
  });

  test('people get indentation or YAML', async () => {
    expect(await text(one, 'application/json', { pretty: true })).toContain('\n  "kind": "Widget",\n');
    expect(parse(await text(one, 'application/yaml'))).toEqual(one.type === 'object' ? one.stored.object : undefined);
    expect((await text(list([widget('a')]), 'application/yaml')).startsWith('apiVersion: example.dev/v1\nitems:\n')).toBe(true);
  });
});

describe('tables', () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';

  test('a list', async () => {
    expect(JSON.parse(await text(list([widget('a', 3), widget('done')]), accept))).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      columnDefinitions: [
        { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
        { name: 'Size', type: 'integer', format: '', description: '', priority: 1 },
        { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
      ],
      rows: [
        {
          cells: ['a', 3, '5s'],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7', name: 'a', labels: { a: 'ü' } } },
        },
        {
          cells: ['done', 1, '5s'],
          conditions: [{ type: 'Completed', status: 'True', reason: 'Succeeded' }],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7', name: 'done', labels: { a: 'ü' } } },
        },
      ],
    });
  });

  test('an object, as one row, with as much of it as wanted', async () => {
    expect(JSON.parse(await text(one, accept, { includeObject: 'None' }))).toMatchObject({ metadata: { resourceVersion: '7' }, rows: [{ object: null }] });
    expect(JSON.parse(await text(one, accept, { includeObject: 'Object' }))).toMatchObject({ rows: [{ object: { kind: 'Widget', size: 1 } }] });
    expect(JSON.parse(await text(one, accept.replace('v1;', 'v1beta1;')))).toMatchObject({ apiVersion: 'meta.k8s.io/v1beta1' });
  });

  test('something without columns shows its name', async () => {
    const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', metadata: { name: 'web' } };
    expect(JSON.parse(await text({ type: 'plain', code: 200, object: review, warnings: [] }, accept))).toMatchObject({ rows: [{ cells: ['web', null] }] });
  });

  test('a Scale shows how many there are to be, and are', async () => {
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'web' }, spec: { replicas: 3 }, status: { replicas: 2 } };
    const table: unknown = JSON.parse(await text({ type: 'plain', code: 200, object: scale, warnings: [] }, accept));
    const columnDefinitions = [{ name: 'Name' }, { name: 'Desired', type: 'integer' }, { name: 'Available', type: 'integer' }, { name: 'Age' }];
    expect(table).toMatchObject({ columnDefinitions, rows: [{ cells: ['web', 3, 2, '<unknown>'] }] });
  });

  test('a Status stays a Status', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 200 } as const;
    expect(JSON.parse(await text({ type: 'status', status, warnings: [] }, accept))).toEqual(status);
  });

  test('includeObject is one of three words', () => {
    expect(includeObjectOf(new URLSearchParams())).toBe('Metadata');
    expect(() => includeObjectOf(new URLSearchParams('includeObject=All'))).toThrow(
      `Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`,
    );
  });
});

describe('metadata alone', () => {
  test('of an object and of a list', async () => {
    expect(JSON.parse(await text(one, 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'))).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '7', name: 'a', labels: { a: 'ü' } },
    });
    expect(JSON.parse(await text(list([widget('a')]), 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'))).toMatchObject({
      kind: 'PartialObjectMetadataList',
      metadata: { resourceVersion: '9' },
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } }],
    });
  });

  test('an object is no list, and a list no object', async () => {
    await expect(text(one, 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')).rejects.toMatchObject({ code: 406 });
    await expect(text(list([]), 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1')).rejects.toMatchObject({ code: 406 });
  });
});

describe('failures', () => {
  const status = statusErrors.badRequest('no').toStatus();
  const written = async (accept: string | undefined, pretty = false): Promise<[string, string]> => {
    const { contentType, body } = await renderStatus(status, accept, pretty);
    return [contentType, body.type === 'whole' ? Buffer.from(body.bytes).toString() : ''];
  };

  test('are written as the client wants, and otherwise in JSON', async () => {
    expect(await written('application/json')).toEqual(['application/json', `${JSON.stringify(status)}\n`]);
    const [contentType, yaml] = await written('application/yaml');
    expect([contentType, parse(yaml)]).toEqual(['application/yaml', status]);
    for (const accept of ['text/html', 'application/json;as=Table;v=v1;g=meta.k8s.io']) {
      expect(await written(accept)).toEqual(['application/json', JSON.stringify(status, undefined, 2)]);
    }
  });
});

describe('warnings', () => {
  test('are quoted, each once, without what cannot be in a header', () => {
    expect(warningHeaders(['a "b" \\c', 'a "b" \\c', '', 'line\nbreak', 'x'])).toEqual(['299 - "a \\"b\\" \\\\c"', '299 - "x"']);
  });

  test('go out as UTF-8', () => {
    expect(Buffer.from(warningHeaders(['ü'])[0] ?? '', 'latin1').toString()).toBe('299 - "ü"');
  });

  test('too many are cut, then dropped', () => {
    const long = Array.from({ length: 40 }, (_, i) => `${i} ${'x'.repeat(400)}`);
    const headers = warningHeaders(long);
    expect(headers).toHaveLength(16);
    expect(headers[0]).toHaveLength(256 + '299 - ""'.length);
  });
});
