/** Requests for what goes on inside of pods: logs, exec, attach, portforward. */
import type { Readable } from 'node:stream';
import type { Pod } from '../../api/generated/types.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { World } from '../../world/world.ts';
import type { Api, User } from '../api.ts';
import { type Attributes, type Authorizer, forbiddenError } from '../auth/authorizer.ts';
import type { Exchange } from '../http/exchange.ts';
import type { AttachOptions, PodStreams, Session, Streamed } from '../../streams/contract.ts';
import { attachOptions, containerOf, execOptions, logOptions } from '../../streams/options.ts';
import { forwardPorts, portForwardProtocol, tunnel, tunnelProtocol } from '../../streams/port-forward.ts';
import { firstWord, overSpdy, overWebSocket, SpdyChannels, spdyProtocols, webSocketProtocols } from '../../streams/remote-command.ts';
import { SpdySession } from '../../streams/spdy.ts';
import { handshake, WebSocketConnection } from '../../streams/websocket.ts';

export interface PodRequestsOptions {
  readonly api: Api;
  readonly authorizer: Authorizer;
  readonly world: World;
  /** Undefined: nobody offers anything of the node's pods. */
  readonly node: (name: string) => PodStreams | undefined;
}

export interface PodRequest {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  readonly attributes: Extract<Attributes, { type: 'resource' }>;
  readonly user: User;
  readonly auditId: string;
}

export class PodRequests {
  readonly #options: PodRequestsOptions;

  constructor(options: PodRequestsOptions) {
    this.#options = options;
  }

  /** Resolves once the streams flow. @throws ApiError if they will not */
  async serve(request: PodRequest): Promise<void> {
    const { attributes, query } = request;
    const { subresource } = attributes;
    if (attributes.verb !== 'get' && (attributes.verb !== 'create' || subresource === 'log')) throw statusErrors.methodNotAllowed(podKind, attributes.verb);
    if (subresource !== 'log') await this.#demandCreate(request);
    const pod = await this.#pod(attributes);
    switch (subresource) {
      case 'log':
        return this.#serveLog(request, pod);
      case 'exec': {
        const options = execOptions(query);
        return this.#serveSession(request, options, (node, container) => node.exec(pod, container, options), pod);
      }
      case 'attach': {
        const options = attachOptions(query);
        return this.#serveSession(request, options, (node, container) => node.attach(pod, container, options), pod);
      }
      default:
        return this.#servePorts(request, pod);
    }
  }

  /** Whoever only reads must not enter, whichever method they ask with. */
  async #demandCreate({ attributes, user }: PodRequest): Promise<void> {
    if (attributes.verb === 'create') return;
    const asked = { ...attributes, verb: 'create' };
    const decision = await this.#options.authorizer.authorize(user, asked);
    if (!decision.allowed) throw forbiddenError(user, asked, decision.reason);
  }

  async #pod({ namespace, name }: PodRequest['attributes']): Promise<Pod> {
    const response = await this.#options.api.handle({
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/pods/${name}`,
      query: new URLSearchParams(),
      user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
      body: { type: 'none' },
      userAgent: 'moor/streams',
    });
    if (response.type !== 'object') throw statusErrors.notFound(podKind, name);
    return response.stored.object as Pod;
  }

  #node({ metadata, spec }: Pod): PodStreams {
    const { nodeName = '' } = spec;
    if (nodeName === '') throw statusErrors.badRequest(`pod ${metadata.name ?? ''} does not have a host assigned`);
    const node = this.#options.node(nodeName);
    if (node === undefined) throw statusErrors.badRequest(`nothing runs on node ${nodeName}: it is hollow, or its agent cannot be reached`);
    return node;
  }

  async #serveLog({ exchange, query, auditId }: PodRequest, pod: Pod): Promise<void> {
    const options = logOptions(query, pod, this.#options.world.clock.now());
    const container = containerOf(pod, query.get('container') ?? '');
    const headers = ['audit-id', auditId, 'cache-control', 'no-cache, private', 'content-type', 'text/plain'];
    if ((pod.spec.nodeName ?? '') === '') return exchange.respond({ code: 200, headers }, new Uint8Array());
    const log = orThrow(await this.#node(pod).logs(pod, container, options));
    pour(log, exchange, headers);
    return undefined;
  }

  async #serveSession(
    request: PodRequest,
    options: AttachOptions,
    open: (node: PodStreams, container: string) => Promise<Streamed<Session>>,
    pod: Pod,
  ): Promise<void> {
    const container = containerOf(pod, request.query.get('container') ?? '');
    const node = this.#node(pod);
    const { exchange } = request;
    const header = (name: string) => exchange.header(name);
    const { upgrade } = exchange;
    if (upgrade === undefined) throw statusErrors.badRequest('Upgrade request required');
    if (header('upgrade')?.toLowerCase() === 'websocket') {
      const agreed = handshake(header, webSocketProtocols);
      if (agreed === undefined) throw statusErrors.badRequest(`unable to upgrade: this server speaks ${webSocketProtocols.join(', ')}`);
      const session = orThrow(await open(node, container));
      const { socket, head } = upgrade(agreed.headers);
      const events = overWebSocket(() => connection, session);
      const connection: WebSocketConnection = new WebSocketConnection(socket, Buffer.alloc(0), events);
      connection.send(firstWord(options));
      if (head.length > 0) socket.unshift(head);
      return;
    }
    const protocol = spdyProtocol(exchange, spdyProtocols);
    const session = orThrow(await open(node, container));
    const { socket, head } = upgrade([...spdyHeaders, `X-Stream-Protocol-Version: ${protocol}`]);
    const channels = new SpdyChannels(options, this.#options.world.timers);
    const spdy = new SpdySession(socket, head, (stream) => channels.add(stream));
    socket.on('close', () => session.close());
    void channels.all.then((streams) => (streams === undefined ? socket.destroy() : overSpdy(spdy, streams, session)));
  }

  async #servePorts({ exchange }: PodRequest, pod: Pod): Promise<void> {
    const node = this.#node(pod);
    if (pod.status.phase !== 'Running') throw statusErrors.badRequest(`pod is not running. Current status=${pod.status.phase ?? ''}`);
    const header = (name: string) => exchange.header(name);
    const { upgrade } = exchange;
    if (upgrade === undefined) throw statusErrors.badRequest('Upgrade request required');
    if (header('upgrade')?.toLowerCase() === 'websocket') {
      const agreed = handshake(header, [tunnelProtocol]);
      if (agreed === undefined) throw statusErrors.badRequest(`unable to upgrade: this server speaks ${tunnelProtocol}`);
      const { socket, head } = upgrade(agreed.headers);
      const { stream, events } = tunnel(() => connection);
      const connection: WebSocketConnection = new WebSocketConnection(socket, Buffer.alloc(0), events);
      if (head.length > 0) socket.unshift(head);
      forwardPorts({ socket: stream, head: Buffer.alloc(0) }, pod, node);
      return;
    }
    const protocol = spdyProtocol(exchange, [portForwardProtocol]);
    forwardPorts(upgrade([...spdyHeaders, `X-Stream-Protocol-Version: ${protocol}`]), pod, node);
  }
}

const spdyHeaders = ['Upgrade: SPDY/3.1', 'Connection: Upgrade'];

/** @throws ApiError if the client speaks none of them */
function spdyProtocol(exchange: Exchange, protocols: readonly string[]): string {
  const offered = exchange.headersBeginning('x-stream-protocol-version').flatMap(([, value]) => value.split(',').map((each) => each.trim()));
  const agreed = offered.find((each) => protocols.includes(each));
  if (exchange.header('upgrade')?.toLowerCase() !== 'spdy/3.1' || agreed === undefined) {
    throw new ApiError(
      403,
      'Forbidden',
      `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${protocols.join(' ')}]`,
    );
  }
  return agreed;
}

function orThrow<T>(streamed: Streamed<T>): T {
  if (streamed.ok) return streamed.value;
  const { code, message } = streamed;
  throw code === 400 ? statusErrors.badRequest(message) : code === 404 ? new ApiError(404, 'NotFound', message) : statusErrors.internal(message);
}

/** As the client takes it; nobody reads further for a client that has left. */
function pour(source: Readable, exchange: Exchange, headers: readonly string[]): void {
  const output = exchange.open({ code: 200, headers });
  exchange.onClose(() => source.destroy());
  source.on('data', (chunk: Buffer) => {
    output.write(chunk);
    if (output.buffered() < mostBuffered) return;
    source.pause();
    output.onceDrained(() => source.resume());
  });
  source.on('end', () => output.end());
  source.on('error', () => output.abort());
}

const mostBuffered = 256 * 1024;
