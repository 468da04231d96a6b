import type { Kind } from '../../src/api/kind.ts';
import { isRead } from '../../src/api/request-info.ts';
import { statusErrors } from '../../src/api/status.ts';
import type { Stored } from '../../src/api/stored.ts';
import type { Api, ApiRequest, ApiResponse, OpenWatch, ObjectRevision, WatchEvent, WatchEventType, WatchSink } from '../../src/apiserver/api.ts';

/**
 * An API just large enough to have something to put on the wire: config maps and widgets in a map, every write a new
 * revision, watches that see every change. What it shows is the HTTP layer, not the registry.
 */
export class SmallApi implements Api {
  readonly requests: ApiRequest[] = [];
  readonly #objects = new Map<string, ObjectRevision>();
  readonly #watches = new Map<WatchSink, string>();
  #revision = 1;
  /** Runs before every request. */
  before: (request: ApiRequest) => Promise<void> = () => Promise.resolve();

  get openWatches(): number {
    return this.#watches.size;
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    this.requests.push(request);
    await this.before(request);
    const { info } = request;
    if (info.type !== 'resource' || info.group !== '' || info.resource !== 'configmaps' || info.subresource !== '') throw statusErrors.noSuchPath();
    const { namespace, name, verb } = info;
    if (verb === 'create') return this.#create(namespace, request);
    if (verb === 'delete' || verb === 'deletecollection') return this.#remove(namespace, name);
    if (!isRead(info)) throw statusErrors.badRequest(`no ${verb} here`);
    if (verb === 'get') return { type: 'object', code: 200, kind: configMaps, stored: this.#find(namespace, name), warnings: [] };
    if (verb === 'watch') return { type: 'watch', kind: configMaps, start: (sink) => this.#watch(namespace, sink), warnings: [] };
    return { type: 'list', kind: configMaps, items: this.list(namespace), metadata: { resourceVersion: String(this.#revision) }, warnings: [] };
  }

  list(namespace: string): readonly ObjectRevision[] {
    return [...this.#objects.values()].filter(({ object }) => namespace === '' || object.metadata.namespace === namespace);
  }

  put(namespace: string, name: string, data: Record<string, string>): ObjectRevision {
    const key = `${namespace}/${name}`;
    this.#revision += 1;
    const before = this.#objects.get(key);
    const stored = storedOf(namespace, name, { revision: this.#revision, data });
    this.#objects.set(key, stored);
    this.tell(namespace, before === undefined ? 'ADDED' : 'MODIFIED', stored);
    return stored;
  }

  /** Ends every watch as if what it wants were compacted. */
  expireWatches(): void {
    for (const sink of this.#watches.keys()) sink.end(statusErrors.expired('too old resource version: 1 (2)').toStatus());
  }

  #create(namespace: string, request: ApiRequest): ApiResponse {
    if (request.body.type !== 'bytes') throw statusErrors.badRequest('a body is needed');
    const text = new TextDecoder().decode(request.body.bytes);
    let given: { metadata?: { name?: string }; data?: Record<string, string> };
    try {
      given = JSON.parse(text) as typeof given;
    } catch {
      throw statusErrors.badRequest('the body is not JSON');
    }
    const stored = this.put(namespace, given.metadata?.name ?? '', given.data ?? {});
    return { type: 'object', code: 201, kind: configMaps, stored, warnings: given.data?.['warn'] === undefined ? [] : [given.data['warn']] };
  }

  #remove(namespace: string, name: string): ApiResponse {
    const stored = this.#find(namespace, name);
    this.#objects.delete(`${namespace}/${name}`);
    this.#revision += 1;
    this.tell(namespace, 'DELETED', stored);
    return { type: 'status', status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 200 }, warnings: [] };
  }

  #find(namespace: string, name: string): ObjectRevision {
    const stored = this.#objects.get(`${namespace}/${name}`);
    if (stored === undefined) throw statusErrors.notFound(configMaps, name);
    return stored;
  }

  #watch(namespace: string, sink: WatchSink): OpenWatch {
    this.#watches.set(sink, namespace);
    const initial = this.list(namespace).map((stored): WatchEvent => ({ type: 'ADDED', stored, memo: undefined }));
    if (initial.length > 0) sink.events(initial);
    return { stop: () => void this.#watches.delete(sink) };
  }

  /** An event that no write made. */
  tell(namespace: string, type: WatchEventType, stored: ObjectRevision): void {
    const event: WatchEvent = { type, stored, memo: undefined };
    for (const [sink, wanted] of this.#watches) if (wanted === '' || wanted === namespace) sink.events([event]);
  }
}

export const storedOf = (namespace: string, name: string, { revision, data }: { revision: number; data: Record<string, string> }): ObjectRevision => {
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(revision), name, namespace, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    data,
  } as unknown as Stored;
  const bytes = Buffer.from(JSON.stringify(object));
  return { object, revision, json: () => bytes };
};

export const configMaps: Kind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  namespaced: true,
  type: 'ConfigMap',
  storage: { resource: 'configmaps' },
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  validateName: () => [],
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    { name: 'Name', type: 'string', format: 'name', priority: 0, cell: (object) => object.metadata.name ?? '' },
    { name: 'Data', type: 'string', format: '', priority: 0, cell: (object) => Object.keys((object as unknown as { data: object }).data).length },
    { name: 'Age', type: 'string', format: '', priority: 0, cell: (_object, now) => `${Math.floor((now - Date.parse('2026-01-01T00:00:00Z')) / 86_400_000)}d` },
  ],
};
