import type { NetworkPolicy, Pod } from '../../api/generated/types.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { networkPolicyKind } from '../../api/kinds/networking/network-policy.ts';
import type { KubeObject } from '../../api/object.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import type { Cache, Change } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { NftablesTable } from '../network/nftables/table.ts';
import { policyRules, type PolicyPod } from './policy-rules.ts';

export interface NetworkPoliciesOptions<P extends PolicyPod> {
  readonly world: World;
  /** Of NetworkPolicies and namespaces. */
  readonly informers: Informers;
  /** Of all nodes. */
  readonly pods: Cache<P>;
  /** The nodes whose pods are on this machine. */
  readonly nodes: ReadonlySet<string>;
  readonly table: Pick<NftablesTable, 'replace' | 'flushed' | 'has' | 'release'>;
  /** Some rules of the policy permit nothing: they are too many. */
  readonly onTooLarge: (policy: NetworkPolicy) => void;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** A pod whose policies are not in the kernel by then is tried again later. */
const longestWaitMs = 10_000;
/** Addresses of pods whose status does not name them yet. */
const mostAssigned = 10_000;

const ownerOf = (namespace: string): string => `policies ${namespace}`;

/**
 * Keeps the kernel's table in step with NetworkPolicies. Without policies, a change of a pod costs nothing.
 *
 * Guarantees
 * - No container of a pod runs before the kernel has the policies that select the pod, as far as this process has heard of them.
 * - Until the first policies are in the kernel, and while the kernel refuses those of a namespace, their pods begin and accept no connections.
 */
export class NetworkPolicies<P extends PolicyPod> {
  readonly #options: NetworkPoliciesOptions<P>;
  readonly #cancels: readonly Cancel[];
  readonly #applied = new Set<string>();
  /** By the pod's uid. */
  readonly #assigned = new RecentMap<string, string>(mostAssigned);
  readonly #synced: Promise<void>;
  #planned: Promise<void> | undefined;

  constructor(options: NetworkPoliciesOptions<P>) {
    this.#options = options;
    const { informers, pods } = options;
    this.#cancels = [
      informers.cache(networkPolicyKind).subscribe(() => void this.#plan()),
      informers.cache(namespaceKind).subscribe((change) => this.#changed(change, ({ metadata }) => sortedJson(metadata.labels ?? {}))),
      pods.subscribe((change) => this.#changed(change, addressedAs)),
    ];
    this.#synced = informers.synced().then(() => {
      this.#sync();
      options.table.release();
    });
  }

  /** Resolves once the kernel has the policies of a pod that gets this address; with the reason if it has not. */
  async admit(pod: Pod, address: string): Promise<string | undefined> {
    const { world, informers, table } = this.#options;
    const { namespace = '', uid = '' } = pod.metadata;
    this.#assigned.set(uid, address);
    const ended = new AbortController();
    const program = async (): Promise<void> => {
      await this.#synced;
      // The node has heard of the pod, and so of policies before it; this process' caches may be behind.
      await this.#cached(pod, ended.signal);
      if (informers.cache(networkPolicyKind).inNamespace(namespace).length === 0) return;
      await this.#plan();
      await table.flushed();
    };
    const inTime = await within(world, program());
    ended.abort();
    return inTime && table.has(ownerOf(namespace)) ? undefined : 'the NetworkPolicies of the pod are not in the kernel yet';
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  /** The policies of an owner in the table, if it is a namespace. */
  refused(owner: string): readonly NetworkPolicy[] {
    const all = this.#options.informers.cache(networkPolicyKind);
    return [...this.#applied].filter((namespace) => ownerOf(namespace) === owner).flatMap((namespace) => all.inNamespace(namespace));
  }

  #cached({ metadata }: Pod, ended: AbortSignal): Promise<void> {
    const { uid, namespace = '', name = '' } = metadata;
    const { pods } = this.#options;
    if (pods.get({ namespace, name })?.metadata.uid === uid) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = pods.subscribe(({ after }) => {
        if (after?.metadata.uid === uid) resolve();
      });
      ended.addEventListener('abort', cancel);
    });
  }

  #changed<T extends KubeObject>(change: Change<T>, matters: (object: T) => string): void {
    if (this.#options.informers.cache(networkPolicyKind).size === 0 && this.#applied.size === 0) return;
    const [before, after] = [change.before, change.after].map((object) => (object === undefined ? '' : matters(object)));
    if (before !== after) void this.#plan();
  }

  #plan(): Promise<void> {
    this.#planned ??= new Promise((resolve) =>
      this.#options.world.timers.soon(() => {
        this.#planned = undefined;
        this.#sync();
        resolve();
      }),
    );
    return this.#planned;
  }

  /** A pod may be a peer in every namespace. */
  #sync(): void {
    const { informers, pods: cache, nodes, table, sha256, onTooLarge } = this.#options;
    const namespaces = informers.cache(namespaceKind);
    const pods: readonly PolicyPod[] = [...cache.list()];
    const all = informers.cache(networkPolicyKind);
    const withPolicies = Array.from(all.list(), ({ metadata }) => metadata.namespace ?? '');
    for (const namespace of new Set([...this.#applied, ...withPolicies])) {
      const policies: readonly NetworkPolicy[] = all.inNamespace(namespace);
      const part = policyRules({
        namespace,
        policies,
        pods,
        sha256,
        namespaceLabels: (name) => namespaces.getKey(name)?.metadata.labels,
        localPods: cache
          .inNamespace(namespace)
          .filter(({ spec }) => nodes.has(spec.nodeName ?? ''))
          .map((pod) => this.#withAddress(pod)),
      });
      part?.tooLarge.forEach(onTooLarge);
      if (part === undefined) this.#applied.delete(namespace);
      else this.#applied.add(namespace);
      table.replace(ownerOf(namespace), part);
    }
  }

  /** The node assigns an address before the pod's status names it. */
  #withAddress(pod: PolicyPod): PolicyPod {
    const podIP = (pod.status.podIP ?? '') === '' ? this.#assigned.get(pod.metadata.uid ?? '') : undefined;
    return podIP === undefined ? pod : { ...pod, status: { ...pod.status, podIP } };
  }
}

/** False: it has not ended in time. */
function within(world: World, work: Promise<void>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = world.timers.after(longestWaitMs, () => resolve(false));
    work.then(() => resolve(true), reject).finally(cancel);
  });
}

/** What of a pod a policy can depend on. */
const addressedAs = ({ metadata, spec, status }: PolicyPod): string =>
  sortedJson([metadata.labels ?? {}, status.podIP ?? '', status.phase ?? '', spec.nodeName ?? '']);
