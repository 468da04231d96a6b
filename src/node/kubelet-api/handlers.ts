/** The handlers of the kubelet API (v1.36.4: pkg/kubelet/server/server.go). */
import type { Pod } from '../../api/generated/types.ts';
import { ApiError } from '../../api/status.ts';
import type { StreamRefusal, StreamResult } from '../../streams/contract.ts';
import { logOptions, nodeStreamOptions } from '../../streams/options.ts';
import { servePortForward, serveSession, StreamRefused } from '../../streams/upgrades.ts';
import type { World } from '../../world/world.ts';
import { type KubeletResponse, type KubeletRequest, type KubeletBackend, KubeletError } from './exchange.ts';
import { type KubeletRoute, routeOf } from './routes.ts';

/** 'streams': the connection was upgraded. @throws KubeletError */
export async function handleRequest(request: KubeletRequest, backend: KubeletBackend, world: World): Promise<KubeletResponse | 'streams'> {
  const route = routeOf(request.path);
  if (route === undefined) throw notFound();
  const isSession = route.type === 'exec' || route.type === 'attach' || route.type === 'ports';
  if (route.type !== 'page' && request.method !== 'GET' && !(isSession && request.method === 'POST')) throw new KubeletError(405, '405: Method Not Allowed');
  try {
    return await answerRoute(route, { request, backend, world });
  } catch (error) {
    if (error instanceof ApiError || error instanceof StreamRefused) throw new KubeletError(error.code, error.message);
    throw error;
  }
}

interface RequestContext {
  readonly request: KubeletRequest;
  readonly backend: KubeletBackend;
  readonly world: World;
}

async function answerRoute(route: KubeletRoute, context: RequestContext): Promise<KubeletResponse | 'streams'> {
  const { request, backend } = context;
  switch (route.type) {
    case 'page':
      return backend.streams.proxy({
        method: request.method,
        path: route.path,
        query: request.query.toString(),
        contentType: undefined,
        body: new Uint8Array(),
      });
    case 'logs':
      return logsOf(route, context);
    case 'exec':
    case 'attach':
      await openSession(route, context);
      return 'streams';
    case 'ports': {
      const pod = podOf(route, backend, 'pod does not exist');
      await servePortForward(request.upgrade, pod, () => backend.streams.portForward(pod));
      return 'streams';
    }
  }
}

type OfContainer = Extract<KubeletRoute, { container: string }>;

async function logsOf(route: OfContainer, { request, backend, world }: RequestContext): Promise<KubeletResponse> {
  const pod = podOf(route, backend, `pod ${JSON.stringify(route.pod)} does not exist`);
  const { container } = route;
  if (!containersOf(pod).includes(container))
    throw new KubeletError(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(route.pod)}`);
  const log = orRefuse(await backend.streams.logs(pod, container, readLogOptions(request.query, pod, world)));
  return { code: 200, contentType: 'text/plain', body: log };
}

function readLogOptions(query: URLSearchParams, pod: Pod, { clock }: World): ReturnType<typeof logOptions> {
  try {
    return logOptions(query, pod, clock.now());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw error.code === 422 ? new KubeletError(422, '{"message": "Invalid request."}') : new KubeletError(400, '{"message": "Unable to decode query."}');
  }
}

async function openSession(route: OfContainer, { request, backend, world }: RequestContext): Promise<void> {
  const options = nodeStreamOptions(request.query);
  const pod = podOf(route, backend, 'pod does not exist');
  const { container } = route;
  const command = request.query.getAll('command');
  const open = () => (route.type === 'exec' ? backend.streams.exec(pod, container, { ...options, command }) : backend.streams.attach(pod, container, options));
  await serveSession(request.upgrade, { options, timers: world.timers, open });
}

/** @throws KubeletError */
function podOf({ namespace, pod: name, uid }: Exclude<KubeletRoute, { type: 'page' }>, { pods }: KubeletBackend, otherwise: string): Pod {
  const pod = pods().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (pod === undefined) throw new KubeletError(404, otherwise);
  if (uid !== '' && uid !== pod.metadata.uid) throw new KubeletError(404, 'pod not found');
  return pod;
}

const containersOf = ({ spec }: Pod): readonly string[] =>
  [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])].map(({ name }) => name);

const notFound = (): KubeletError => new KubeletError(404, '404 page not found\n');

function orRefuse<T>(streamed: StreamResult<T>): T {
  if (streamed.ok) return streamed.value;
  const { code, message }: StreamRefusal = streamed;
  throw new KubeletError(code, message);
}
