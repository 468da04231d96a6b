import type { Node } from '../../../api/generated/types.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import { resourceRequestInfo } from '../../../api/request-info.ts';
import { statusErrors } from '../../../api/status.ts';
import type { World } from '../../../world/world.ts';
import type { Api } from '../../api.ts';
import type { KeyPair } from '../../certificates/certificate-files.ts';
import { kubeletClientUser } from '../../authorization/rbac/default-policy.ts';
import { kubeletAddress, type KubeletAddress } from './node-address.ts';
import { KubeletClient } from './kubelet-client.ts';
import { RemoteStreams } from './remote-streams.ts';

export interface RemoteNodesOptions {
  readonly api: Api;
  /** The cluster's: nodes are believed by it, and believe by it. */
  readonly authority: KeyPair;
  readonly world: World;
}

const days = 24 * 60 * 60_000;
const validMs = 30 * days;

/** Nodes in other processes, reached at the addresses in their status. */
export class RemoteNodes {
  readonly #options: RemoteNodesOptions;
  readonly #kubelets: KubeletClient;
  #identity: { readonly pair: Promise<KeyPair>; readonly renewAt: number } | undefined;

  constructor(options: RemoteNodesOptions) {
    this.#options = options;
    const { authority, world } = options;
    this.#kubelets = new KubeletClient({ authority: authority.certificate, identity: () => this.#own(), world });
  }

  streams(node: string): RemoteStreams {
    return new RemoteStreams(this.#kubelets, () => this.#address(node));
  }

  /** @throws ApiError if there is no such node, or nothing that could be asked */
  async #address(name: string): Promise<KubeletAddress> {
    const response = await this.#options.api.handle({
      info: resourceRequestInfo('get', nodeKind, { name }),
      query: new URLSearchParams(),
      user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
      body: { type: 'none' },
      userAgent: 'moor/streams',
    });
    if (response.type !== 'object') throw statusErrors.notFound(nodeKind, name);
    return kubeletAddress(response.stored.object as Node);
  }

  /** The key exists in this process alone. */
  #own(): Promise<KeyPair> {
    const now = this.#options.world.clock.now();
    if (this.#identity === undefined || now >= this.#identity.renewAt) {
      const pair = this.#issue(now);
      this.#identity = { pair, renewAt: now + validMs / 2 };
      pair.catch(() => (this.#identity = undefined));
    }
    return this.#identity.pair;
  }

  async #issue(now: number): Promise<KeyPair> {
    const { issueCertificate } = await import('../../certificates/issue-certificates.ts');
    const validity = { notBefore: now - days, notAfter: now + validMs };
    return issueCertificate({ type: 'client', name: kubeletClientUser, groups: [], ...validity, authority: this.#options.authority });
  }
}
