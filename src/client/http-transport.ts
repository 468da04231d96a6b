import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { KubeObject } from '../api/object.ts';
import { methodOf, requestPath } from '../api/request-info.ts';
import { ApiError, type Status } from '../api/status.ts';
import type { World } from '../world/world.ts';
import { ServerList } from './server-list.ts';
import type { Answer, ListMeta, StreamEvent, StreamSink, Transport, TransportRequest } from './transport.ts';

/** The address of a server, and the client's credentials. */
export interface HttpAccess {
  /** 'https://127.0.0.1:6443' */
  readonly url: string;
  /** All servers of the cluster, shared by the connections of a process; absent: that of `url`. */
  readonly servers?: ServerList;
  /** PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  /** The name in the server's certificate, if not the URL's. */
  readonly serverName?: string;
  /** Accept any certificate. */
  readonly insecure?: boolean;
}

export interface HttpTransportOptions {
  readonly access: HttpAccess;
  readonly world: Pick<World, 'timers'>;
  readonly userAgent: string;
  /** A token that changes while the transport is in use; `access.token` if absent. */
  readonly token?: () => string;
  /** Without an answer for this long a request counts as lost. */
  readonly timeoutMs?: number;
}

/** Reaches any Kubernetes API server over HTTP/1.1, with keep-alive connections. */
export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions;
  readonly #servers: ServerList;
  readonly #agent: http.Agent;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    const { access } = options;
    this.#servers = access.servers ?? new ServerList([access.url]);
    this.#agent =
      this.#servers.current.protocol === 'http:'
        ? new http.Agent({ keepAlive: true })
        : new https.Agent({
            keepAlive: true,
            ca: access.ca,
            cert: access.cert,
            key: access.key,
            servername: access.serverName,
            rejectUnauthorized: access.insecure !== true,
          });
  }

  async send(request: TransportRequest): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const server = this.#servers.current;
      const answer = await this.#sendTo(server, request);
      if (answer.type === 'unreachable') this.#servers.leave(server);
      else this.#servers.answered(server, !(answer.type === 'failed' && answer.error.code === 503));
      // A server that was never connected to has not got the request.
      if (answer.type !== 'unreachable' || !isUnsent(answer.error) || attempt >= this.#servers.size) return answer;
    }
  }

  async #sendTo(server: URL, request: TransportRequest): Promise<Answer> {
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const call = this.#open(server, request, (response) => {
          readAll(response)
            .then((text) => resolve(toAnswer(response, text)))
            .catch(reject);
        });
        const cancel = this.#options.world.timers.after(this.#options.timeoutMs ?? usualTimeoutMs, () => call.destroy(new Error('no answer in time')));
        call.on('close', cancel);
        call.on('error', reject);
      });
    } catch (error) {
      return { type: 'unreachable', error: error as Error };
    }
  }

  /** An answer that is no object: the log of a container. Undefined: it is refused, or does not come in time. */
  async readText(request: TransportRequest): Promise<string | undefined> {
    const answer = await this.#textOf(request);
    return answer?.code === 200 ? answer.text : undefined;
  }

  /** What the server says at a path that has no objects: '/readyz'. Undefined: no answer came in time. */
  readPath(path: string): Promise<{ readonly code: number; readonly text: string } | undefined> {
    return this.#textOf({ info: { type: 'path', verb: 'get', path }, query: new URLSearchParams() });
  }

  async #textOf(request: TransportRequest): Promise<{ readonly code: number; readonly text: string } | undefined> {
    return await new Promise((resolve) => {
      const call = this.#open(this.#servers.current, request, (response) => {
        readAll(response).then(
          (text) => resolve({ code: response.statusCode ?? 0, text }),
          () => resolve(undefined),
        );
      });
      const cancel = this.#options.world.timers.after(this.#options.timeoutMs ?? usualTimeoutMs, () => call.destroy(new Error('no answer in time')));
      // A request may be closed before the end of its answer was read: only its failure says that no answer comes.
      call.on('close', cancel);
      call.on('error', () => resolve(undefined));
    });
  }

  watch(request: TransportRequest, sink: StreamSink): { close(): void } {
    let over = false;
    const server = this.#servers.current;
    const forget = this.#servers.onLeft(() => end(undefined));
    const end = (error: ApiError | undefined) => {
      if (over) return;
      over = true;
      forget();
      call.destroy();
      sink.end(error);
    };
    const call = this.#open(server, request, (response) => {
      response.on('error', () => end(undefined));
      if (response.statusCode !== 200) {
        readAll(response).then(
          (text) => end(errorOf(response, text)),
          () => end(undefined),
        );
        return;
      }
      const lines = new LineReader((line) => parseEvent(line));
      response.on('data', (chunk: Buffer) => {
        const batch = lines.read(chunk);
        if (over) return;
        if (batch === undefined) return end(undefined);
        const error = batch.find((item): item is ApiError => item instanceof ApiError);
        const events = batch.filter((item): item is StreamEvent => !(item instanceof ApiError));
        if (events.length > 0) sink.events(events);
        if (error !== undefined) end(error);
      });
      response.on('end', () => end(undefined));
      response.on('close', () => end(undefined));
    });
    call.on('error', () => {
      this.#servers.leave(server);
      end(undefined);
    });
    return {
      close() {
        over = true;
        forget();
        call.destroy();
      },
    };
  }

  /** Closes the connections; requests under way end without an answer. */
  close(): void {
    this.#agent.destroy();
  }

  #open(server: URL, request: TransportRequest, onResponse: (response: IncomingMessage) => void): ClientRequest {
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body.object));
    const query = request.query.toString();
    const call = (server.protocol === 'http:' ? http : https).request(
      {
        agent: this.#agent,
        protocol: server.protocol,
        host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: server.port === '' ? undefined : server.port,
        method: methodOf(request.info),
        path: `${server.pathname.replace(/\/$/, '')}${requestPath(request.info)}${query === '' ? '' : `?${query}`}`,
        headers: this.#headers(request, body),
      },
      onResponse,
    );
    call.setNoDelay(true);
    // A watch may be silent for long: the operating system notices a peer that is gone.
    call.setSocketKeepAlive(true, 30_000);
    if (this.#servers.size > 1) this.#leaveIfSilent(server, call);
    call.end(body);
    return call;
  }

  /** Of several servers, one that does not answer is left: its connections would wait for as long as their time-outs are. */
  #leaveIfSilent(server: URL, call: ClientRequest): void {
    const { timers } = this.#options.world;
    const cancelSilent = timers.after(silentMs, () => this.#servers.leave(server));
    call.once('response', cancelSilent);
    call.once('close', cancelSilent);
    call.once('socket', (socket) => {
      if (!socket.connecting) return;
      const cancel = timers.after(connectMs, () => call.destroy(Object.assign(new Error('no connection in time'), { syscall: 'connect' })));
      socket.once('connect', cancel);
      call.once('close', cancel);
    });
  }

  #headers(request: TransportRequest, body: Buffer | undefined): http.OutgoingHttpHeaders {
    const { access, userAgent } = this.#options;
    const token = this.#options.token?.() ?? access.token;
    return {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': request.body?.contentType, 'content-length': body.length }),
      ...(request.fence === undefined ? {} : { [fenceHeader]: `${request.fence.lease};epoch=${request.fence.epoch}` }),
    };
  }
}

/** The leader's lease and epoch (docs/EXTENSIONS.md); a server that does not know the header ignores it. */
const fenceHeader = 'mooring-fence';
const usualTimeoutMs = 60_000;
/** Of one server of several. */
const connectMs = 3_000;
const silentMs = 8_000;

const isUnsent = (error: Error): boolean => (error as NodeJS.ErrnoException).syscall === 'connect';

const longestAnswer = 512 * 1024 * 1024;
/** Kubernetes stores no object that is larger than this. */
const longestLine = 8 * 1024 * 1024;

/** Names may have '?' and '#', which mean something else in a URL. */
async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestAnswer) throw new Error(`the answer is longer than ${longestAnswer} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toAnswer(response: IncomingMessage, text: string): Answer {
  const code = response.statusCode ?? 0;
  if (code >= 400) return { type: 'failed', error: errorOf(response, text) };
  const body = deepFreeze(JSON.parse(text)) as KubeObject & { items?: KubeObject[]; metadata: ListMeta };
  if (body.kind === 'Status') return { type: 'status', status: body as unknown as Status };
  if (body.kind.endsWith('List') && 'items' in body) return { type: 'list', items: withType(body.items ?? [], body), metadata: body.metadata };
  return { type: 'object', object: body };
}

/** Kubernetes leaves the type out of a list's items: it follows from the list's. */
function withType(items: readonly KubeObject[], list: KubeObject): readonly KubeObject[] {
  const type = { kind: list.kind.slice(0, -'List'.length), apiVersion: list.apiVersion };
  return items.map((item) => (item.kind === undefined ? Object.freeze({ ...type, ...item }) : item));
}

function errorOf(response: IncomingMessage, text: string): ApiError {
  const status = parseStatus(text);
  const code = response.statusCode ?? 500;
  if (status === undefined) return new ApiError(code, '', text.slice(0, 1000) || `the server answered ${code}`);
  const retryAfter = Number(response.headers['retry-after']);
  const details = Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter, ...status.details } : status.details;
  return new ApiError(status.code ?? code, status.reason ?? '', status.message ?? '', details);
}

function parseStatus(text: string): Partial<Status> | undefined {
  try {
    const body = JSON.parse(text) as Partial<Status> | null;
    return body?.kind === 'Status' ? body : undefined;
  } catch {
    return undefined;
  }
}

function parseEvent(line: string): StreamEvent | ApiError {
  const { type, object } = deepFreeze(JSON.parse(line)) as { type: StreamEvent['type'] | 'ERROR'; object: KubeObject };
  if (type !== 'ERROR') return { type, object };
  const status = object as unknown as Partial<Status>;
  return new ApiError(status.code ?? 500, status.reason ?? '', status.message ?? '', status.details);
}

/** Cuts a stream into lines and parses each once it is whole. Undefined: the stream is malformed. */
class LineReader<T> {
  readonly #parse: (line: string) => T;
  #begun: Buffer[] = [];
  #length = 0;

  constructor(parse: (line: string) => T) {
    this.#parse = parse;
  }

  read(chunk: Buffer): T[] | undefined {
    const items: T[] = [];
    try {
      let from = 0;
      for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
        const line = Buffer.concat([...this.#begun, chunk.subarray(from, to)]).toString('utf8');
        this.#begun = [];
        this.#length = 0;
        from = to + 1;
        if (line !== '') items.push(this.#parse(line));
      }
      if (from < chunk.length) {
        this.#begun.push(chunk.subarray(from));
        this.#length += chunk.length - from;
      }
    } catch {
      return undefined;
    }
    return this.#length > longestLine ? undefined : items;
  }
}

/** Objects from the wire are as immutable as those that are shared by reference. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
