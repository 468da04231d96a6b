import { apiVersionOf } from '../../api/kind.ts';
import { statusErrors } from '../../api/status.ts';
import type { World } from '../../world/world.ts';
import type { Api, ApiResponse, User } from '../api.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { recordFailure } from '../audit/audited-api.ts';
import type { Auditor } from '../audit/auditor.ts';
import { responseText } from '../audit/recorded-objects.ts';
import { sourceIps } from '../audit/source-ips.ts';
import type { Arrival, Trail } from '../audit/trail.ts';
import { type Attributes, type Authorizer, forbiddenError } from '../auth/authorizer.ts';
import { actingUser, impersonationPrefix } from '../auth/impersonation.ts';
import type { PathAnswer, PathRequest } from '../discovery/paths.ts';
import { mediaTypes, type Rendition } from '../render/accept.ts';
import { wantsPretty } from '../render/pretty.ts';
import { renderResponse, type WholeResponse } from '../render/response.ts';
import { includeObjectOf } from '../render/table.ts';
import { resourceRendition } from '../render/targets.ts';
import { frameEncoder } from '../render/watch-frames.ts';
import type { PodStreams } from '../streams/contract.ts';
import type { PodRequest } from '../streams/pod-requests.ts';
import { isStreamed } from '../streams/streamed.ts';
import { apiRequest, auditIdOf } from './api-request.ts';
import type { Exchange } from './exchange.ts';
import { failureReply } from './failure.ts';
import type { Limits } from './limits.ts';
import { OpenWatches } from './open-watches.ts';
import { clientCertificate } from './peer.ts';
import { type Reply, sendReply, standardHeaders } from './reply.ts';
import { requestInfo } from './request-info.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { Room } from './room.ts';
import { parseTarget, type RequestTarget, requestedTimeout } from './target.ts';
import { WatchStream } from './watch-stream.ts';

export interface HandlerOptions {
  readonly api: Api;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Everything that is no resource: discovery, health, version, metrics. undefined: no such path. */
  readonly paths: (request: PathRequest) => PathAnswer | undefined | Promise<PathAnswer | undefined>;
  readonly world: World;
  readonly limits: Limits;
  readonly metrics: RequestMetrics;
  /** Whether clients may see this version of a group ('apps/v1'): the API may know more than it shows to them. */
  readonly serves: (apiVersion: string) => boolean;
  /** Whether Mooring's own request headers are understood. */
  readonly extensions: boolean;
  /** What nodes offer of what goes on in their pods; undefined: nobody is asked. */
  readonly podStreams?: ((node: string) => PodStreams | undefined) | undefined;
  /** Writes down who asked for what. Absent: nobody does. */
  readonly auditor?: Auditor | undefined;
}

/** A request that may be answered, as the steps below pass it on. */
interface Request {
  readonly exchange: Exchange;
  readonly target: RequestTarget;
  readonly attributes: Attributes;
  readonly user: User;
  readonly auditId: string;
  readonly trail: Trail | undefined;
}

/** What became of a request: what was answered, or a watch that goes on. */
type Outcome = { readonly type: 'answered'; readonly code: number } | { readonly type: 'watching' };

/**
 * One request from arrival to answer: who is it, may they, what do they want, how do they want it written.
 * Whatever goes wrong on the way is answered with a Status; what is no ApiError is our own fault, is logged, and is told
 * to nobody else.
 */
export class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #room: Room;
  readonly #watches: OpenWatches;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#room = new Room(options);
    this.#watches = new OpenWatches(options.limits, options.metrics);
  }

  /** Never rejects. */
  async handle(exchange: Exchange): Promise<void> {
    const { world, metrics, auditor } = this.#options;
    const begun = world.clock.monotonic();
    const auditId = auditIdOf(exchange, world.random);
    const trail = auditor === undefined ? undefined : auditor.arrived(arrivalOf(exchange, auditId));
    let attributes: Attributes | undefined;
    let outcome: Outcome;
    try {
      const target = parseTarget(exchange.target);
      attributes = requestInfo(exchange.method, target);
      const user = await this.#admit(exchange, attributes, trail);
      outcome = await this.#answer({ exchange, target, attributes, user, auditId, trail });
    } catch (error) {
      if (trail !== undefined) recordFailure(trail, error);
      outcome = await this.#fail(exchange, auditId, error);
    }
    if (trail !== undefined && outcome.type === 'answered') trail.completed(outcome.code);
    if (outcome.type === 'watching') metrics.answered(attributes, 200, undefined);
    else metrics.answered(attributes, outcome.code, (world.clock.monotonic() - begun) / 1000);
  }

  /** Ends every watch as if its time were up: clients open them again, elsewhere or later. */
  endWatches(): void {
    this.#watches.endAll();
  }

  /** @throws ApiError 401 or 403 */
  async #admit(exchange: Exchange, attributes: Attributes, trail: Trail | undefined): Promise<User> {
    const { authenticator, authorizer } = this.#options;
    trail?.asksFor(attributes);
    const sender = await authenticator.authenticate({ certificate: clientCertificate(exchange.socket), authorization: exchange.header('authorization') });
    trail?.received(sender);
    const impersonation = exchange.headersBeginning(impersonationPrefix);
    const user = impersonation.length === 0 ? sender : await actingUser(sender, impersonation, authorizer);
    if (user !== sender) trail?.actsAs(user);
    const decision = await authorizer.authorize(user, attributes);
    trail?.decided(decision);
    if (!decision.allowed) throw forbiddenError(user, attributes, decision.reason);
    return user;
  }

  async #answer(request: Request): Promise<Outcome> {
    const { attributes } = request;
    if (attributes.type === 'path') return this.#send(request.exchange, await this.#answerPath(request));
    if (!this.#options.serves(apiVersionOf(attributes))) throw statusErrors.noSuchPath();
    if (attributes.verb === '' || request.exchange.method === 'HEAD') throw statusErrors.methodNotAllowedHere();
    if (this.#options.podStreams !== undefined && isStreamed(attributes)) return this.#answerStream({ ...request, attributes }, this.#options.podStreams);
    const watch = attributes.verb === 'watch';
    const rendition = resourceRendition(request.exchange.header('accept'), watch);
    if (watch) return this.#answerWatch(request, rendition);
    const reply = await this.#bounded(request, async (response) => this.#reply(request, response, rendition));
    return this.#send(request.exchange, reply);
  }

  /** Loaded when somebody looks into a pod for the first time. */
  async #answerStream(request: Request & Pick<PodRequest, 'attributes'>, node: (name: string) => PodStreams | undefined): Promise<Outcome> {
    const { PodRequests } = await import('../streams/pod-requests.ts');
    const { exchange, target, trail } = request;
    await new PodRequests({ ...this.#options, node }).serve({ ...request, query: target.query });
    trail?.started(200);
    exchange.onClose(() => trail?.completed(200));
    return { type: 'watching' };
  }

  async #answerPath({ exchange, target, auditId }: Request): Promise<Reply> {
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw statusErrors.methodNotAllowedHere();
    const answer = await this.#options.paths({ path: target.path, query: target.query, header: (name) => exchange.header(name) });
    if (answer === undefined) throw statusErrors.noSuchPath();
    const caching = answer.headers.includes('cache-control') ? [] : ['cache-control', 'no-cache, private'];
    return { code: answer.code, headers: ['audit-id', auditId, ...caching, ...answer.headers], body: answer.body };
  }

  /** Asks the API when it is this request's turn, and gives up on it when its time is over. */
  #bounded<T>(request: Request, answer: (response: ApiResponse) => Promise<T>): Promise<T> {
    const { api, limits, extensions } = this.#options;
    const { exchange, target, user } = request;
    const asked = request.attributes.verb === 'watch' ? 0 : requestedTimeout(target.query);
    return this.#room.run(request, {
      ms: asked > 0 ? Math.min(asked, limits.requestMs) : limits.requestMs,
      receive: () => apiRequest({ exchange, target, user, bodyLimit: limits.bodyBytes, extensions }),
      perform: async (received) => {
        const { trail } = request;
        trail?.asked(received);
        return answer(await api.handle(trail === undefined ? received : { ...received, annotate: trail.annotates }));
      },
    });
  }

  async #reply({ exchange, target, auditId, trail }: Request, response: ApiResponse, rendition: Rendition): Promise<Reply> {
    if (response.type === 'watch') throw new Error('the API opened a watch for a request that is none');
    const pretty = rendition.pretty || wantsPretty(target.query, exchange.header('user-agent') ?? '');
    const includeObject = rendition.as?.kind === 'Table' ? includeObjectOf(target.query) : 'None';
    const options = { rendition: { ...rendition, pretty }, includeObject, now: this.#options.world.clock.now() };
    const rendered = await renderResponse(response, options);
    if (trail !== undefined && response.type === 'status') trail.says(response.status);
    if (trail?.wantsAnswer === true) trail.answers(await responseText(response, options));
    return { code: rendered.code, headers: standardHeaders(auditId, rendered.contentType, response.warnings), body: rendered.body };
  }

  async #answerWatch(request: Request, rendition: Rendition): Promise<Outcome> {
    const free = this.#watches.take(request.user.name);
    request.exchange.onClose(free);
    // Opened outside of its bounds: a watch that comes too late must not be written behind the answer that said so.
    const response = await this.#bounded(request, (opened) => Promise.resolve(opened));
    if (response.type === 'watch') return this.#openWatch(request, response, rendition);
    return this.#send(request.exchange, await this.#reply(request, response satisfies WholeResponse, rendition));
  }

  #openWatch({ exchange, target, auditId, trail }: Request, response: ApiResponse & { type: 'watch' }, rendition: Rendition): Outcome {
    const { limits, metrics, world } = this.#options;
    const includeObject = rendition.as?.kind === 'Table' ? includeObjectOf(target.query) : 'None';
    const encoded = (): void => metrics.encodings.add(1);
    const frames = frameEncoder({ kind: response.kind, rendition, includeObject, now: () => world.clock.now(), encoded });
    const contentType = rendition.format === 'json' ? mediaTypes.json : `${mediaTypes[rendition.format]};stream=watch`;
    const output = exchange.open({ code: 200, headers: standardHeaders(auditId, contentType, response.warnings) });
    const stream = new WatchStream({ output, frames, limits, timers: world.timers, metrics, log: world.log });
    this.#watches.add(stream);
    trail?.started(200);
    exchange.onClose(() => {
      trail?.completed(200);
      stream.close();
      this.#watches.remove(stream);
    });
    stream.start(response.start);
    return { type: 'watching' };
  }

  async #send(exchange: Exchange, reply: Reply): Promise<Outcome> {
    await sendReply(exchange, reply, { limits: this.#options.limits, timers: this.#options.world.timers });
    return { type: 'answered', code: reply.code };
  }

  async #fail(exchange: Exchange, auditId: string, error: unknown): Promise<Outcome> {
    const reply = await failureReply({ exchange, auditId, error, log: this.#options.world.log });
    try {
      return await this.#send(exchange, reply);
    } catch (sending) {
      this.#options.world.log.warn('an answer could not be sent', { auditId, error: String(sending) });
      return { type: 'answered', code: reply.code };
    }
  }
}

function arrivalOf(exchange: Exchange, auditId: string): Arrival {
  const ips = sourceIps((name) => exchange.header(name), exchange.socket.remoteAddress ?? '');
  return { auditId, requestUri: exchange.target, userAgent: exchange.header('user-agent') ?? '', sourceIps: ips };
}
