import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { decideStaticPod } from './decide.ts';
import { staticPod } from './manifest.ts';

const context = { path: '/m/web.yaml', node: 'n1', sha256: (text: string) => `${text.length}`.padEnd(64, '0') };
const manifest = (more = ''): Uint8Array =>
  Buffer.from(`apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  labels: {app: web}\nspec:\n  containers: []\n${more}`);
const node = { metadata: { name: 'n1', uid: 'u1' } } as Stored<Node>;
const wanted = staticPod(manifest(), context);
const mirror = (over: { readonly annotations?: object; readonly deletionTimestamp?: string; readonly nodeName?: string } = {}): Stored<Pod> => {
  const { annotations = wanted.pod.metadata.annotations, deletionTimestamp, nodeName = 'n1' } = over;
  return { metadata: { name: 'web-n1', namespace: 'default', uid: 'p', annotations, deletionTimestamp }, spec: { nodeName } } as unknown as Stored<Pod>;
};

describe('a manifest', () => {
  test('is a pod of its node, which no taint evicts', () => {
    expect(wanted.key).toBe('default/web-n1');
    expect(wanted.pod).toMatchObject({
      metadata: { name: 'web-n1', namespace: 'default', labels: { app: 'web' } },
      spec: { nodeName: 'n1', tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] },
    });
    expect(wanted.pod.metadata.annotations).toEqual({
      'kubernetes.io/config.hash': wanted.hash,
      'kubernetes.io/config.mirror': wanted.hash,
      'kubernetes.io/config.source': 'file',
    });
  });

  test('with another content is another pod', () => {
    expect(staticPod(manifest('  hostNetwork: true\n'), context).hash).not.toBe(wanted.hash);
  });

  test.each([
    ['', 'it is no Pod of v1, but undefined of undefined'],
    ['apiVersion: apps/v1\nkind: Deployment', 'it is no Pod of v1, but Deployment of apps/v1'],
    ['apiVersion: v1\nkind: Pod\nspec: {}', 'metadata.name: a static pod needs a name'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: a}', 'spec: a static pod needs one'],
    ['a: [', /^yaml: line 1/],
  ])('that is none says why: %j', (text, problem) => {
    expect(() => staticPod(Buffer.from(text), context)).toThrow(problem);
  });
});

describe('its mirror pod', () => {
  const actions = (snapshot: Partial<Parameters<typeof decideStaticPod>[0]>) =>
    decideStaticPod({ node, wanted: undefined, found: undefined, ...snapshot }).actions.map((action) => action.do);

  test('is created, and goes with the node', () => {
    const [action] = decideStaticPod({ node, wanted, found: undefined }).actions;
    expect(action).toMatchObject({
      do: 'create-mirror-pod',
      pod: { metadata: { ownerReferences: [{ kind: 'Node', name: 'n1', uid: 'u1', controller: true }] } },
    });
    expect(actions({ wanted, found: mirror() })).toEqual([]);
  });

  test('is deleted when its manifest has changed or is gone, once', () => {
    const other = staticPod(manifest('  hostNetwork: true\n'), context);
    expect(actions({ wanted: other, found: mirror() })).toEqual(['delete-mirror-pod']);
    expect(actions({ found: mirror() })).toEqual(['delete-mirror-pod']);
    expect(actions({ found: mirror({ deletionTimestamp: '2026-01-01T00:00:00Z' }) })).toEqual([]);
    expect(actions({})).toEqual([]);
  });

  test('is neither a pod of another node nor one that only has its name', () => {
    expect(actions({ found: mirror({ nodeName: 'n2' }) })).toEqual([]);
    expect(actions({ wanted, found: mirror({ annotations: {} }) })).toEqual([]);
  });
});
