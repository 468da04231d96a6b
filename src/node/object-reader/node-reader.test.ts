import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { requestPath } from '../../api/request-info.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import { createClient } from '../../client/client.ts';
import { Informers } from '../../client/informers/informers.ts';
import type { Answer, StreamSink, Transport, TransportRequest } from '../../client/transport.ts';
import { type SimulatedWorld, simulate } from '../../sim/world/world.ts';
import { NodeReader } from './node-reader.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Has objects by path, and lets a node do what Kubernetes does: collections that it may not read are refused. */
class Server implements Transport {
  readonly asked: string[] = [];
  readonly refused: string[] = [];
  readonly #objects = new Map<string, KubeObject>();
  readonly #sinks = new Map<string, StreamSink>();
  #revision = 10;

  put(path: string, object: object): void {
    const before = this.#objects.has(path);
    const [name = '', , namespace] = path.split('/').reverse();
    const metadata = { name, ...(path.includes('/namespaces/') ? { namespace } : {}), uid: path, resourceVersion: String(++this.#revision) };
    const stored = { ...object, metadata } as KubeObject;
    this.#objects.set(path, stored);
    for (const [query, sink] of this.#sinks) if (isIn(query, path)) sink.events([{ type: before ? 'MODIFIED' : 'ADDED', object: stored }]);
  }

  async send({ info, query }: TransportRequest): Promise<Answer> {
    const path = requestPath(info);
    const selector = query.get('fieldSelector') ?? '';
    this.asked.push(`${path} ${selector}`.trim());
    const object = this.#objects.get(path);
    if (object !== undefined) return { type: 'object', object };
    if (isCollection(path)) {
      if (!mayList(path, selector)) return this.#refuse(path);
      const items = [...this.#objects].flatMap(([at, each]) => (isIn(`${path} ${selector}`, at) ? [each] : []));
      return { type: 'list', items, metadata: { resourceVersion: String(this.#revision) } };
    }
    return { type: 'failed', error: statusErrors.notFound(podKind, path) };
  }

  watch({ info, query }: TransportRequest, sink: StreamSink) {
    const path = requestPath(info);
    const selector = query.get('fieldSelector') ?? '';
    if (!mayList(path, selector)) this.refused.push(path);
    const name = `${path} ${selector}`;
    this.#sinks.set(name, sink);
    return { close: () => void this.#sinks.delete(name) };
  }

  get watched(): readonly string[] {
    return [...this.#sinks.keys()].sort();
  }

  #refuse(path: string): Answer {
    this.refused.push(path);
    return { type: 'failed', error: new ApiError(403, 'Forbidden', path) };
  }
}

const isCollection = (path: string): boolean => /\/(pods|secrets|configmaps|persistentvolumeclaims|persistentvolumes)$/.test(path);
const mayList = (path: string, selector: string): boolean =>
  path === '/api/v1/pods' ? selector === 'spec.nodeName=n1' : /\/namespaces\/[^/]+\/(secrets|configmaps)$/.test(path) && selector.startsWith('metadata.name=');

function isIn(query: string, path: string): boolean {
  const [collection = '', selector = ''] = query.split(' ');
  if (collection === '/api/v1/pods') return path.includes('/pods/');
  return path === `${collection}/${selector.replace('metadata.name=', '')}`;
}

const core = '/api/v1';
const here = `${core}/namespaces/default`;
const pod = (volumes: readonly object[]) => ({ spec: { nodeName: 'n1', containers: [], volumes }, status: { phase: 'Running' } });

async function following(world: SimulatedWorld, server: Server): Promise<Informers> {
  const informers = new Informers({ world, client: createClient({ transport: new NodeReader({ transport: server, node: 'n1', world, sha256 }) }) });
  informers.cache(podKind);
  informers.cache(secretKind);
  informers.cache(configMapKind);
  informers.cache(persistentVolumeClaimKind);
  informers.cache(persistentVolumeKind);
  informers.start();
  await informers.synced();
  return informers;
}

test('a pod is told of once all that it refers to is here, down to the volume of its claim', () =>
  simulate(1, async (world) => {
    const server = new Server();
    const informers = await following(world, server);
    server.put(`${here}/secrets/key`, {});
    server.put(`${here}/secrets/other`, {});
    server.put(`${core}/persistentvolumes/disk`, { spec: {} });
    server.put(`${here}/persistentvolumeclaims/data`, { spec: { volumeName: 'disk' } });
    const seen: unknown[] = [];
    informers.cache(podKind).subscribe(() => {
      seen.push(informers.cache(secretKind).getKey('default/key')?.metadata.name, informers.cache(persistentVolumeKind).getKey('disk')?.metadata.name);
    });
    server.put(
      `${here}/pods/web`,
      pod([
        { name: 'a', secret: { secretName: 'key' } },
        { name: 'b', persistentVolumeClaim: { claimName: 'data' } },
      ]),
    );
    await world.sleep(100);
    expect(seen).toEqual(['key', 'disk']);
    expect(informers.cache(secretKind).size).toBe(1);
    expect(server.refused).toEqual([]);
  }));

test('secrets are followed while a pod refers to them, and no longer', () =>
  simulate(1, async (world) => {
    const server = new Server();
    server.put(`${here}/configmaps/settings`, { data: { a: '1' } });
    server.put(`${here}/pods/web`, pod([{ name: 'a', configMap: { name: 'settings' } }]));
    const informers = await following(world, server);
    expect(informers.cache(configMapKind).getKey('default/settings')?.data).toEqual({ a: '1' });
    server.put(`${here}/configmaps/settings`, { data: { a: '2' } });
    await world.sleep(10);
    expect(informers.cache(configMapKind).getKey('default/settings')?.data).toEqual({ a: '2' });
    server.put(`${here}/pods/web`, pod([]));
    await world.sleep(10);
    expect(informers.cache(configMapKind).size).toBe(0);
    expect(server.watched).toEqual(['/api/v1/pods spec.nodeName=n1']);
  }));

test('a pod is told of with the secrets of its images, whether they exist or not', () =>
  simulate(1, async (world) => {
    const server = new Server();
    const informers = await following(world, server);
    for (const name of ['pull', 'other']) server.put(`${here}/secrets/${name}`, {});
    const seen: unknown[] = [];
    informers.cache(podKind).subscribe(() => seen.push(secrets(informers)));
    const { spec, status } = pod([]);
    server.put(`${here}/pods/web`, { spec: { ...spec, imagePullSecrets: [{ name: 'pull' }, { name: 'missing' }, {}] }, status });
    await world.sleep(100);
    expect(seen).toEqual([['pull']]);
    expect(server.refused).toEqual([]);
  }));

test('what can only be read is read every second while its pod waits', () =>
  simulate(1, async (world) => {
    const server = new Server();
    const waiting = { ...pod([{ name: 'b', persistentVolumeClaim: { claimName: 'data' } }]), status: { phase: 'Pending' } };
    server.put(`${here}/pods/web`, waiting);
    const informers = await following(world, server);
    expect(informers.cache(persistentVolumeClaimKind).size).toBe(0);
    server.put(`${core}/persistentvolumes/disk`, { spec: {} });
    server.put(`${here}/persistentvolumeclaims/data`, { spec: { volumeName: 'disk' } });
    await world.sleep(1100);
    expect(informers.cache(persistentVolumeKind).getKey('disk')).toBeDefined();
    server.put(`${here}/pods/web`, { ...waiting, status: { phase: 'Running' } });
    await world.sleep(1100);
    const before = server.asked.length;
    await world.sleep(10_000);
    expect(server.asked.length).toBe(before);
  }));

const secrets = (informers: Informers): readonly string[] => Array.from(informers.cache(secretKind).list(), ({ metadata }) => metadata.name).sort();

test('what is older than all that was read before is read as well, once', () =>
  simulate(1, async (world) => {
    const server = new Server();
    for (const name of ['old', 'older', 'new', 'newer']) server.put(`${here}/secrets/${name}`, {});
    const uses = (...names: string[]) => pod(names.map((name) => ({ name, secret: { secretName: name } })));
    server.put(`${here}/pods/first`, uses('new', 'newer'));
    const informers = await following(world, server);
    const missing: unknown[] = [];
    informers.cache(podKind).subscribe(({ after }) => {
      const names = after?.spec.volumes?.map(({ name }) => name) ?? [];
      missing.push(...names.filter((name) => informers.cache(secretKind).getKey(`default/${name}`) === undefined));
    });
    server.put(`${here}/pods/second`, uses('old'));
    server.put(`${here}/pods/third`, uses('older', 'old'));
    await world.sleep(1000);
    expect(secrets(informers)).toEqual(['new', 'newer', 'old', 'older']);
    server.put(`${here}/pods/second`, uses());
    server.put(`${here}/pods/third`, uses());
    await world.sleep(1000);
    expect(secrets(informers)).toEqual(['new', 'newer']);
    expect(missing).toEqual([]);
    expect(world.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  }));
