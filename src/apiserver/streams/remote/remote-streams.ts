/** The streams of a node's pods over its kubelet's API: HTTP for logs, SPDY for the rest. */
import type { IncomingMessage } from 'node:http';
import type { Pod } from '../../../api/generated/types.ts';
import type {
  AttachOptions,
  ExecOptions,
  LogOptions,
  NodeProxyResponse,
  NodeProxyRequest,
  PodStreams,
  PortForwarder,
  StreamRefusal,
  Session,
  StreamResult,
} from '../../../streams/contract.ts';
import { portForwardProtocol } from '../../../streams/port-forward.ts';
import { spdyProtocol } from '../../../streams/remote-command.ts';
import { remotePortForwarder, remoteSession } from '../../../streams/spdy-client.ts';
import type { KubeletAddress } from './node-address.ts';
import type { KubeletClient, UpgradeResult } from './kubelet-client.ts';

/** As Kubernetes' API server reads. */
const maxRefusalBytes = 50_000;

export class RemoteStreams implements PodStreams {
  readonly #kubelet: KubeletClient;
  readonly #address: () => Promise<KubeletAddress>;

  constructor(kubelet: KubeletClient, address: () => Promise<KubeletAddress>) {
    this.#kubelet = kubelet;
    this.#address = address;
  }

  async logs(pod: Pod, container: string, options: LogOptions): Promise<StreamResult<IncomingMessage>> {
    const path = pathOf(`/containerLogs/${podPath(pod)}/${container}`, logQuery(options));
    const answer = await this.#kubelet.send(await this.#address(), { method: 'GET', path });
    const code = answer.statusCode ?? 0;
    return code >= 200 && code <= 206 ? { ok: true, value: answer } : refusal(answer);
  }

  async exec(pod: Pod, container: string, options: ExecOptions): Promise<StreamResult<Session>> {
    const query = streamQuery(options);
    for (const word of options.command) query.append('command', word);
    return this.#session(pathOf(`/exec/${podPath(pod)}/${container}`, query), options);
  }

  async attach(pod: Pod, container: string, options: AttachOptions): Promise<StreamResult<Session>> {
    return this.#session(pathOf(`/attach/${podPath(pod)}/${container}`, streamQuery(options)), options);
  }

  async portForward(pod: Pod): Promise<StreamResult<PortForwarder>> {
    const switched = await this.#switch(`/portForward/${podPath(pod)}`, portForwardProtocol);
    return 'socket' in switched && 'head' in switched ? { ok: true, value: remotePortForwarder(switched) } : refusal(switched);
  }

  async proxy({ method, path, query, contentType, body }: NodeProxyRequest): Promise<NodeProxyResponse> {
    const answer = await this.#kubelet.send(await this.#address(), {
      method,
      path: query === '' ? path : `${path}?${query}`,
      ...(contentType === undefined ? {} : { headers: { 'content-type': contentType } }),
      ...(body.length === 0 ? {} : { body }),
    });
    return { code: answer.statusCode ?? 502, contentType: answer.headers['content-type'] ?? '', body: answer };
  }

  async #session(path: string, options: AttachOptions): Promise<StreamResult<Session>> {
    const switched = await this.#switch(path, spdyProtocol);
    return 'socket' in switched && 'head' in switched ? { ok: true, value: remoteSession(switched, options) } : refusal(switched);
  }

  async #switch(path: string, protocol: string): Promise<UpgradeResult> {
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol };
    return this.#kubelet.upgrade(await this.#address(), { method: 'POST', path, headers });
  }
}

const podPath = ({ metadata: { namespace = '', name = '' } }: Pod): string => `${namespace}/${name}`;

/** In the order in which Go writes it. */
function pathOf(path: string, query: URLSearchParams): string {
  query.sort();
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function streamQuery({ stdin, stdout, stderr, tty }: AttachOptions): URLSearchParams {
  return queryOf({ error: stderr, input: stdin, output: stdout, tty }, '1');
}

function logQuery({ follow, previous, timestamps, since, tailLines, limitBytes, stream }: LogOptions): URLSearchParams {
  const sinceTime = since === undefined ? undefined : new Date(since).toISOString();
  return queryOf({ follow, limitBytes, previous, sinceTime, stream: stream === 'All' ? undefined : stream, tailLines, timestamps }, 'true');
}

/** What is false or undefined is left out. */
function queryOf(values: Readonly<Record<string, string | number | boolean | undefined>>, yes: string): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined && value !== false) query.append(name, value === true ? yes : String(value));
  return query;
}

async function refusal(answer: IncomingMessage): Promise<StreamRefusal> {
  const chunks: Buffer[] = [];
  let left = maxRefusalBytes;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) break;
  }
  return { ok: false, code: answer.statusCode ?? 500, message: Buffer.concat(chunks).toString() };
}
