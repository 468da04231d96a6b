/** How the controllers reach the image volumes of nodes that joined the cluster, and how such a node answers. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { resourceRequestInfo } from '../../api/request-info.ts';
import type { Verb } from '../../api/kind.ts';
import { createClient } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import { machineLabel } from '../../drivers/image/driver.ts';
import { answerImageRequest, type AskNode, clusterImageDriver } from '../../drivers/image/remote.ts';
import type { NodeProxyRequest, NodeProxyResponse, PodStreams } from '../../streams/contract.ts';
import { machineOf } from './image-volumes.ts';

/** The kubelet API of a node that joined, with the requests for its image volumes. */
export function withImageRequests(streams: PodStreams, driver: VolumeDriver, node: string): PodStreams {
  const proxy = async (request: NodeProxyRequest): Promise<NodeProxyResponse> => {
    const { method, path: asked, query } = request;
    const answer = await answerImageRequest(driver, node, { method, path: asked, query: new URLSearchParams(query) });
    if (answer === undefined) return streams.proxy(request);
    const body = JSON.stringify({ kind: 'DriverAnswer', apiVersion: 'mooring.dev/v1', ...answer });
    return { code: 200, contentType: 'application/json', body: Readable.from([Buffer.from(body)]) };
  };
  return {
    logs: (...asked) => streams.logs(...asked),
    exec: (...asked) => streams.exec(...asked),
    attach: (...asked) => streams.attach(...asked),
    portForward: (...asked) => streams.portForward(...asked),
    proxy,
  };
}

/** Asks nodes by their streams, in the API server's process. */
export const askByStreams =
  (streams: (node: string) => PodStreams): AskNode =>
  async (node, { method, path: asked, query }) => {
    const { code, body } = await streams(node).proxy({ method, path: asked, query: query.toString(), contentType: undefined, body: new Uint8Array() });
    const received = await text(body);
    return code === 200 ? { ok: true, value: JSON.parse(received) as unknown } : { ok: false, code, message: received };
  };

const verbs: Readonly<Record<string, Verb>> = { POST: 'create', PUT: 'update', DELETE: 'delete' };

/** Asks nodes through the API server's proxy to them. */
export const askByProxy =
  (transport: Transport): AskNode =>
  async (node, { method, path: subpath, query }) => {
    const info = { ...resourceRequestInfo(verbs[method] ?? 'get', nodeKind, { name: node }), subresource: 'proxy', subpath };
    const answer = await transport.send({ info, query });
    if (answer.type === 'unreachable') throw answer.error;
    if (answer.type === 'failed') return { ok: false, code: answer.error.code, message: answer.error.message };
    return answer.type === 'object' ? { ok: true, value: answer.object } : { ok: false, code: 502, message: 'the node did not answer with an object' };
  };

/** For controllers in a process of their own: this machine's images, and those of nodes that joined. */
export function imageDriverByProxy(own: VolumeDriver, transport: Transport): VolumeDriver {
  const isHere = async (name: string): Promise<boolean> => {
    const node = await createClient({ transport }).get(nodeKind, { name });
    if (!node.ok) throw node.error;
    return node.value.metadata.labels?.[machineLabel] === machineOf(undefined);
  };
  return clusterImageDriver(own, isHere, askByProxy(transport));
}
