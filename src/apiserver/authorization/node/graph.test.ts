import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openMemoryStore } from '../../../store/memory/memory-store.ts';
import { put, remove } from '../../../store/contract.ts';
import type { PersistentVolume, Pod } from '../../../api/generated/types.ts';
import { populateGraph } from './graph-populator.ts';
import { NodeGraph, type GraphVertex } from './graph.ts';

const pod = (
  name: string,
  nodeName: string,
  { secrets = [], claims = [] }: { readonly secrets?: readonly string[]; readonly claims?: readonly string[] },
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name },
  spec: {
    containers: [],
    nodeName,
    volumes: [
      ...secrets.map((secretName) => ({ name: `s-${secretName}`, secret: { secretName } })),
      ...claims.map((claimName) => ({ name: `c-${claimName}`, persistentVolumeClaim: { claimName } })),
    ],
  },
  status: {},
});

const volume = (name: string, claim: string | undefined, secret: string | undefined): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    ...(claim === undefined ? {} : { claimRef: { namespace: 'ns', name: claim } }),
    csi: { driver: 'd', volumeHandle: name, ...(secret === undefined ? {} : { nodePublishSecretRef: { namespace: 'ns', name: secret } }) },
  },
  status: {},
});

const names = ['a', 'b', 'c'];
const some = fc.subarray(names);
const step = fc.oneof(
  fc.record({ type: fc.constant('pod' as const), name: fc.constantFrom(...names), node: fc.constantFrom('n1', 'n2'), secrets: some, claims: some }),
  fc.record({ type: fc.constant('no pod' as const), name: fc.constantFrom(...names) }),
  fc.record({
    type: fc.constant('volume' as const),
    name: fc.constantFrom(...names),
    claim: fc.option(fc.constantFrom(...names), { nil: undefined }),
    secret: fc.option(fc.constantFrom(...names), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('no volume' as const), name: fc.constantFrom(...names) }),
);

const everything: readonly GraphVertex[] = names.flatMap((name) => [
  { kind: 'pods', namespace: 'ns', name },
  { kind: 'secrets', namespace: 'ns', name },
  { kind: 'persistentvolumeclaims', namespace: 'ns', name },
  { kind: 'persistentvolumes', namespace: '', name },
]);

const answers = (graph: NodeGraph): readonly boolean[] => ['n1', 'n2'].flatMap((node) => everything.map((object) => graph.hasPathTo(node, object)));

describe('graph', () => {
  test('are the same, however it came to what there is', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const graph = new NodeGraph();
        const [pods, volumes] = [new Map<string, Pod>(), new Map<string, PersistentVolume>()];
        for (const one of steps) {
          if (one.type === 'pod') pods.set(one.name, pod(one.name, one.node, one));
          if (one.type === 'no pod') pods.delete(one.name);
          if (one.type === 'volume') volumes.set(one.name, volume(one.name, one.claim, one.secret));
          if (one.type === 'no volume') volumes.delete(one.name);
          const [put, bound] = [pods.get(one.name), volumes.get(one.name)];
          if (one.type === 'pod' && put !== undefined) graph.putPod(put);
          else if (one.type === 'no pod') graph.removePod('ns', one.name);
          else if (one.type === 'volume' && bound !== undefined) graph.putVolume(bound);
          else if (one.type === 'no volume') graph.removeVolume(one.name);
        }
        const fresh = new NodeGraph();
        for (const one of volumes.values()) fresh.putVolume(one);
        for (const one of pods.values()) fresh.putPod(one);
        expect(answers(graph)).toEqual(answers(fresh));
      }),
    );
  });
});

describe('graph of a store', () => {
  const bytes = (object: object): Uint8Array => Buffer.from(JSON.stringify(object));
  const timers = { soon: (task: () => void) => queueMicrotask(task), after: () => () => undefined };
  const related = async (followed: ReturnType<typeof populateGraph>, object: GraphVertex) => (await followed.current()).hasPathTo('n1', object);

  test('are read with the first query, and kept up from then on', async () => {
    const store = openMemoryStore();
    const write = (...writes: Parameters<typeof put>[]) => store.transact({ compares: [], writes: writes.map((one) => put(...one)) });
    const secret: GraphVertex = { kind: 'secrets', namespace: 'ns', name: 's' };
    await write(
      ['/registry/pods/ns/web', bytes(pod('web', 'n1', { secrets: ['s'] }))],
      ['/registry/pods/ns/waits', bytes(pod('waits', '', { secrets: ['w'] }))],
    );
    const followed = populateGraph(store, { timers });
    expect(store.stats().watchers).toBe(0);
    expect(await related(followed, secret)).toBe(true);
    expect(await related(followed, { ...secret, name: 'w' })).toBe(false);
    await write(['/registry/pods/ns/waits', bytes(pod('waits', 'n1', { secrets: ['w'] }))]);
    expect(await related(followed, { ...secret, name: 'w' })).toBe(true);
    await store.transact({ compares: [], writes: [remove('/registry/pods/ns/web')] });
    expect(await related(followed, secret)).toBe(false);
    await write(['/registry/pods/ns/web', bytes(pod('web', 'n2', { secrets: ['s'] }))]);
    expect(await related(followed, secret)).toBe(false);

    await write(['/registry/storage.k8s.io/volumeattachments/att', bytes({ metadata: { name: 'att' }, spec: { nodeName: 'n1' } })]);
    expect(await related(followed, { kind: 'volumeattachments', namespace: '', name: 'att' })).toBe(true);
    await store.transact({ compares: [], writes: [remove('/registry/storage.k8s.io/volumeattachments/att')] });
    expect(await related(followed, { kind: 'volumeattachments', namespace: '', name: 'att' })).toBe(false);
    followed.stop();
    expect(store.stats().watchers).toBe(0);
  });

  test('ephemeral containers bring references of their own', async () => {
    const store = openMemoryStore();
    const web = pod('web', 'n1', {});
    await store.transact({ compares: [], writes: [put('/registry/pods/ns/web', bytes(web))] });
    const followed = populateGraph(store, { timers });
    const map: GraphVertex = { kind: 'configmaps', namespace: 'ns', name: 'debugging' };
    expect(await related(followed, map)).toBe(false);
    const ephemeralContainers = [{ name: 'd', envFrom: [{ configMapRef: { name: 'debugging' } }] }];
    await store.transact({ compares: [], writes: [put('/registry/pods/ns/web', bytes({ ...web, spec: { ...web.spec, ephemeralContainers } }))] });
    expect(await related(followed, map)).toBe(true);
    followed.stop();
  });

  test('thousands are read in pages, and volumes lead to secrets', async () => {
    const store = openMemoryStore();
    const pods = Array.from({ length: 1_201 }, (_, i) => put(`/registry/pods/ns/p${i}`, bytes(pod(`p${i}`, 'n1', { claims: [`c${i}`] }))));
    await store.transact({ compares: [], writes: pods });
    const bound = volume('v', 'c1200', 's');
    await store.transact({ compares: [], writes: [put('/registry/persistentvolumes/v', bytes(bound))] });
    const followed = populateGraph(store, { timers });
    expect(await related(followed, { kind: 'secrets', namespace: 'ns', name: 's' })).toBe(true);
    await store.transact({ compares: [], writes: [put('/registry/persistentvolumes/v', bytes({ ...bound, spec: { csi: bound.spec.csi } }))] });
    expect(await related(followed, { kind: 'secrets', namespace: 'ns', name: 's' })).toBe(false);
    followed.stop();
  });
});
