/** The NetworkPolicies of a namespace, and the pods that they select on this machine → their part of the table. */
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, Pod } from '../../api/generated/types.ts';
import type { PodAddress } from '../../api/kinds/mooring/pod-address.ts';
import { labelSelectorOf, type Labels, matchesLabels } from '../../api/selectors/label-selector.ts';
import { ipv4Address, ipv4Network } from '../network/ipv4.ts';
import type { RulesetPart } from '../network/nftables/ruleset.ts';
import { sets } from '../network/table.ts';

/** What policies read of a pod, wherever it comes from. */
export type PolicyPod = Pod | PodAddress;

export interface PolicySnapshot {
  readonly namespace: string;
  /** Of the namespace. */
  readonly policies: readonly NetworkPolicy[];
  /** Of the whole cluster: each may be a peer. */
  readonly pods: readonly PolicyPod[];
  /** Labels of namespaces, by name. */
  readonly namespaceLabels: (namespace: string) => Labels | undefined;
  /** Of the namespace, on this machine. */
  readonly localPods: readonly PolicyPod[];
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

export interface PolicyPart extends RulesetPart {
  /** Policies of which some rules permit nothing, because they would be too many. */
  readonly tooLarge: ReadonlySet<NetworkPolicy>;
}

type Direction = 'ingress' | 'egress';
/** Of one policy for one pod and direction: peers times ports. A user of one namespace may write millions of them in one object. */
const mostRules = 10_000;
const protocols: ReadonlyMap<string, string> = new Map([
  ['TCP', 'tcp'],
  ['UDP', 'udp'],
  ['SCTP', 'sctp'],
]);

/**
 * A pod that a policy selects has a chain for each direction: what a rule permits returns to the table's chain `policies`, where the other direction is decided;
 * everything else is dropped. Undefined: no pod is selected.
 */
export function policyRules(snapshot: PolicySnapshot): PolicyPart | undefined {
  const { policies, localPods, sha256 } = snapshot;
  const draft = new PolicyDraft(snapshot);
  for (const pod of localPods) {
    const [ip] = ipv4Address(pod.status.podIP ?? '');
    if (ip === undefined || !hasOwnNetwork(pod)) continue;
    const selecting = policies.filter(({ spec }) => matchesLabels(labelSelectorOf(spec.podSelector), pod.metadata.labels));
    for (const direction of ['ingress', 'egress'] as const) {
      const isolating = selecting.filter((policy) => typesOf(policy).has(direction));
      if (isolating.length === 0) continue;
      const chain = `${direction}-${sha256(pod.metadata.uid ?? '').slice(0, 16)}`;
      draft.chains.set(chain, [...isolating.flatMap((policy) => draft.permitted(policy, direction, pod)), 'drop']);
      draft.element(direction === 'ingress' ? sets.ingressPolicies : sets.egressPolicies, ip, `jump ${chain}`);
    }
  }
  return draft.chains.size === 0 ? undefined : draft;
}

/** Pods on the host's network are no pods to a policy, and those that have ended have no address any more. */
const hasOwnNetwork = ({ spec, status }: PolicyPod): boolean => spec.hostNetwork !== true && status.phase !== 'Succeeded' && status.phase !== 'Failed';

function typesOf({ spec }: NetworkPolicy): ReadonlySet<Direction> {
  const types = spec.policyTypes ?? ['Ingress', ...((spec.egress ?? []).length > 0 ? ['Egress'] : [])];
  return new Set(types.flatMap((type): readonly Direction[] => (type === 'Ingress' ? ['ingress'] : type === 'Egress' ? ['egress'] : [])));
}

class PolicyDraft implements PolicyPart {
  readonly tooLarge = new Set<NetworkPolicy>();
  readonly chains = new Map<string, readonly string[]>();
  readonly sets = new Map<string, string>();
  readonly elements = new Map<string, Map<string, string>>();
  readonly #snapshot: PolicySnapshot;

  constructor(snapshot: PolicySnapshot) {
    this.#snapshot = snapshot;
  }

  /** The same pods, isolated from everything. */
  get ifRefused(): RulesetPart {
    const isolating = [sets.ingressPolicies, sets.egressPolicies].map((set) => [set, this.elements.get(set) ?? new Map<string, string>()] as const);
    return { chains: new Map(Array.from(this.chains.keys(), (chain) => [chain, ['drop']])), elements: new Map(isolating) };
  }

  element(set: string, key: string, value: string): void {
    let elements = this.elements.get(set);
    if (elements === undefined) {
      elements = new Map();
      this.elements.set(set, elements);
    }
    elements.set(key, value);
  }

  /** The rules by which a policy permits packets of a pod. */
  permitted(policy: NetworkPolicy, direction: Direction, pod: PolicyPod): readonly string[] {
    const { metadata, spec } = policy;
    let left = mostRules;
    const rules =
      direction === 'ingress'
        ? (spec.ingress ?? []).map(({ from = [], ports = [] }) => ({ peers: from, ports }))
        : (spec.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports }));
    return rules.flatMap(({ peers, ports }, index) => {
      const name = `${direction}-${this.#snapshot.sha256(`${metadata.namespace ?? ''}/${metadata.name ?? ''}`).slice(0, 16)}-${index}`;
      const [numbered, named] = [ports.filter(({ port }) => typeof port !== 'string'), ports.filter(({ port }) => typeof port === 'string')];
      const matches = this.#peerMatches(peers, { name, direction });
      // A port by name is one of the pod that is reached.
      const onPod = direction === 'ingress' ? [...numbered, ...named.flatMap((port) => portsNamed(port, pod))] : numbered;
      const portMatches = ports.length === 0 ? [''] : onPod.flatMap(portMatch);
      const byName = direction === 'egress' && named.length > 0 ? this.#namedPorts(peers, named, `${name}-ports`) : [];
      left -= matches.length * portMatches.length;
      if (left < 0) {
        this.tooLarge.add(policy);
        return [];
      }
      return [...matches.flatMap((match) => portMatches.map((port) => `${match}${port}return`)), ...byName];
    });
  }

  /** Each with a space after it; '': all addresses. */
  #peerMatches(peers: readonly NetworkPolicyPeer[], { name, direction }: { readonly name: string; readonly direction: Direction }): readonly string[] {
    if (peers.length === 0) return [''];
    const address = direction === 'ingress' ? 'ip saddr' : 'ip daddr';
    const blocks = peers.flatMap(({ ipBlock }) => {
      const [cidr] = ipBlock === undefined ? [] : ipv4Network(ipBlock.cidr);
      if (cidr === undefined) return [];
      return [
        `${address} ${cidr} ${(ipBlock?.except ?? [])
          .flatMap(ipv4Network)
          .map((except) => `${address} != ${except} `)
          .join('')}`,
      ];
    });
    const selectors = peers.filter(({ ipBlock }) => ipBlock === undefined);
    if (selectors.length === 0) return blocks;
    // The rule's peers are the same for each pod that the policy selects.
    if (!this.sets.has(name)) for (const { ip } of this.#selected(selectors)) this.element(name, ip, '');
    this.sets.set(name, 'type ipv4_addr;');
    return [...blocks, `${address} @${name} `];
  }

  /** Of an egress rule: each peer may have the port under another number. */
  #namedPorts(peers: readonly NetworkPolicyPeer[], ports: readonly NetworkPolicyPort[], name: string): readonly string[] {
    const match = [`ip daddr . meta l4proto . th dport @${name} return`];
    if (this.sets.has(name)) return match;
    this.sets.set(name, 'type ipv4_addr . inet_proto . inet_service;');
    const targets = peers.length === 0 ? this.#addressed(() => true) : this.#selected(peers.filter(({ ipBlock }) => ipBlock === undefined));
    for (const { ip, pod } of targets)
      for (const { protocol = 'TCP', port } of ports.flatMap((each) => portsNamed(each, pod)))
        this.element(name, `${ip} . ${protocols.get(protocol) ?? 'tcp'} . ${port ?? 0}`, '');
    return match;
  }

  #selected(peers: readonly NetworkPolicyPeer[]) {
    const { namespace, namespaceLabels } = this.#snapshot;
    const selects = peers.map(({ podSelector, namespaceSelector }) => ({
      pod: podSelector === undefined ? undefined : labelSelectorOf(podSelector),
      namespaces: namespaceSelector === undefined ? undefined : labelSelectorOf(namespaceSelector),
    }));
    return this.#addressed(({ metadata }) =>
      selects.some(({ pod, namespaces }) => {
        const inNamespace = namespaces === undefined ? metadata.namespace === namespace : matchesLabels(namespaces, namespaceLabels(metadata.namespace ?? ''));
        return inNamespace && (pod === undefined || matchesLabels(pod, metadata.labels));
      }),
    );
  }

  #addressed(selects: (pod: PolicyPod) => boolean): readonly { readonly ip: string; readonly pod: PolicyPod }[] {
    return this.#snapshot.pods.flatMap((pod) => (hasOwnNetwork(pod) && selects(pod) ? ipv4Address(pod.status.podIP ?? '').map((ip) => ({ ip, pod })) : []));
  }
}

/** The pod's container ports of this name. */
function portsNamed({ protocol = 'TCP', port }: NetworkPolicyPort, { spec }: PolicyPod): readonly NetworkPolicyPort[] {
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].flatMap(({ ports = [] }) => ports);
  return all.filter((each) => each.name === port && (each.protocol ?? 'TCP') === protocol).map(({ containerPort }) => ({ protocol, port: containerPort }));
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port <= 65_535;

function portMatch({ protocol = 'TCP', port, endPort }: NetworkPolicyPort): readonly string[] {
  const named = protocols.get(protocol);
  if (named === undefined) return [];
  if (port === undefined) return [`meta l4proto ${named} `];
  if (typeof port === 'string' || !isPort(port)) return [];
  return [`${named} dport ${endPort !== undefined && isPort(endPort) && endPort > port ? `${port}-${endPort}` : port} `];
}
