import type { APIService } from '../../api/generated/types.ts';
import { apiVersionOf } from '../../api/kind.ts';
import { parseRequestInfo, type RequestInfo } from '../../api/request-info.ts';
import { statusErrors } from '../../api/status.ts';
import type { Stored } from '../../api/stored.ts';
import type { World } from '../../world/world.ts';
import type { Aggregator } from '../aggregator/aggregator.ts';
import type { Api, ApiResponse, User } from '../api.ts';
import type { Authenticator, Credentials } from '../authentication/authenticator.ts';
import { recordFailure } from '../audit/audited-api.ts';
import type { Auditor } from '../audit/auditor.ts';
import { responseText } from '../audit/recorded-objects.ts';
import { sourceIps } from '../audit/source-ips.ts';
import type { AuditRequest, AuditContext } from '../audit/audit-context.ts';
import { type Authorizer, forbiddenError } from '../authorization/authorizer.ts';
import { actingUser, impersonationPrefix } from '../authentication/impersonation.ts';
import type { PathAnswer, PathRequest } from '../discovery/path-request.ts';
import { mediaTypes, type Rendition } from '../render/accept.ts';
import { wantsPretty } from '../render/pretty.ts';
import { renderResponse } from '../render/response.ts';
import type { WholeResponse } from '../render/whole-response.ts';
import { includeObjectOf } from '../render/table.ts';
import { resourceRendition } from '../render/targets.ts';
import { frameEncoder } from '../render/watch-frames.ts';
import type { PodStreams } from '../../streams/contract.ts';
import type { AdmitConnect } from '../admission/connect.ts';
import type { StreamingRequest } from '../streams/streaming-requests.ts';
import { isStreamingRequest } from '../streams/is-streaming-request.ts';
import { apiRequest, auditIdOf } from './api-request.ts';
import type { Exchange } from '../exchange.ts';
import { failureReply } from './failure-reply.ts';
import type { Limits } from '../limits.ts';
import { OpenWatches } from './open-watches.ts';
import type { Pages } from './pages.ts';
import { clientCertificate } from './client-certificate.ts';
import { type Reply, sendReply, standardHeaders } from './reply.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';
import { FlowController, type FlowControllerOptions } from '../flow-control/flow-controller.ts';
import { parseTarget, requestedTimeout } from './request-target.ts';
import { WatchStream } from './watch-stream.ts';

export interface HandlerOptions {
  readonly api: Api;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Non-resource paths: discovery, health, version, metrics. undefined: no such path. */
  readonly paths: (request: PathRequest) => PathAnswer | undefined | Promise<PathAnswer | undefined>;
  readonly world: World;
  readonly limits: Limits;
  readonly metrics: RequestMetrics;
  /** Whether this group and version ('apps/v1') is served to clients: the API may know more. */
  readonly serves: (apiVersion: string) => boolean;
  /** Whether Mooring's own request headers are read. */
  readonly extensions: boolean;
  /** The streams of a node's pods. Absent: logs, exec, attach, port-forward and proxy are not served. */
  readonly podStreams?: ((node: string) => PodStreams | undefined) | undefined;
  /** Asked before a stream is opened. Absent: every stream is admitted. */
  readonly admitConnect?: AdmitConnect | undefined;
  /** APIServices that other servers answer for. Absent: there are none. */
  readonly aggregator?: Pick<Aggregator, 'find' | 'serve'> | undefined;
  readonly flowConfiguration?: FlowControllerOptions['flowConfiguration'];
  /** Absent: there is no audit log. */
  readonly auditor?: Auditor | undefined;
  /** The dashboard. Absent: there is none. */
  readonly pages?: Pages | undefined;
}

interface AuthorizedRequest {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly user: User;
  readonly auditId: string;
  readonly auditContext: AuditContext | undefined;
}

interface PageRequest extends Pick<AuthorizedRequest, 'exchange' | 'info' | 'auditContext'> {
  readonly path: string;
}

/** A response that was sent, or a watch or stream that goes on. */
type Outcome = { readonly type: 'answered'; readonly code: number } | { readonly type: 'watching'; readonly code: number };

/**
 * One request from arrival to response: audit, authentication, impersonation, authorization, flow control, the API, rendering.
 * Every failure is answered with a Status. A failure that is no ApiError is a fault of the server: its cause is logged and not sent.
 */
export class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #flowController: FlowController;
  readonly #watches: OpenWatches;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#flowController = new FlowController(options);
    this.#watches = new OpenWatches(options.limits, options.metrics);
  }

  /** Never rejects. */
  async handle(exchange: Exchange): Promise<void> {
    const { world, metrics, auditor } = this.#options;
    const begun = world.clock.monotonic();
    const auditId = auditIdOf(exchange, world.random);
    const auditContext = auditor === undefined ? undefined : auditor.begin(auditRequestOf(exchange, auditId));
    let info: RequestInfo | undefined;
    let outcome: Outcome;
    try {
      const { path, query } = parseTarget(exchange.target);
      info = parseRequestInfo(exchange.method, path, query);
      if (this.#options.pages?.has(path) === true) outcome = await this.#answerPage(this.#options.pages, { exchange, info, path, auditContext });
      else {
        const user = await this.#authorize(exchange, info, auditContext);
        outcome = await this.#answer({ exchange, query, info, user, auditId, auditContext });
      }
    } catch (error) {
      if (auditContext !== undefined) recordFailure(auditContext, error);
      outcome = await this.#fail(exchange, auditId, error);
    }
    if (auditContext !== undefined && outcome.type === 'answered') auditContext.responseComplete(outcome.code);
    if (outcome.type === 'watching') metrics.answered(info, outcome.code, undefined);
    else metrics.answered(info, outcome.code, (world.clock.monotonic() - begun) / 1000);
  }

  /** Ends every watch as after its timeout: clients open them again. */
  endWatches(): void {
    this.#watches.endAll();
  }

  /** @throws ApiError 401 or 403 */
  async #authorize(exchange: Exchange, info: RequestInfo, auditContext: AuditContext | undefined): Promise<User> {
    const { authenticator, authorizer } = this.#options;
    auditContext?.setRequestInfo(info);
    const sender = this.#options.pages?.userOf(exchange) ?? (await authenticator.authenticate(credentialsOf(exchange)));
    auditContext?.setUser(sender);
    const impersonation = exchange.headersWithPrefix(impersonationPrefix);
    const user = impersonation.length === 0 ? sender : await actingUser(sender, impersonation, authorizer);
    if (user !== sender) auditContext?.setImpersonatedUser(user);
    const decision = await authorizer.authorize(user, info);
    auditContext?.setAuthorization(decision);
    if (!decision.allowed) throw forbiddenError(user, info, decision.reason);
    return user;
  }

  /** The files of a page are the same for all users; a session is asked for with credentials, or with a code. */
  async #answerPage(pages: Pages, { exchange, info, path, auditContext }: PageRequest): Promise<Outcome> {
    auditContext?.setRequestInfo(info);
    const credentials = async () => {
      const user = await this.#options.authenticator.authenticate(credentialsOf(exchange));
      auditContext?.setUser(user);
      return user;
    };
    return this.#send(exchange, await pages.answer(exchange, path, credentials));
  }

  async #answer(request: AuthorizedRequest): Promise<Outcome> {
    const { info } = request;
    const remote = this.#options.aggregator?.find(...groupVersionOf(info));
    if (remote !== undefined) return this.#answerRemote(request, remote);
    if (info.type === 'path') return this.#send(request.exchange, await this.#answerPath(request, info.path));
    if (!this.#options.serves(apiVersionOf(info))) throw statusErrors.noSuchPath();
    const isStream = this.#options.podStreams !== undefined && isStreamingRequest(info);
    // A pod may know more methods than the API server.
    const isPassedOn = isStream && info.subresource === 'proxy' && info.namespace !== '';
    if ((info.verb === '' || request.exchange.method === 'HEAD') && !isPassedOn) throw statusErrors.methodNotAllowedHere();
    if (isStream) return this.#answerStream({ ...request, info }, this.#options.podStreams);
    const watch = info.verb === 'watch';
    const rendition = resourceRendition(request.exchange.header('accept'), watch, info.group);
    if (watch) return this.#answerWatch(request, rendition);
    const reply = await this.#runInFlowControl(request, async (response) => this.#reply(request, response, rendition));
    return this.#send(request.exchange, reply);
  }

  /** The code is loaded with the first request for a stream. */
  async #answerStream(request: AuthorizedRequest & Pick<StreamingRequest, 'info'>, node: (name: string) => PodStreams | undefined): Promise<Outcome> {
    const { StreamingRequests } = await import('../streams/streaming-requests.ts');
    const { exchange, auditContext } = request;
    const code = await new StreamingRequests({ ...this.#options, node }).serve(request);
    auditContext?.responseStarted(code);
    exchange.onClose(() => auditContext?.responseComplete(code));
    return { type: 'watching', code };
  }

  async #answerRemote({ exchange, user, info, auditId, auditContext }: AuthorizedRequest, remote: Stored<APIService>): Promise<Outcome> {
    const { aggregator, limits } = this.#options;
    // The other server decodes the path before it divides it, and would see a subresource where a name was authorized.
    if (info.type === 'resource' && `${info.namespace}${info.name}`.includes('/')) throw statusErrors.badRequest('a name has an encoded slash');
    const code = (await aggregator?.serve({ exchange, user, auditId, limits, isWatch: info.verb === 'watch' }, remote)) ?? 503;
    auditContext?.responseStarted(code);
    exchange.onClose(() => auditContext?.responseComplete(code));
    return { type: 'watching', code };
  }

  async #answerPath({ exchange, query, auditId }: AuthorizedRequest, path: string): Promise<Reply> {
    const answer = await this.#options.paths({ path, query, header: (name) => exchange.header(name) });
    if (answer === undefined) throw statusErrors.noSuchPath();
    if (answer.code !== 404 && exchange.method !== 'GET' && exchange.method !== 'HEAD') throw statusErrors.methodNotAllowedHere();
    const caching = answer.headers.includes('cache-control') ? [] : ['cache-control', 'no-cache, private'];
    return { code: answer.code, headers: ['audit-id', auditId, ...caching, ...answer.headers], body: answer.body };
  }

  /** Calls the API once the request has a seat; answers 504 after its timeout. */
  #runInFlowControl<T>(request: AuthorizedRequest, answer: (response: ApiResponse) => Promise<T>): Promise<T> {
    const { api, limits, extensions } = this.#options;
    const { exchange, info, query, user } = request;
    const asked = info.verb === 'watch' ? 0 : requestedTimeout(query);
    return this.#flowController.run(request, {
      timeoutMs: asked > 0 ? Math.min(asked, limits.requestMs) : limits.requestMs,
      receive: () => apiRequest({ exchange, info, query, user, bodyLimit: limits.bodyBytes, extensions }),
      perform: async (received) => {
        const { auditContext } = request;
        auditContext?.setRequest(received);
        return answer(await api.handle(auditContext === undefined ? received : { ...received, annotate: auditContext.annotate }));
      },
    });
  }

  async #reply({ exchange, query, auditId, auditContext }: AuthorizedRequest, response: ApiResponse, rendition: Rendition): Promise<Reply> {
    if (response.type === 'watch') throw new Error('the API opened a watch for a request that is none');
    const pretty = rendition.pretty || wantsPretty(query, exchange.header('user-agent') ?? '');
    const includeObject = rendition.as?.kind === 'Table' ? includeObjectOf(query) : 'None';
    const options = { rendition: { ...rendition, pretty }, includeObject, now: this.#options.world.clock.now() };
    const rendered = await renderResponse(response, options);
    if (auditContext !== undefined && response.type === 'status') auditContext.setStatus(response.status);
    if (auditContext?.wantsResponse === true) auditContext.setResponse(await responseText(response, options));
    return { code: rendered.code, headers: standardHeaders(auditId, rendered.contentType, response.warnings), body: rendered.body };
  }

  async #answerWatch(request: AuthorizedRequest, rendition: Rendition): Promise<Outcome> {
    const free = this.#watches.take(request.user.name);
    request.exchange.onClose(free);
    // Opened outside of the timeout: a watch that comes too late must not be written behind the 504.
    const response = await this.#runInFlowControl(request, (opened) => Promise.resolve(opened));
    if (response.type === 'watch') return this.#openWatch(request, response, rendition);
    return this.#send(request.exchange, await this.#reply(request, response satisfies WholeResponse, rendition));
  }

  #openWatch({ exchange, query, auditId, auditContext }: AuthorizedRequest, response: ApiResponse & { type: 'watch' }, rendition: Rendition): Outcome {
    const { limits, metrics, world } = this.#options;
    const includeObject = rendition.as?.kind === 'Table' ? includeObjectOf(query) : 'None';
    const encoded = (): void => metrics.encodings.add(1);
    const frames = frameEncoder({ kind: response.kind, rendition, includeObject, now: () => world.clock.now(), encoded });
    const contentType = rendition.format === 'json' ? mediaTypes.json : `${mediaTypes[rendition.format]};stream=watch`;
    const output = exchange.open({ code: 200, headers: standardHeaders(auditId, contentType, response.warnings) });
    const stream = new WatchStream({ output, frames, limits, timers: world.timers, metrics, log: world.log });
    this.#watches.add(stream);
    auditContext?.responseStarted(200);
    exchange.onClose(() => {
      auditContext?.responseComplete(200);
      stream.close();
      this.#watches.remove(stream);
    });
    stream.start(response.start);
    return { type: 'watching', code: 200 };
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

const credentialsOf = (exchange: Exchange): Credentials => ({
  certificate: clientCertificate(exchange.socket),
  authorization: exchange.header('authorization'),
});

/** Of a resource, or of a path below a version of a group: '/apis/apps/v1'. */
function groupVersionOf(info: RequestInfo): readonly [group: string, version: string] {
  if (info.type === 'resource') return [info.group, info.version];
  const [, root, group = '', version = ''] = info.path.split('/');
  return root === 'apis' ? [group, version] : ['', root === 'api' ? group : ''];
}

function auditRequestOf(exchange: Exchange, auditId: string): AuditRequest {
  const ips = sourceIps((name) => exchange.header(name), exchange.socket.remoteAddress ?? '');
  return { auditId, requestUri: exchange.target, userAgent: exchange.header('user-agent') ?? '', sourceIps: ips };
}
