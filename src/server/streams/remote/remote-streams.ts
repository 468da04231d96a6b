/** What a node elsewhere offers of its pods, asked of its own endpoint by a kubelet's paths and protocols: HTTP for logs, SPDY for the rest. */
import type { IncomingMessage } from 'node:http';
import type { Pod } from '../../../api/generated/types.ts';
import type {
  AttachOptions,
  ExecOptions,
  LogOptions,
  PageAnswer,
  PageRequest,
  PodStreams,
  Ports,
  Refusal,
  Session,
  Streamed,
} from '../../../streams/contract.ts';
import { portForwardProtocol } from '../../../streams/port-forward.ts';
import { spdyProtocol } from '../../../streams/remote-command.ts';
import { remotePorts, remoteSession } from '../../../streams/spdy-client.ts';
import type { NodeAddress } from './node-address.ts';
import type { NodeCaller, Switched } from './node-caller.ts';

/** So much of a refusal is read, as by API servers of Kubernetes. */
const mostRefusal = 50_000;

export class RemoteStreams implements PodStreams {
  readonly #caller: NodeCaller;
  readonly #address: () => Promise<NodeAddress>;

  constructor(caller: NodeCaller, address: () => Promise<NodeAddress>) {
    this.#caller = caller;
    this.#address = address;
  }

  async logs(pod: Pod, container: string, options: LogOptions): Promise<Streamed<IncomingMessage>> {
    const path = pathOf(`/containerLogs/${placeOf(pod)}/${container}`, logQuery(options));
    const answer = await this.#caller.send(await this.#address(), { method: 'GET', path });
    const code = answer.statusCode ?? 0;
    return code >= 200 && code <= 206 ? { ok: true, value: answer } : refusal(answer);
  }

  async exec(pod: Pod, container: string, options: ExecOptions): Promise<Streamed<Session>> {
    const query = streamQuery(options);
    for (const word of options.command) query.append('command', word);
    return this.#session(pathOf(`/exec/${placeOf(pod)}/${container}`, query), options);
  }

  async attach(pod: Pod, container: string, options: AttachOptions): Promise<Streamed<Session>> {
    return this.#session(pathOf(`/attach/${placeOf(pod)}/${container}`, streamQuery(options)), options);
  }

  async ports(pod: Pod): Promise<Streamed<Ports>> {
    const switched = await this.#switch(`/portForward/${placeOf(pod)}`, portForwardProtocol);
    return 'socket' in switched && 'head' in switched ? { ok: true, value: remotePorts(switched) } : refusal(switched);
  }

  async page({ method, path, query, contentType, body }: PageRequest): Promise<PageAnswer> {
    const answer = await this.#caller.send(await this.#address(), {
      method,
      path: query === '' ? path : `${path}?${query}`,
      ...(contentType === undefined ? {} : { headers: { 'content-type': contentType } }),
      ...(body.length === 0 ? {} : { body }),
    });
    return { code: answer.statusCode ?? 502, contentType: answer.headers['content-type'] ?? '', body: answer };
  }

  async #session(path: string, options: AttachOptions): Promise<Streamed<Session>> {
    const switched = await this.#switch(path, spdyProtocol);
    return 'socket' in switched && 'head' in switched ? { ok: true, value: remoteSession(switched, options) } : refusal(switched);
  }

  async #switch(path: string, protocol: string): Promise<Switched> {
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol };
    return this.#caller.switch(await this.#address(), { method: 'POST', path, headers });
  }
}

const placeOf = ({ metadata: { namespace = '', name = '' } }: Pod): string => `${namespace}/${name}`;

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

async function refusal(answer: IncomingMessage): Promise<Refusal> {
  const chunks: Buffer[] = [];
  let left = mostRefusal;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) break;
  }
  return { ok: false, code: answer.statusCode ?? 500, message: Buffer.concat(chunks).toString() };
}
