import { statusErrors } from '../../api/status.ts';
import { jsonBody, textBody } from '../render/body.ts';
import { negotiatePlain } from '../render/targets.ts';
import type { PathAnswer, PathRequest } from './path-request.ts';

/** The OpenAPI documents of the served kinds. Large and rarely read: each is made with its first request. */
export interface OpenApiDocuments {
  /** Swagger 2, everything in one document. */
  v2(): Promise<object>;
  /** The same in the protobuf form that client-go asks for. */
  v2Protobuf(): Promise<Uint8Array>;
  /** OpenAPI 3 of one group and version ('api/v1', 'apis/apps/v1'); undefined: not served. */
  v3(groupVersion: string): Promise<object | undefined>;
  readonly groupVersions: readonly string[];
}

interface Written {
  readonly text: string;
  readonly hash: string;
}

/** Answers /openapi/…. Clients keep a document by its hash for as long as they like. */
export class OpenApiPaths {
  readonly #documents: OpenApiDocuments;
  readonly #hash: (text: string) => string;
  readonly #written = new Map<string, Promise<Written | undefined>>();
  #v2Protobuf: Promise<Uint8Array> | undefined;

  constructor(documents: OpenApiDocuments, hash: (text: string) => string) {
    this.#documents = documents;
    this.#hash = hash;
  }

  /** Other kinds are served now. */
  forget(): void {
    this.#written.clear();
    this.#v2Protobuf = undefined;
  }

  async answer(request: PathRequest): Promise<PathAnswer | undefined> {
    const { path } = request;
    if (path === '/openapi/v3' || path === '/openapi/v3/') return this.#index();
    if (path === '/openapi/v2') return wantsProtobuf(request) ? this.#protobuf() : this.#document(request, 'v2');
    return path.startsWith('/openapi/v3/') ? this.#document(request, path.slice('/openapi/v3/'.length)) : undefined;
  }

  async #index(): Promise<PathAnswer> {
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const groupVersion of this.#documents.groupVersions) {
      const written = await this.#write(groupVersion);
      if (written !== undefined) paths[groupVersion] = { serverRelativeURL: `/openapi/v3/${groupVersion}?hash=${written.hash}` };
    }
    return { code: 200, headers: ['content-type', 'application/json'], body: jsonBody({ paths }, false) };
  }

  async #document(request: PathRequest, name: string): Promise<PathAnswer | undefined> {
    const written = await this.#write(name);
    if (written === undefined) return undefined;
    refuseProtobuf(request);
    const etag = `"${written.hash}"`;
    const asked = request.query.get('hash');
    // A document requested by its hash never changes; another hash is redirected to the current one.
    if (asked !== null && asked !== '' && asked !== written.hash) {
      const location = `/openapi/v3/${name}?hash=${written.hash}`;
      return { code: 301, headers: ['location', location, 'content-type', 'text/plain; charset=utf-8'], body: textBody('') };
    }
    const caching = asked === written.hash ? ['cache-control', 'public, immutable', 'expires', never] : [];
    const headers = [...caching, 'etag', etag, 'vary', 'Accept', 'content-type', 'application/json'];
    if (request.header('if-none-match') === etag) return { code: 304, headers, body: textBody('') };
    return { code: 200, headers, body: textBody(written.text) };
  }

  async #protobuf(): Promise<PathAnswer> {
    this.#v2Protobuf ??= this.#documents.v2Protobuf();
    return { code: 200, headers: ['vary', 'Accept', 'content-type', protobufType], body: { type: 'whole', bytes: await this.#v2Protobuf } };
  }

  #write(name: string): Promise<Written | undefined> {
    const before = this.#written.get(name);
    if (before !== undefined) return before;
    if (name !== 'v2' && !this.#documents.groupVersions.includes(name)) return Promise.resolve(undefined);
    const written = this.#make(name);
    this.#written.set(name, written);
    return written;
  }

  async #make(name: string): Promise<Written | undefined> {
    const document = name === 'v2' ? await this.#documents.v2() : await this.#documents.v3(name);
    if (document === undefined) return undefined;
    const text = JSON.stringify(document);
    return { text, hash: this.#hash(text) };
  }
}

/** Some clients ask for OpenAPI in gnostic's protobuf and would parse any response as such. After a 406 they do without. */
const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** client-go writes the version with an @, which a media type may not contain; both are understood. JSON is preferred where both will do. */
const wantsProtobuf = (request: PathRequest): boolean =>
  /^application\/com\.github\.(?:proto-openapi|googleapis\.gnostic).*\+protobuf/i.test((request.header('accept') ?? '').trim());

function refuseProtobuf(request: PathRequest): void {
  if (negotiatePlain(request.header('accept'))?.format !== 'json') throw statusErrors.notAcceptable(['application/json']);
}

/** As far away as HTTP allows: a year. The date is fixed, since `immutable` is what counts. */
const never = 'Thu, 31 Dec 2099 23:59:59 GMT';
