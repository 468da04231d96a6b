import { describe, expect, test } from 'vitest';
import { allKinds } from '../../src/api/kinds/index.ts';
import { apiVersionOf, type Kind } from '../../src/api/kind.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { decodeProtobuf } from '../../src/api/protobuf/index.ts';
import { decode } from '../../src/api/schema/index.ts';
import type { Stored } from '../../src/api/stored.ts';
import type { ObjectRevision, WatchEvent } from '../../src/apiserver/api.ts';
import { renderResponse } from '../../src/apiserver/render/response.ts';
import { resourceRendition } from '../../src/apiserver/render/targets.ts';
import { frameEncoder } from '../../src/apiserver/render/watch-frames.ts';

/** An object of a kind that says nothing: what a bookmark shows, and the least that a printer must bear. */
function empty(kind: Kind): ObjectRevision {
  const object = {
    ...decode<KubeObject>(kind.type, {}).object,
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } },
  };
  return { object: object as unknown as Stored, revision: 7, json: () => Buffer.from(JSON.stringify(object)) };
}

const forms = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
];

describe.each(allKinds.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind] as const))('%s', (_name, kind) => {
  test('even an empty one can be shown in every form', async () => {
    for (const accept of forms) {
      const options = { rendition: resourceRendition(accept, false), includeObject: 'None', now: 0 } as const;
      const { body } = await renderResponse({ type: 'object', code: 200, kind, stored: empty(kind), warnings: [] }, options);
      expect(body.type === 'whole' ? body.bytes.length : body.length, accept).toBeGreaterThan(0);
    }
  });

  test('and watched in every form', () => {
    const event: WatchEvent = { type: 'BOOKMARK', stored: empty(kind), memo: undefined };
    for (const accept of forms.filter((form) => !form.includes('yaml'))) {
      const encoder = frameEncoder({ kind, rendition: resourceRendition(accept, true), includeObject: 'None', now: () => 0, encoded: () => undefined });
      const frame = Buffer.from(encoder.frame(event));
      // Tables say by annotation, even if no objects are wanted, that the initial state is complete.
      expect(frame.toString('latin1'), accept).toContain('initial-events-end');
    }
  });

  test('in protobuf it is what it is in JSON', async () => {
    const rendition = resourceRendition('application/vnd.kubernetes.protobuf', false);
    const stored = empty(kind);
    const { body } = await renderResponse({ type: 'object', code: 200, kind, stored, warnings: [] }, { rendition, includeObject: 'None', now: 0 });
    const read = decodeProtobuf(body.type === 'whole' ? body.bytes : new Uint8Array());
    expect(decode(kind.type, read).object).toEqual(decode(kind.type, stored.object).object);
  });
});
