import { allKinds } from '../../src/api/kinds/index.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { type Method, parseRequestInfo } from '../../src/api/request-info.ts';
import { ApiError, type Status } from '../../src/api/status.ts';
import type { ApiResponse, Fence, OpenWatch, RequestBody, WatchEvent } from '../../src/apiserver/api.ts';
import { allowAuthenticated } from '../../src/sim/cluster/access.ts';
import type { TokenIssuer } from '../../src/apiserver/authentication/token-issuer.ts';
import { type ApiOptions, createApi, type RunningApi } from '../../src/apiserver/create-api.ts';
import type { Store } from '../../src/store/contract.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';

export interface SendOptions {
  readonly query?: string;
  readonly body?: unknown;
  /** The body as it is, in this type. */
  readonly bytes?: { readonly type: string; readonly text: string };
  readonly contentType?: string;
  readonly fence?: Fence;
}

/** Says what it was asked for. */
const tokens: Pick<TokenIssuer, 'issue'> = {
  issue: async (spec) => ({ token: JSON.stringify(spec), audiences: spec.audiences.length === 0 ? ['api'] : spec.audiences, expiresAt: 0 }),
};

/** The API on a store in memory, in a world where time is virtual. */
export class ApiUnderTest {
  readonly store: Store;
  readonly world: SimulatedWorld;
  readonly api: RunningApi;

  constructor(world: SimulatedWorld, store: Store = openMemoryStore(), more: Partial<ApiOptions> = {}) {
    this.world = world;
    this.store = store;
    this.api = createApi({ store, kinds: allKinds, world, tokens, extensions: { authorizer: allowAuthenticated }, ...more });
  }

  handle(method: Method, path: string, { query: text = '', body, bytes, contentType = 'application/json', fence }: SendOptions = {}): Promise<ApiResponse> {
    const user = { name: 'tester', groups: ['system:masters'] };
    const query = new URLSearchParams(text);
    return this.api.handle({
      info: parseRequestInfo(method, path, query),
      query,
      user,
      userAgent: 'test',
      body: bodyOf({ body, bytes, contentType }),
      ...(fence === undefined ? {} : { fence }),
    });
  }

  /** The object, or the Status, that comes back. */
  async send(method: Method, path: string, options?: SendOptions): Promise<Sent> {
    try {
      return sent(await this.handle(method, path, options));
    } catch (error) {
      if (error instanceof ApiError) return { code: error.code, body: error.toStatus() as never, warnings: error.warnings };
      throw error;
    }
  }

  async create(path: string, body: unknown, query = ''): Promise<Sent> {
    return this.send('POST', path, { body, query });
  }

  async namespace(name: string): Promise<void> {
    await this.create('/api/v1/namespaces', { metadata: { name } });
    await this.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  }

  async watch(path: string, query = ''): Promise<Watched> {
    const response = await this.handle('GET', path, { query: `watch=1&${query}` });
    if (response.type !== 'watch') throw new Error(`no watch: ${response.type}`);
    const watched = new Watched();
    watched.open = response.start(watched);
    return watched;
  }
}

/** What JSON says, as loosely as a test wants to look at it. */
type Parsed = ReturnType<typeof JSON.parse>;

export interface Sent {
  readonly code: number;
  readonly body: Parsed;
  readonly warnings: readonly string[];
}

interface GivenBody {
  readonly body: unknown;
  readonly bytes: SendOptions['bytes'] | undefined;
  readonly contentType: string;
}

function bodyOf({ body, bytes, contentType }: GivenBody): RequestBody {
  if (bytes !== undefined) return { type: 'bytes', contentType: bytes.type, bytes: Buffer.from(bytes.text) };
  if (body === undefined) return { type: 'none' };
  return { type: 'bytes', contentType, bytes: Buffer.from(JSON.stringify(body)) };
}

function sent(response: ApiResponse): Sent {
  const { warnings } = response;
  switch (response.type) {
    case 'object':
      // What is spliced must be what is decoded.
      return { code: response.code, body: sameAsJson(response.stored.object, response.stored.json()), warnings };
    case 'list':
      return { code: 200, body: { metadata: response.metadata, items: response.items.map((item) => sameAsJson(item.object, item.json())) }, warnings };
    case 'status':
      return { code: response.status.code, body: response.status, warnings };
    case 'plain':
      return { code: response.code, body: response.object, warnings };
    case 'watch':
      throw new Error('a watch was opened');
  }
}

function sameAsJson(object: KubeObject, json: Uint8Array): unknown {
  const parsed: unknown = JSON.parse(Buffer.from(json).toString());
  const sort = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, member]) => [key, sort(member)]),
        )
      : Array.isArray(value)
        ? value.map(sort)
        : value;
  if (JSON.stringify(sort(parsed)) !== JSON.stringify(sort(object)))
    throw new Error(`the JSON differs from the object: ${JSON.stringify(parsed)} ${JSON.stringify(object)}`);
  return parsed;
}

/** What a watcher has seen. */
export class Watched {
  readonly batches: (readonly WatchEvent[])[] = [];
  ended: { readonly status: Status | undefined } | undefined;
  open: OpenWatch | undefined;

  events(batch: readonly WatchEvent[]): void {
    this.batches.push(batch);
  }

  end(status: Status | undefined): void {
    if (this.ended !== undefined) throw new Error('ended twice');
    this.ended = { status };
  }

  get seen(): WatchEvent[] {
    return this.batches.flat();
  }

  /** 'ADDED one@5' */
  get lines(): string[] {
    return this.seen.map(({ type, stored }) => `${type} ${stored.object.metadata.name ?? ''}@${stored.object.metadata.resourceVersion ?? ''}`);
  }
}

/** Runs a test on a new API. */
export const onApi =
  (body: (api: ApiUnderTest) => Promise<void>, seed = 1, more: Partial<ApiOptions> = {}) =>
  (): Promise<void> =>
    simulate(seed, async (world) => {
      const api = new ApiUnderTest(world, undefined, more);
      await api.namespace('default');
      await body(api);
      await api.api.stop();
    });
