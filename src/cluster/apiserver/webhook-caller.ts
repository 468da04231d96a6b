import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { goDialError } from '../../apiserver/dial-errors.ts';
import type { WebhookAnswer, WebhookCall, WebhookCaller } from '../../apiserver/admission/webhooks/caller.ts';

/** The largest answer of a webhook: a patch is about as large as its object, and objects are bounded. */
const MAX_ANSWER = 6 * 1024 * 1024;
/** One agent for each CA bundle. */
const MAX_AGENTS = 64;

/** Calls webhooks over HTTPS. Connections stay open for the next call. */
export function httpsWebhookCaller(): WebhookCaller {
  const agents = new Map<string, Agent>();
  const agentFor = (trusted: string | undefined): Agent => {
    const known = agents.get(trusted ?? '');
    if (known !== undefined) return known;
    if (agents.size >= MAX_AGENTS) stop();
    const agent = new Agent({ keepAlive: true, maxFreeSockets: 16, minVersion: 'TLSv1.2', ...(trusted === undefined ? {} : { ca: trusted }) });
    agents.set(trusted ?? '', agent);
    return agent;
  };
  const stop = (): void => {
    for (const agent of agents.values()) agent.destroy();
    agents.clear();
  };
  return { post: (call) => post(call, agentFor(call.trusted)), stop };
}

function post({ url, dial, body, signal }: WebhookCall, agent: Agent): Promise<WebhookAnswer> {
  const { hostname, port, pathname, search } = new URL(url);
  const named = hostname.replace(/^\[|\]$/g, '');
  const to = dial ?? { host: named, port: port === '' ? 443 : Number(port) };
  const address = `${to.host.includes(':') ? `[${to.host}]` : to.host}:${to.port}`;
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(new Error(goDialError(error, { address, named })));
    const sent = request(
      {
        ...to,
        agent,
        // The certificate of a Service is for its DNS name, not for the IP address that is dialled.
        servername: /^[\d.]+$|:/.test(named) ? '' : named,
        method: 'POST',
        path: `${pathname}${search}`,
        headers: {
          host: `${hostname}${port === '' ? '' : `:${port}`}`,
          accept: 'application/json, */*',
          'content-type': 'application/json',
          'content-length': body.length,
          'user-agent': 'kube-apiserver-admission',
        },
        signal,
      },
      (response) => void collect(response).then(resolve, failed),
    );
    sent.on('error', failed);
    sent.end(body);
  });
}

async function collect(response: IncomingMessage): Promise<WebhookAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER) {
      response.destroy();
      throw new Error(`unexpected error when reading response body. Please retry. Original error: the answer is larger than ${MAX_ANSWER} bytes`);
    }
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, contentType: response.headers['content-type'] ?? '', body: Buffer.concat(chunks) };
}
