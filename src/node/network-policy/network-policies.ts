import type { NetworkPolicy, Pod } from '../../api/generated/types.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { networkPolicyKind } from '../../api/kinds/networking/network-policy.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import type { Change } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { RulesetPart } from '../network/nftables/ruleset.ts';
import { policyRules } from './policy-rules.ts';

export interface NetworkPoliciesOptions {
  readonly world: World;
  readonly informers: Informers;
  /** The nodes whose pods are on this machine. */
  readonly nodes: ReadonlySet<string>;
  readonly table: { replace(owner: string, part: RulesetPart | undefined): void };
  /** Some rules of the policy permit nothing: they are too many. */
  readonly onTooLarge: (policy: NetworkPolicy) => void;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** Keeps the kernel's table in step with NetworkPolicies. Without policies, a change of a pod costs nothing. */
export class NetworkPolicies {
  readonly #options: NetworkPoliciesOptions;
  readonly #cancels: readonly Cancel[];
  readonly #applied = new Set<string>();
  #isPlanned = false;

  constructor(options: NetworkPoliciesOptions) {
    this.#options = options;
    const { informers } = options;
    this.#cancels = [
      informers.cache(networkPolicyKind).subscribe(() => this.#plan()),
      informers.cache(namespaceKind).subscribe((change) => this.#changed(change, ({ metadata }) => sortedJson(metadata.labels ?? {}))),
      informers.cache(podKind).subscribe((change) => this.#changed(change, addressedAs)),
    ];
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  #changed<T extends KubeObject>(change: Change<T>, matters: (object: T) => string): void {
    if (this.#options.informers.cache(networkPolicyKind).size === 0 && this.#applied.size === 0) return;
    const [before, after] = [change.before, change.after].map((object) => (object === undefined ? '' : matters(object)));
    if (before !== after) this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#options.world.timers.soon(() => {
      this.#isPlanned = false;
      this.#sync();
    });
  }

  /** A pod may be a peer in every namespace. */
  #sync(): void {
    const { informers, nodes, table, sha256, onTooLarge } = this.#options;
    const namespaces = informers.cache(namespaceKind);
    const pods: readonly Pod[] = [...informers.cache(podKind).list()];
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
        localPods: informers
          .cache(podKind)
          .inNamespace(namespace)
          .filter(({ spec }) => nodes.has(spec.nodeName ?? '')),
      });
      part?.tooLarge.forEach(onTooLarge);
      if (part === undefined) this.#applied.delete(namespace);
      else this.#applied.add(namespace);
      table.replace(`policies ${namespace}`, part);
    }
  }
}

/** What of a pod a policy can depend on. */
const addressedAs = ({ metadata, spec, status }: Pod): string =>
  sortedJson([metadata.labels ?? {}, status.podIP ?? '', status.phase ?? '', spec.nodeName ?? '']);
