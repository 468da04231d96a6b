import { type Credentials, signRequest } from '../../aws/signature-v4.ts';
import type { World } from '../../world/world.ts';
import { child, type Element, parseXml, textOf } from './xml.ts';

/** Sends one POST. Rejects if there is no answer. */
export type Ec2Transport = (request: {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}) => Promise<{ readonly status: number; readonly body: string }>;

export interface Ec2ClientOptions {
  readonly world: World;
  readonly transport: Ec2Transport;
  /** Of the endpoint: 'ec2.eu-west-2.amazonaws.com'. */
  readonly host: string;
  readonly region: string;
  readonly credentials: () => Promise<Credentials> | Credentials;
}

/** An error that EC2 answered with. */
export class Ec2Error extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(`api error ${code}: ${message}`);
    this.code = code;
  }
}

export type QueryValue = string | number | boolean | undefined | QueryRecord | readonly QueryValue[];
export interface QueryRecord {
  readonly [name: string]: QueryValue;
}

const version = '2016-11-15';
/** Codes after which the same request may succeed: the SDKs' own list, as far as EC2 has them. */
const retryable: ReadonlySet<string> = new Set(['RequestLimitExceeded', 'Throttling', 'InternalError', 'ServiceUnavailable', 'Unavailable']);
const attempts = 4;
const firstDelayMs = 250;
const longestDelayMs = 5000;

/** EC2's query protocol with Signature Version 4: as much of an SDK as the driver needs. */
export class Ec2Client {
  readonly #options: Ec2ClientOptions;

  constructor(options: Ec2ClientOptions) {
    this.#options = options;
  }

  /** @throws Ec2Error, and what the transport throws */
  async call(action: string, parameters: QueryRecord): Promise<Element> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send(action, parameters);
      } catch (error) {
        // A connection that breaks is tried again as well: every call of the driver is idempotent, by a token or by what it names.
        const isWorthwhile = error instanceof Ec2Error ? retryable.has(error.code) : true;
        if (!isWorthwhile || attempt >= attempts) throw error;
        const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** attempt);
        await this.#pause(ceiling * (0.5 + this.#options.world.random.float() / 2));
      }
    }
  }

  async #send(action: string, parameters: QueryRecord): Promise<Element> {
    const { transport, host, region, credentials, world } = this.#options;
    const body = new URLSearchParams([['Action', action], ['Version', version], ...pairsOf(parameters, '')]).toString();
    const request = { method: 'POST', path: '/', headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', host }, body };
    const headers = signRequest(request, { credentials: await credentials(), region, service: 'ec2', now: world.clock.now() });
    const answer = await transport({ headers, body });
    const root = parseXml(answer.body);
    if (answer.status === 200 && root !== undefined) return root;
    const error = child(child(root, 'Errors'), 'Error');
    throw new Ec2Error(textOf(error, 'Code') || `HTTP ${answer.status}`, textOf(error, 'Message') || answer.body.slice(0, 200));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.world.timers.after(ms, resolve));
  }
}

/** Lists are numbered from 1; what is undefined is left out. */
function pairsOf(value: QueryValue, path: string): readonly [string, string][] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return (value as readonly QueryValue[]).flatMap((each, i) => pairsOf(each, `${path}.${i + 1}`));
  if (typeof value === 'object') return Object.entries(value).flatMap(([name, each]) => pairsOf(each, path === '' ? name : `${path}.${name}`));
  return [[path, String(value)]];
}
