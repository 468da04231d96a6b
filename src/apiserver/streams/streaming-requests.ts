/** Requests that a kubelet answers: logs, exec, attach, port-forward, and the proxies to nodes, pods and Services. */
import type { Endpoints, Pod, Service } from '../../api/generated/types.ts';
import { endpointsKind } from '../../api/kinds/core/endpoints.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { type RequestInfo, type ResourceRequestInfo, resourceRequestInfo } from '../../api/request-info.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { World } from '../../world/world.ts';
import type { Api, User } from '../api.ts';
import { type AttachOptions, NodeUnreachable, type PodStreams, type StreamRefusal, type Session, type StreamResult } from '../../streams/contract.ts';
import { attachOptions, containerOf, execOptions, logOptions } from '../../streams/options.ts';
import { serveReader } from '../../streams/reader-socket.ts';
import { servePortForward, serveSession, StreamRefused } from '../../streams/upgrades.ts';
import type { AdmitConnect } from '../admission/connect.ts';
import { type Authorizer, forbiddenError } from '../authorization/authorizer.ts';
import type { Exchange } from '../exchange.ts';
import { noKubelet } from './no-kubelet.ts';
import { connectOptions } from './connect-options.ts';
import { pipeToClient } from './pipe-to-client.ts';
import { parseProxyName, podPort, serviceBackend } from './proxy-target.ts';

export interface StreamingRequestsOptions {
  readonly api: Api;
  readonly authorizer: Authorizer;
  readonly admitConnect?: AdmitConnect | undefined;
  readonly world: World;
  /** Undefined: the node has no kubelet that can be reached. */
  readonly node: (name: string) => PodStreams | undefined;
}

export interface StreamingRequest {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  readonly info: ResourceRequestInfo;
  readonly user: User;
  readonly auditId: string;
}

export class StreamingRequests {
  readonly #options: StreamingRequestsOptions;

  constructor(options: StreamingRequestsOptions) {
    this.#options = options;
  }

  /** Resolves with the code of the response once the streams flow, or a node's refusal is answered. @throws ApiError if they will not */
  async serve(request: StreamingRequest): Promise<number> {
    try {
      return await this.#serve(request);
    } catch (error) {
      if (error instanceof NodeUnreachable) throw new ApiError(500, '', `error dialing backend: ${error.message}`);
      if (!(error instanceof StreamRefused)) throw error;
      // The kubelet's own response.
      const headers = ['audit-id', request.auditId, 'cache-control', 'no-cache, private', 'content-type', 'text/plain; charset=utf-8'];
      request.exchange.respond({ code: error.code, headers }, Buffer.from(error.message));
      return error.code;
    }
  }

  async #serve(request: StreamingRequest): Promise<number> {
    const { info, query } = request;
    const { subresource } = info;
    if (subresource === 'proxy') {
      await this.#admit(request);
      return info.resource === 'nodes' ? this.#serveNode(request) : this.#serveProxy(request);
    }
    if (info.verb !== 'get' && (info.verb !== 'create' || subresource === 'log')) throw statusErrors.methodNotAllowed(podKind, info.verb);
    if (subresource !== 'log') {
      await this.#requireCreate(request);
      await this.#admit(request);
    }
    const pod = await this.#pod(info);
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

  /** exec, attach and port-forward need the verb create, also with GET. */
  async #requireCreate({ info, user }: StreamingRequest): Promise<void> {
    if (info.verb === 'create') return;
    const asked = { ...info, verb: 'create' };
    const decision = await this.#options.authorizer.authorize(user, asked);
    if (!decision.allowed) throw forbiddenError(user, asked, decision.reason);
  }

  async #admit({ info, user, query }: StreamingRequest): Promise<void> {
    await this.#options.admitConnect?.({ info, user, options: connectOptions(info, query) });
  }

  #pod({ namespace, name }: StreamingRequest['info']): Promise<Pod> {
    return this.#read<Pod>(resourceRequestInfo('get', podKind, { namespace, name }), () => statusErrors.notFound(podKind, name));
  }

  async #read<T extends KubeObject>(info: RequestInfo, otherwise: () => ApiError): Promise<T> {
    const response = await this.#options.api.handle({
      info,
      query: new URLSearchParams(),
      user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
      body: { type: 'none' },
      userAgent: 'moor/streams',
    });
    if (response.type !== 'object') throw otherwise();
    return response.stored.object as T;
  }

  async #find<T extends KubeObject>(info: RequestInfo): Promise<T | undefined> {
    const missing = new ApiError(404, 'NotFound', '');
    return this.#read<T>(info, () => missing).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
  }

  #node({ metadata, spec }: Pod): PodStreams {
    const { nodeName = '' } = spec;
    if (nodeName === '') throw statusErrors.badRequest(`pod ${metadata.name ?? ''} does not have a host assigned`);
    const node = this.#options.node(nodeName);
    if (node === undefined) throw noKubelet(nodeName);
    return node;
  }

  /** The proxy to a pod, or to one of a Service's. */
  async #serveProxy(request: StreamingRequest): Promise<number> {
    const { exchange, info, auditId } = request;
    if (exchange.upgrade !== undefined) throw statusErrors.badRequest('no other protocol than HTTP is passed on to pods');
    if (isWithoutSlash(request)) return redirectToSlash(request);
    const { pod, port, scheme } = await this.#proxyTarget(info);
    const body = exchange.method === 'GET' || exchange.method === 'HEAD' ? new Uint8Array() : await exchange.body(maxPodBytes);
    const { callPod, pageAnswer } = await import('./pod-proxy.ts');
    const path = `${info.subpath ?? '/'}${queryOf(exchange.target)}`;
    const answer = await callPod(this.#node(pod), pod, { scheme, port, path, body }, exchange);
    const code = answer.statusCode ?? 502;
    const page = pageAnswer(answer, { pod, port }, exchange);
    const headers = ['audit-id', auditId, ...page.headers];
    if (exchange.method === 'HEAD') exchange.respond({ code, headers }, new Uint8Array());
    else pipeToClient(page.body, exchange, { code, headers });
    return code;
  }

  async #proxyTarget(info: ResourceRequestInfo): Promise<{ readonly pod: Pod; readonly port: number; readonly scheme: 'http' | 'https' }> {
    const { namespace } = info;
    if (info.resource === 'pods') {
      const { scheme, name, port } = parseProxyName(info.name, 'pod');
      const pod = await this.#pod({ ...info, name });
      return { pod, port: podPort(pod, port), scheme };
    }
    const { scheme, name, port } = parseProxyName(info.name, 'service');
    const service = await this.#read<Service>(resourceRequestInfo('get', serviceKind, { namespace, name }), () => statusErrors.notFound(serviceKind, name));
    const endpoints = await this.#find<Endpoints>(resourceRequestInfo('get', endpointsKind, { namespace, name }));
    const backend = serviceBackend(service, endpoints, port, this.#options.world.random);
    return { pod: await this.#pod({ ...info, name: backend.pod }), port: backend.port, scheme };
  }

  /** The proxy to a kubelet: request and response are passed on as they are. */
  async #serveNode(request: StreamingRequest): Promise<number> {
    const {
      exchange,
      info: { name, subpath = '' },
      auditId,
    } = request;
    if (exchange.upgrade !== undefined) throw statusErrors.badRequest('no other protocol than HTTP is passed on to nodes');
    if (isWithoutSlash(request)) return redirectToSlash(request);
    const headers = ['audit-id', auditId, 'cache-control', 'no-cache, private'];
    const node = this.#options.node(await this.#nodeNamed(name));
    if (node === undefined) throw noKubelet(name);
    const body = exchange.method === 'GET' ? new Uint8Array() : await exchange.body(maxProxiedBytes);
    const answer = await node
      .proxy({
        method: exchange.method,
        path: subpath === '' ? '/' : subpath,
        query: queryOf(exchange.target).slice(1),
        contentType: exchange.header('content-type'),
        body,
      })
      .catch((error: unknown) => {
        throw error instanceof NodeUnreachable ? statusErrors.serviceUnavailable(`error trying to reach service: ${error.message}`) : error;
      });
    pipeToClient(answer.body, exchange, { code: answer.code, headers: [...headers, 'content-type', answer.contentType] });
    return answer.code;
  }

  /** The name may have a scheme and a port, which are ignored. @throws ApiError if there is no such node */
  async #nodeNamed(asked: string): Promise<string> {
    const name = /^(?:https:)?([^:]+)(?::\d*)?$/.exec(asked)?.[1];
    if (name === undefined) throw statusErrors.badRequest(`invalid node request ${JSON.stringify(asked)}`);
    await this.#read(resourceRequestInfo('get', nodeKind, { name }), () => statusErrors.notFound(nodeKind, name));
    return name;
  }

  async #serveLog({ exchange, query, auditId }: StreamingRequest, pod: Pod): Promise<number> {
    const options = logOptions(query, pod, this.#options.world.clock.now());
    const container = containerOf(pod, query.get('container') ?? '');
    const headers = ['audit-id', auditId, 'cache-control', 'no-cache, private', 'content-type', 'text/plain'];
    if ((pod.spec.nodeName ?? '') === '') {
      exchange.respond({ code: 200, headers }, new Uint8Array());
      return 200;
    }
    const log = await this.#node(pod)
      .logs(pod, container, options)
      .catch((error: unknown) => {
        if (!(error instanceof NodeUnreachable)) throw error;
        throw new ApiError(500, '', `Get ${JSON.stringify(error.url)}: ${error.message}`);
      });
    if (!log.ok) throw logRefused(log, pod.metadata.name ?? '');
    if (exchange.upgrade !== undefined) {
      serveReader(exchange, log.value);
      return switchingProtocols;
    }
    pipeToClient(log.value, exchange, { code: 200, headers });
    return 200;
  }

  async #serveSession(
    { exchange, query }: StreamingRequest,
    options: AttachOptions,
    open: (node: PodStreams, container: string) => Promise<StreamResult<Session>>,
    pod: Pod,
  ): Promise<number> {
    const container = containerOf(pod, query.get('container') ?? '');
    const node = this.#node(pod);
    await serveSession(exchange, { options, timers: this.#options.world.timers, open: () => open(node, container) });
    return switchingProtocols;
  }

  async #servePorts({ exchange }: StreamingRequest, pod: Pod): Promise<number> {
    const node = this.#node(pod);
    if (pod.status.phase !== 'Running') throw statusErrors.badRequest(`pod is not running. Current status=${pod.status.phase ?? ''}`);
    await servePortForward(exchange, pod, () => node.portForward(pod));
    return switchingProtocols;
  }
}

/** `…/proxy` and `…/proxy/` differ for relative links: a GET or HEAD of the first is sent on to the second. */
const isWithoutSlash = ({ exchange, info: { subpath = '' } }: StreamingRequest): boolean => subpath === '' && ['GET', 'HEAD'].includes(exchange.method);

function redirectToSlash({ exchange, auditId }: StreamingRequest): number {
  const location = `${exchange.target.split('?')[0] ?? ''}/${queryOf(exchange.target)}`;
  exchange.respond({ code: 301, headers: ['audit-id', auditId, 'cache-control', 'no-cache, private', 'location', location] }, new Uint8Array());
  return 301;
}

/** '?a=b'; '': none, or an empty one. */
function queryOf(target: string): string {
  const at = target.indexOf('?');
  return at < 0 || at === target.length - 1 ? '' : target.slice(at);
}

/** The code of a request whose connection is no longer HTTP. */
const switchingProtocols = 101;

/** What an API server makes of a kubelet's refusal (v1.36.4: apiserver/pkg/registry/generic/rest/response_checker.go). */
function logRefused({ code, message }: StreamRefusal, pod: string): ApiError {
  if (code === 500) return statusErrors.internal(message);
  if (code === 400) return statusErrors.badRequest(message);
  const known: Readonly<Record<number, readonly [reason: string, text: string]>> = {
    401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
    403: ['Forbidden', message],
    404: ['NotFound', 'the server could not find the requested resource'],
  };
  const [reason, text] = known[code] ?? ['', `the server responded with the status code ${code} but did not return more information`];
  return new ApiError(code, reason, `${text} ( pods/log ${pod})`, { name: pod, kind: 'pods/log' });
}

/** Of a request to a kubelet. */
const maxProxiedBytes = 1024 * 1024;
/** Of a request to a pod. */
const maxPodBytes = 16 * 1024 * 1024;
