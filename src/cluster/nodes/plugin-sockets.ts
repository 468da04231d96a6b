import type { Cancel } from '../../world/world.ts';

/** A CSI driver that registered at a node of this process. */
export interface PluginEndpoint {
  readonly driver: string;
  readonly node: string;
  /** 'unix:///path' */
  readonly address: string;
}

/** Where the sockets of CSI drivers are: where they registered, or else in the kubelet's directory of plugins. */
export class PluginSockets {
  readonly #root: string;
  readonly #registered = new Map<string, PluginEndpoint>();
  readonly #listeners = new Set<(driver: string) => void>();

  /** `root`: the nodes' --root-dir. */
  constructor(root = '/var/lib/kubelet') {
    this.#root = root;
  }

  /** A driver that registers at several nodes has its controllers at the first. Its socket stays known: it comes back there. */
  register(endpoint: PluginEndpoint): void {
    const known = this.#registered.get(endpoint.driver);
    if (known !== undefined && (known.node !== endpoint.node || known.address === endpoint.address)) return;
    this.#registered.set(endpoint.driver, endpoint);
    for (const listener of this.#listeners) listener(endpoint.driver);
  }

  addressOf(driver: string): string {
    return this.#registered.get(driver)?.address ?? `unix://${this.#root}/plugins/${driver}/csi.sock`;
  }

  /** `listener`: called with the name of a driver whose address changed. */
  onChange(listener: (driver: string) => void): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
