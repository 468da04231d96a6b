import type { EndpointSlice, Service } from '../../api/generated/types.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import { endpointSliceKind } from '../../api/kinds/discovery/endpoint-slice.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { Cache, Index } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { HostNetwork } from '../../world/host-network.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { RulesetPart } from '../network/nftables/ruleset.ts';
import type { ProxyLocation } from './endpoints.ts';
import { serviceRules } from './service-rules.ts';
import { removeFlows, udpEndpoints } from './udp-flows.ts';

export interface ServiceProxyOptions {
  readonly world: World;
  readonly informers: Informers;
  readonly location: ProxyLocation;
  /** The table in the kernel, or what stands for it. */
  readonly table: { replace(owner: string, part: RulesetPart | undefined): void; flushed(): Promise<void> };
  readonly network: Pick<HostNetwork, 'conntrack'>;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** kube-proxy: keeps the kernel's table in step with Services and EndpointSlices. A change of one Service computes, and sends, its rules alone. */
export class ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #services: Cache<Service>;
  readonly #slices: Index<EndpointSlice>;
  readonly #cancels: readonly Cancel[];
  #dirty = new Set<string>();
  /** The endpoints of UDP, by Service. */
  readonly #udp = new Map<string, ReadonlySet<string>>();
  /** Without conntrack(8), none. One process after the other. */
  #canForget = true;
  #forgetting: Promise<void> = Promise.resolve();

  constructor(options: ServiceProxyOptions) {
    this.#options = options;
    this.#services = options.informers.cache(serviceKind);
    const slices = options.informers.cache(endpointSliceKind);
    this.#slices = slices.addIndex(serviceOfSlice);
    this.#cancels = [
      this.#services.subscribe(({ before, after }) =>
        this.#changed(keysOf([before, after], ({ metadata }) => [`${metadata.namespace ?? ''}/${metadata.name}`])),
      ),
      slices.subscribe(({ before, after }) => this.#changed(keysOf([before, after], serviceOfSlice))),
    ];
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  /** What changes in one task is computed together. */
  #changed(keys: readonly string[]): void {
    if (this.#dirty.size === 0 && keys.length > 0) this.#options.world.timers.soon(() => this.#sync());
    for (const key of keys) this.#dirty.add(key);
  }

  #sync(): void {
    const keys = this.#dirty;
    this.#dirty = new Set();
    for (const key of keys) this.#options.table.replace(ownerOf(key), this.#part(key));
    const gone = [...keys].flatMap((key) => this.#goneUdp(key));
    if (gone.length > 0) this.#forgetting = this.#forgetting.then(() => this.#forgetFlows(gone));
  }

  /** Endpoints of UDP that the Service no longer has. */
  #goneUdp(key: string): readonly string[] {
    const service = this.#services.getKey(key);
    const before = this.#udp.get(key);
    const after = service === undefined ? undefined : udpEndpoints({ service, slices: this.#slices.get(key), location: this.#options.location });
    if (after === undefined || after.size === 0) this.#udp.delete(key);
    else this.#udp.set(key, after);
    return [...(before ?? [])].filter((endpoint) => after?.has(endpoint) !== true);
  }

  /** A packet before the new rules would make the entry again. */
  async #forgetFlows(gone: readonly string[]): Promise<void> {
    const { world, table, network } = this.#options;
    await table.flushed();
    for (const endpoint of gone) {
      const error = this.#canForget ? await network.conntrack(removeFlows(endpoint)) : '';
      if (error === '') continue;
      this.#canForget = false;
      world.log.warn('clients of UDP Services may go on sending to pods that are gone: entries of connection tracking cannot be removed', { error });
    }
  }

  #part(key: string): RulesetPart | undefined {
    const { world, location, sha256 } = this.#options;
    const service = this.#services.getKey(key);
    const rules = service === undefined ? undefined : serviceRules({ service, slices: this.#slices.get(key), location, sha256 });
    if (rules === undefined || rules.ok) return rules?.part;
    world.log.warn('a Service is not served', { service: key, reason: rules.problem });
    return undefined;
  }
}

const ownerOf = (service: string): string => `service ${service}`;

/** By its label. */
export function serviceOfSlice({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata.labels?.['kubernetes.io/service-name'] ?? '';
  return name === '' ? [] : [`${metadata.namespace ?? ''}/${name}`];
}

const keysOf = <T extends KubeObject>(objects: readonly (Stored<T> | undefined)[], of: (object: Stored<T>) => readonly string[]): readonly string[] =>
  objects.flatMap((object) => (object === undefined ? [] : of(object)));
