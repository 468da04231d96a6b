/** Authentication and authorization of the kubelet API by the API server (a kubelet's webhook mode). */
import { createHash } from 'node:crypto';
import type { SubjectAccessReview, TokenReview } from '../../api/generated/types.ts';
import { reviewKinds } from '../../api/kinds/authorization/reviews.ts';
import type { Client } from '../../client/client.ts';
import type { Clock } from '../../world/world.ts';

export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, string[]>>;
}

export interface Credentials {
  /** The subject of a verified client certificate; undefined: there is none. */
  readonly subject: { readonly CN?: unknown; readonly O?: unknown } | undefined;
  /** The Authorization header. */
  readonly authorization: string | undefined;
}

export interface AccessQuestion {
  readonly verb: string;
  readonly subresources: readonly string[];
}

export interface WebhookAuthOptions {
  /** Under the node's own name. */
  readonly client: Client;
  readonly node: string;
  readonly clock: Clock;
}

/** The kubelet's defaults. */
const allowedMs = 5 * 60_000;
const deniedMs = 30_000;
const tokenMs = 2 * 60_000;
/** Answers in the cache. */
const mostRemembered = 1000;

export class WebhookAuth {
  readonly #options: WebhookAuthOptions;
  readonly #tokens: AnswerCache<Caller | undefined>;
  readonly #decisions: AnswerCache<boolean>;

  constructor(options: WebhookAuthOptions) {
    this.#options = options;
    this.#tokens = new AnswerCache(options.clock);
    this.#decisions = new AnswerCache(options.clock);
  }

  /** Undefined: not authenticated. @throws Error if the API server cannot be reached */
  async authenticate({ subject, authorization }: Credentials): Promise<Caller | undefined> {
    const name = typeof subject?.CN === 'string' ? subject.CN : '';
    if (name !== '') return { name, groups: [...[subject?.O ?? []].flat().filter((each) => typeof each === 'string'), 'system:authenticated'] };
    const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return undefined;
    // Tokens are kept as hashes only.
    return this.#tokens.recall(
      createHash('sha256').update(token).digest('hex'),
      () => tokenMs,
      () => this.#ownerOf(token),
    );
  }

  /** Whether the client may use one of these subresources of the Node. @throws Error if the API server cannot be reached */
  async authorize(caller: Caller, { verb, subresources }: AccessQuestion): Promise<boolean> {
    for (const subresource of subresources) {
      const key = JSON.stringify([caller, verb, subresource]);
      const isAllowed = await this.#decisions.recall(
        key,
        (allowed) => (allowed ? allowedMs : deniedMs),
        () => this.#ask(caller, { verb, subresource }),
      );
      if (isAllowed) return true;
    }
    return false;
  }

  async #ownerOf(token: string): Promise<Caller | undefined> {
    const review = await this.#options.client.createReview<TokenReview>(reviewKinds.token, { spec: { token } });
    if (!review.ok) throw new Error(`cannot ask whose token it is: ${review.error.message}`);
    const { authenticated, user } = review.value.status;
    if (authenticated !== true || user.username === undefined) return undefined;
    return {
      name: user.username,
      groups: user.groups ?? [],
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      ...(user.extra === undefined ? {} : { extra: user.extra }),
    };
  }

  async #ask({ name: user, uid, groups, extra }: Caller, { verb, subresource }: { verb: string; subresource: string }): Promise<boolean> {
    const { client, node } = this.#options;
    const spec = {
      user,
      groups: [...groups],
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
      resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: node },
    };
    const review = await client.createReview<SubjectAccessReview>(reviewKinds.access, { spec });
    if (!review.ok) throw new Error(`cannot ask whether ${user} may ${verb} nodes/${subresource}: ${review.error.message}`);
    return review.value.status.allowed;
  }
}

/** Answers with a time to live; the oldest are removed first. */
class AnswerCache<T> {
  readonly #clock: Clock;
  readonly #answers = new Map<string, { readonly answer: T; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async recall(key: string, validMs: (answer: T) => number, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(key);
    if (known !== undefined && known.until > this.#clock.now()) return known.answer;
    const answer = await ask();
    this.#answers.delete(key);
    this.#answers.set(key, { answer, until: this.#clock.now() + validMs(answer) });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > mostRemembered && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }
}
