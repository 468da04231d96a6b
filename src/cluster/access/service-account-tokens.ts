import type { TokenRequest } from '../../api/generated/types.ts';
import { serviceAccountKind } from '../../api/kinds/core/service-account.ts';
import type { Client, Result } from '../../client/client.ts';
import type { Cancel, World } from '../../world/world.ts';

export interface ServiceAccountTokensOptions {
  readonly world: World;
  /** With the right to create ServiceAccounts and tokens. */
  readonly client: Client;
  readonly namespace: string;
}

const lifetimeSeconds = 3600;
const retryMs = 10_000;

/** Tokens of ServiceAccounts, each renewed long before it expires. A missing ServiceAccount is created. */
export class ServiceAccountTokens {
  readonly #options: ServiceAccountTokensOptions;
  readonly #tokens = new Map<string, string>();
  readonly #renewals = new Map<string, Cancel>();
  readonly #refused = new Set<string>();
  #stopped = false;

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
  }

  /** Fetches a token of this ServiceAccount, and renews it from now on. */
  async hold(account: string): Promise<Result<undefined>> {
    const issued = await this.#request(account);
    if (!issued.ok) return issued;
    this.#tokens.set(account, issued.value.status.token);
    this.#refused.delete(account);
    const left = Date.parse(issued.value.status.expirationTimestamp ?? '') - this.#options.world.clock.now();
    this.#renewIn(account, Math.max(retryMs, (Number.isFinite(left) ? left : lifetimeSeconds * 1000) * 0.8));
    return { ok: true, value: undefined };
  }

  /** @throws if `hold` was not called for it */
  current(account: string): string {
    const token = this.#tokens.get(account);
    if (token === undefined) throw new Error(`no token of ${account} is held`);
    return token;
  }

  /** The server rejects the token: the ServiceAccount was deleted, or the server lost its data. One renewal serves all callers. */
  refused(account: string): void {
    if (this.#refused.has(account)) return;
    this.#refused.add(account);
    this.#renewIn(account, retryMs * this.#options.world.random.float());
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#renewals.values()) cancel();
  }

  #renewIn(account: string, ms: number): void {
    if (this.#stopped) return;
    this.#renewals.get(account)?.();
    const { timers, log } = this.#options.world;
    const cancel = timers.after(ms, () => {
      void this.hold(account).then((held) => {
        if (held.ok) return;
        log.warn('cannot renew a token', { account, error: held.error.message });
        this.#renewIn(account, retryMs);
      });
    });
    this.#renewals.set(account, cancel);
  }

  async #request(account: string): Promise<Result<TokenRequest>> {
    const first = await this.#ask(account);
    if (first.ok || first.reason !== 'notFound') return first;
    const { client, namespace } = this.#options;
    const made = await client.create(serviceAccountKind, { metadata: { namespace, name: account } });
    if (!made.ok && made.reason !== 'alreadyExists') return made;
    return this.#ask(account);
  }

  #ask(name: string): Promise<Result<TokenRequest>> {
    const { client, namespace } = this.#options;
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: lifetimeSeconds } };
    return client.createSubresource<TokenRequest>(serviceAccountKind, { namespace, name, subresource: 'token' }, request);
  }
}
