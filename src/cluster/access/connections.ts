import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { createClient, type Result } from '../../client/client.ts';
import { type HttpAccess, HttpTransport } from '../../client/http-transport.ts';
import type { Transport } from '../../client/transport.ts';
import type { World } from '../../world/world.ts';
import type { ControllerName } from './controller-roles.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { version } from '../version.ts';

export interface ControllerConnectionsOptions {
  readonly access: HttpAccess;
  readonly world: World;
}

/**
 * The controllers' connections to an API server elsewhere. Each controller acts under its own ServiceAccount if the server issues tokens for them
 * and accepts these; else all of them act as the user of the kubeconfig.
 */
export class ControllerConnections {
  /** As the user of the kubeconfig. */
  readonly own: Transport;
  readonly #options: ControllerConnectionsOptions;
  readonly #open = new Map<string, HttpTransport>();
  readonly #tokens: ServiceAccountTokens;
  #underAccounts = false;

  constructor(options: ControllerConnectionsOptions) {
    this.#options = options;
    this.own = this.#opened('controllers', () => ({ access: options.access }));
    this.#tokens = new ServiceAccountTokens({ world: options.world, client: createClient({ transport: this.own }), namespace: 'kube-system' });
  }

  /** Decides as which users the controllers act. @throws if the server does not answer */
  async identify(names: readonly ControllerName[]): Promise<void> {
    const { log } = this.#options.world;
    const refusal = await this.#tryAccounts(names);
    this.#underAccounts = refusal === undefined;
    if (refusal === undefined) log.info('each controller acts under its own service account', { namespace: 'kube-system' });
    else log.info('the controllers act as the user of the kubeconfig', { why: refusal });
  }

  readonly connect = (name: ControllerName): Transport => {
    if (!this.#underAccounts) return this.#opened(name, () => ({ access: this.#options.access }));
    const { cert: _cert, key: _key, token: _token, ...access } = this.#options.access;
    const transport = this.#opened(name, () => ({ access, token: () => this.#tokens.current(name) }));
    return reportingUnauthorized(transport, () => this.#tokens.refused(name));
  };

  close(): void {
    this.#tokens.stop();
    for (const transport of this.#open.values()) transport.close();
  }

  /** Why ServiceAccounts cannot be used; undefined: they can. */
  async #tryAccounts(names: readonly ControllerName[]): Promise<string | undefined> {
    for (const name of names) {
      const refusal = refusalOf(await this.#tokens.hold(name));
      if (refusal !== undefined) return refusal;
    }
    this.#underAccounts = true;
    const informers = createClient({ transport: this.connect('moor-informers') });
    return refusalOf(await informers.list(persistentVolumeKind, { limit: 1 }));
  }

  #opened(name: string, how: () => { readonly access: HttpAccess; readonly token?: () => string }): HttpTransport {
    const { world } = this.#options;
    const transport = this.#open.get(name) ?? new HttpTransport({ ...how(), world, userAgent: `moor/${version} (${name})` });
    this.#open.set(name, transport);
    return transport;
  }
}

/** @throws errors that say nothing about permission: a later request may succeed */
function refusalOf(result: Result<unknown>): string | undefined {
  if (result.ok) return undefined;
  if (result.reason === 'unreachable' || result.reason === 'overloaded') throw result.error;
  return result.error.message;
}

/** Calls `refused` when the server answers 401 Unauthorized. */
function reportingUnauthorized(transport: Transport, refused: () => void): Transport {
  return {
    async send(request) {
      const answer = await transport.send(request);
      if (answer.type === 'failed' && answer.error.code === 401) refused();
      return answer;
    },
    watch: (request, sink) =>
      transport.watch(request, {
        events: (batch) => sink.events(batch),
        end: (error) => {
          if (error?.code === 401) refused();
          sink.end(error);
        },
      }),
  };
}
