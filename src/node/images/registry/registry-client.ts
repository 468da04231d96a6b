/** One repository of a registry, by the OCI distribution protocol. Nothing that it answers is trusted: the content store checks sizes and digests. */
import type { Cancel, Timers } from '../../../world/world.ts';
import { ImageError, mediaTypes, mostDocumentBytes } from '../manifest.ts';
import type { Credentials } from '../credentials.ts';

export interface RepositoryOptions {
  /** 'https://registry-1.docker.io' */
  readonly endpoint: string;
  /** 'library/busybox' */
  readonly repository: string;
  readonly credentials: Credentials | undefined;
  readonly timers: Timers;
}

/** A registry that sends nothing for so long hangs. */
const idleMs = 30_000;
const accepted = [mediaTypes.index, mediaTypes.manifest, mediaTypes.dockerIndex, mediaTypes.dockerManifest].join(', ');
/** Of a token's answer. */
const mostTokenBytes = 1 << 20;

/** The registry has no such image, or does not give it: another registry may. */
export class RegistryError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export class RegistryRepository {
  readonly #options: RepositoryOptions;
  #authorization: string | undefined;

  constructor(options: RepositoryOptions) {
    this.#options = options;
  }

  /** An index or manifest, by tag or digest. */
  async manifest(reference: string): Promise<Buffer> {
    const { body } = await this.#get(`manifests/${reference}`, { Accept: accepted });
    return readAll(body, mostDocumentBytes);
  }

  /** The content of a blob from a byte on. A registry that knows no ranges sends all of it: then `from` is 0. */
  async blob(digest: string, from: number): Promise<{ readonly from: number; readonly body: AsyncIterable<Uint8Array> }> {
    const { status, body } = await this.#get(`blobs/${digest}`, from === 0 ? {} : { Range: `bytes=${from}-` });
    return { from: status === 206 ? from : 0, body };
  }

  async #get(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { endpoint, repository } = this.#options;
    const url = `${endpoint}/v2/${repository}/${path}`;
    const first = await this.#fetch(url, headers);
    if (first.status !== 401) return successful(first, url);
    await first.cancel();
    this.#authorization = await this.#authorize(first.challenge);
    if (this.#authorization === undefined) throw denied(url);
    return successful(await this.#fetch(url, headers), url);
  }

  async #fetch(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const own = this.#authorization === undefined ? headers : { ...headers, Authorization: this.#authorization };
    return fetchPatiently(url, own, this.#options.timers);
  }

  /** A token, or the password itself, as the registry asks. Undefined: there is nothing to give. */
  async #authorize(challenge: string): Promise<string | undefined> {
    const { credentials, repository, timers, endpoint } = this.#options;
    if (credentials !== undefined) demandSecrecy(endpoint);
    const basic = credentials === undefined ? undefined : `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
    if (!/^bearer /i.test(challenge)) return basic;
    const given = Object.fromEntries(Array.from(challenge.matchAll(/\b(\w+)="([^"]*)"/g), ([, key = '', value = '']) => [key, value]));
    if (given['realm'] === undefined || !URL.canParse(given['realm']))
      throw new RegistryError(`the registry asks for a token, and its realm is ${JSON.stringify(given['realm'])}`, 401);
    const url = new URL(given['realm']);
    if (credentials !== undefined) demandSecrecy(url.href);
    if (given['service'] !== undefined) url.searchParams.set('service', given['service']);
    url.searchParams.set('scope', given['scope'] ?? `repository:${repository}:pull`);
    const answer = await fetchPatiently(url.href, basic === undefined ? {} : { Authorization: basic }, timers);
    if (answer.status === 401 || answer.status === 403) throw denied(url.href);
    const text = (await readAll(successful(answer, url.href).body, mostTokenBytes)).toString();
    try {
      const { token, access_token: access } = JSON.parse(text) as { readonly token?: unknown; readonly access_token?: unknown };
      const found = token ?? access;
      if (typeof found === 'string') return `Bearer ${found}`;
    } catch {
      // reported below
    }
    throw new RegistryError(`${url.origin} answers with no token`, answer.status);
  }
}

/** Whether a registry, with or without a port, is one of this machine. */
export const isLoopback = (registry: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(registry);

/** A password, and the token that one gets for it, are sent over HTTPS, or stay on this machine. */
function demandSecrecy(address: string): void {
  const { protocol, host, origin } = new URL(address);
  if (protocol !== 'https:' && !isLoopback(host))
    throw new RegistryError(`${origin} asks for the password of the registry without HTTPS: it is not sent there`, 401);
}

interface Answer {
  readonly status: number;
  /** WWW-Authenticate. */
  readonly challenge: string;
  readonly body: AsyncIterable<Uint8Array>;
  cancel(): Promise<void>;
}

function successful(answer: Answer, url: string): Answer {
  const { status } = answer;
  if (status === 200 || status === 206) return answer;
  void answer.cancel();
  if (status === 401 || status === 403) throw denied(url);
  throw new RegistryError(status === 404 ? 'not found' : `unexpected status from GET request to ${url}: ${status}`, status);
}

const denied = (url: string): RegistryError =>
  new RegistryError(`pull access denied, repository does not exist or may require authorization: ${url} refuses`, 401);

/** The answer, and each piece of its body, comes within `idleMs`, or the request ends. */
async function fetchPatiently(url: string, headers: Readonly<Record<string, string>>, timers: Timers): Promise<Answer> {
  const controller = new AbortController();
  let cancel: Cancel = () => undefined;
  const wait = (): void => {
    cancel();
    cancel = timers.after(idleMs, () => controller.abort(new RegistryError(`${url} has sent nothing for ${idleMs / 1000} s`, 0)));
  };
  wait();
  const response = await fetch(url, { headers, signal: controller.signal }).catch((error: unknown) => {
    cancel();
    const { message, cause } = error as Error;
    throw error instanceof RegistryError
      ? error
      : new RegistryError(`failed to do request: Get "${url}": ${cause instanceof Error ? cause.message : message}`, 0);
  });
  async function* body(): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of response.body ?? []) {
        wait();
        yield chunk as Uint8Array;
      }
    } finally {
      cancel();
    }
  }
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate') ?? '',
    body: body(),
    async cancel() {
      cancel();
      await response.body?.cancel();
    },
  };
}

async function readAll(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new ImageError(`the registry's answer has more than ${most} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
