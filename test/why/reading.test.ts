import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { methodOf, requestPath } from '../../src/api/request-info.ts';
import { ApiError } from '../../src/api/status.ts';
import { ClusterError, ClusterUnreachable } from '../../src/why/reading/cluster-reader.ts';
import { readObjects } from '../../src/why/reading/read-objects.ts';
import { createClient } from '../../src/client/client.ts';
import type { Answer, Transport, TransportRequest } from '../../src/client/transport.ts';
import { explain } from '../../src/why/explain.ts';
import { pod, pv, pvc, storageClass } from '../storage/objects.ts';
import { attachment, bound, boundTo, disk, node, now, onNode } from './explain-objects.ts';

const plurals: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: 'persistentvolumeclaims',
  PersistentVolume: 'persistentvolumes',
  StorageClass: 'storageclasses',
  Pod: 'pods',
  Node: 'nodes',
  VolumeAttachment: 'volumeattachments',
};

/** A server that has these objects, and records its requests. */
class SmallServer implements Transport {
  readonly asked: string[] = [];
  /** The answer to every path that ends with the key. */
  readonly instead = new Map<string, Answer>();
  readonly #objects: readonly KubeObject[];

  constructor(...objects: readonly KubeObject[]) {
    this.#objects = objects;
  }

  send({ info, query }: TransportRequest): Promise<Answer> {
    const path = requestPath(info);
    const limited = new URLSearchParams(query);
    limited.delete('limit');
    this.asked.push(`${methodOf(info)} ${path}${limited.size === 0 ? '' : `?${limited.toString()}`}`);
    return Promise.resolve(this.instead.get(path.slice(path.lastIndexOf('/') + 1)) ?? this.#answer(path, query));
  }

  watch(): { close(): void } {
    throw new Error('moor why does not watch');
  }

  #answer(path: string, query: URLSearchParams): Answer {
    const [, namespace, plural = '', name] = /^\/apis?\/(?:[a-z0-9.]+\/)?v1\/(?:namespaces\/([^/]+)\/)?([a-z]+)(?:\/(.+))?$/.exec(path) ?? [];
    const wanted = query.get('fieldSelector')?.replace('metadata.name=', '') ?? name;
    const items = this.#objects.filter(
      ({ kind, metadata }) =>
        plurals[kind] === plural && (namespace === undefined || metadata.namespace === namespace) && (wanted === undefined || metadata.name === wanted),
    );
    if (name === undefined) return { type: 'list', items, metadata: { resourceVersion: '1' } };
    return items[0] === undefined ? { type: 'failed', error: new ApiError(404, 'NotFound', 'not found') } : { type: 'object', object: items[0] };
  }
}

const forbidden = (what: string): Answer => ({
  type: 'failed',
  error: new ApiError(403, 'Forbidden', `${what} is forbidden: User "jane" cannot list resource`),
});

async function read(server: SmallServer, kind: 'pvc' | 'pv' | 'pod' | 'va', name: string) {
  const target = { kind, name, ...(kind === 'pvc' || kind === 'pod' ? { namespace: 'default' } : {}) };
  const objects = await readObjects(target, { client: createClient({ transport: server }), now });
  return { objects, explained: explain(target, objects, now) };
}

const claim = pvc('data', '1Gi', { ...bound, spec: { volumeName: 'disk' }, status: { phase: 'Bound', capacity: { storage: '1Gi' } } });
const volume = pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1') }, status: { phase: 'Bound' } });

describe('only what the explanation needs is read', () => {
  test('of a bound claim: its namespace, and its volume', async () => {
    const server = new SmallServer(claim, volume, pv('other', '1Gi'));
    const { explained } = await read(server, 'pvc', 'data');
    expect(explained.code).toBe('Bound');
    expect(server.asked.sort()).toEqual([
      'GET /api/v1/namespaces/default/persistentvolumeclaims',
      'GET /api/v1/namespaces/default/pods',
      'GET /api/v1/persistentvolumes/disk',
    ]);
  });

  test('of an unbound claim with immediate binding: volumes and StorageClasses, but neither nodes nor drivers', async () => {
    const server = new SmallServer(pvc('data', '5Gi'), pv('small', '1Gi', { status: { phase: 'Available' } }), storageClass('class'));
    expect((await read(server, 'pvc', 'data')).explained.code).toBe('NoVolumeFits');
    expect(server.asked.join()).not.toMatch(/nodes|attachments|csidrivers/);
  });

  test('of a claim with an external provisioner: its CSIDriver', async () => {
    const server = new SmallServer(pvc('data', '5Gi'), storageClass('class', { provisioner: 'kubernetes.io/aws-ebs' }));
    expect((await read(server, 'pvc', 'data')).explained.code).toBe('ProvisionerAbsent');
    expect(server.asked).toContain('GET /apis/storage.k8s.io/v1/csidrivers');
  });

  test('of a running pod: nothing about nodes and attachments', async () => {
    const server = new SmallServer(claim, volume, pod('web', ['data'], onNode('n1')));
    const { explained } = await read(server, 'pod', 'web');
    expect(explained.code).toBe('Running');
    expect(server.asked.join()).not.toMatch(/nodes|attachments|storageclasses/);
  });

  test('of an attachment: the nodes of the volume, not all', async () => {
    const server = new SmallServer(claim, volume, attachment('va', 'disk', 'n1'), attachment('other', 'x', 'n2'), node('n1'), node('n2'));
    const { explained } = await read(server, 'va', 'va');
    expect(explained.code).toBe('Unused');
    expect(server.asked).toContain('GET /api/v1/nodes/n1');
    expect(server.asked.join()).not.toContain('nodes/n2');
  });

  test('nothing is ever written', async () => {
    const server = new SmallServer(pvc('data', '1Gi'), pv('small', '1Mi'), storageClass('class'), pod('web', ['data']), attachment('va', 'small', 'n1'));
    for (const [kind, name] of [
      ['pvc', 'data'],
      ['pv', 'small'],
      ['pod', 'web'],
      ['va', 'va'],
    ] as const)
      await read(server, kind, name);
    expect(server.asked.filter((line) => !line.startsWith('GET '))).toEqual([]);
    expect(server.asked.filter((line) => line.includes('events'))).toEqual([]);
  });
});

describe('what the server refuses', () => {
  test('is named, and the rest is explained', async () => {
    const waiting = storageClass('class', { volumeBindingMode: 'WaitForFirstConsumer' });
    const server = new SmallServer(pvc('data', '5Gi'), pv('small', '1Gi', { status: { phase: 'Available' } }), waiting);
    server.instead.set('nodes', forbidden('nodes'));
    server.instead.set('csinodes', forbidden('csinodes.storage.k8s.io'));
    const { explained } = await read(server, 'pvc', 'data');
    expect(explained.code).toBe('WaitForFirstConsumer');
    expect(explained.unseen).toEqual([
      { what: 'nodes', because: 'nodes is forbidden: User "jane" cannot list resource' },
      { what: 'csinodes.storage.k8s.io', because: 'csinodes.storage.k8s.io is forbidden: User "jane" cannot list resource' },
    ]);
  });

  test('a claim that may be read but not listed is explained', async () => {
    const server = new SmallServer(claim, volume);
    server.instead.set('persistentvolumeclaims', forbidden('persistentvolumeclaims'));
    expect((await read(server, 'pvc', 'data')).explained.code).toBe('Bound');
  });

  test('a target that may not be read is an error, not an absence', async () => {
    const server = new SmallServer();
    server.instead.set('disk', forbidden('persistentvolumes "disk"'));
    await expect(read(server, 'pv', 'disk')).rejects.toThrow('cannot read persistentvolumes: persistentvolumes "disk" is forbidden');
  });

  test.each([
    [
      'a user who is not authenticated',
      { type: 'failed', error: new ApiError(401, 'Unauthorized', 'Unauthorized') } satisfies Answer,
      'the cluster does not accept these credentials: Unauthorized',
    ],
    [
      'a cluster that is unreachable',
      { type: 'unreachable', error: new Error('connect ECONNREFUSED') } satisfies Answer,
      'the cluster does not answer: connect ECONNREFUSED',
    ],
  ])('%s is an error', async (_, answer, message) => {
    const server = new SmallServer(claim);
    server.instead.set('persistentvolumeclaims', answer);
    const unreachable = answer.type === 'unreachable';
    await expect(read(server, 'pvc', 'data')).rejects.toThrow(unreachable ? new ClusterUnreachable(message) : new ClusterError(message));
  });
});

describe('lists', () => {
  test('come in pages', async () => {
    const server = new SmallServer(pvc('data', '5Gi'), storageClass('class'));
    const page = (continued: string, name: string): Answer => ({
      type: 'list',
      items: [pv(name, '1Gi')],
      metadata: { resourceVersion: '1', continue: continued },
    });
    server.instead.set('persistentvolumes', page('next', 'first'));
    const first = server.send.bind(server);
    server.send = (request) => {
      if (request.query.get('continue') === 'next') return Promise.resolve(page('', 'second'));
      return first(request);
    };
    expect((await read(server, 'pvc', 'data')).objects.volumes?.map(({ metadata }) => metadata.name)).toEqual(['first', 'second']);
  });

  test('whose continue token expired are read without pages', async () => {
    const server = new SmallServer(pvc('data', '5Gi'), pv('one', '1Gi'), storageClass('class'));
    const plain = server.send.bind(server);
    server.send = (request) =>
      requestPath(request.info).endsWith('/persistentvolumes') && request.query.has('limit')
        ? Promise.resolve({ type: 'failed', error: new ApiError(410, 'Expired', 'too old') })
        : plain(request);
    expect((await read(server, 'pvc', 'data')).objects.volumes?.length).toBe(1);
  });

  test('with an object that cannot be decoded name it, and keep the others', async () => {
    const nonsense = { ...pv('odd', '1Gi'), spec: { capacity: { storage: 'much' } } } as unknown as KubeObject;
    const { objects, explained } = await read(new SmallServer(pvc('data', '5Gi'), pv('one', '1Gi'), nonsense, storageClass('class')), 'pvc', 'data');
    expect(objects.volumes?.map(({ metadata }) => metadata.name)).toEqual(['one']);
    expect(explained.unseen[0]?.what).toBe('persistentvolume odd');
  });
});

test('an absent claim is searched in other namespaces', async () => {
  const elsewhere = pvc('data', '1Gi', { metadata: { namespace: 'shop' } });
  expect((await read(new SmallServer(elsewhere), 'pvc', 'data')).explained.summary).toBe(
    'There is no pvc/data in namespace default. There is one in namespace shop.',
  );
});
