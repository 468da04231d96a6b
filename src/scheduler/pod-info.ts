import type { Container, Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '../api/generated/types.ts';
import { isSidecar } from '../api/kinds/pod/pod-parts.ts';
import { podRequests } from '../api/kinds/pod/pod-resources.ts';
import { type Labels, type LabelSelector, labelSelectorOf, matchesLabels, nothing, SelectorError } from '../api/selectors/label-selector.ts';
import { withResizes } from '../api/quota/resized-pods.ts';
import { claimKey } from '../storage/volumes/claim.ts';
import { claimsOfPod } from '../storage/volumes/pods.ts';
import { type Amounts, amountsOfQuantities } from './amounts.ts';

/** What plugins need of a pod, computed once. Immutable: an updated pod gets a new PodInfo. */
export interface PodInfo {
  readonly pod: Pod;
  readonly uid: string;
  /** 'namespace/name' */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels | undefined;
  readonly priority: number;
  /** Of the spec, or assumed; '' if none. */
  readonly nodeName: string;
  readonly requests: Amounts;
  /** NonZeroRequested: requests with defaults for containers without any. Used by scores only. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  readonly hostPorts: readonly HostPort[];
  /** 'namespace/name' of all its claims, ephemeral ones included. */
  readonly claims: readonly string[];
  /** Without the ephemeral ones: claims that other pods may use too. */
  readonly namedClaims: readonly string[];
  /** Undefined: the pod has no affinity or anti-affinity to other pods. */
  readonly affinity: PodAffinities | undefined;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

export interface PodAffinities {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly WeightedTerm[];
  readonly preferredAnti: readonly WeightedTerm[];
  /** Kubernetes' message for an invalid term. */
  readonly problem: string | undefined;
}

export interface AffinityTerm {
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: LabelSelector;
  readonly selector: LabelSelector;
  readonly topologyKey: string;
}

export interface WeightedTerm {
  readonly weight: number;
  readonly term: AffinityTerm;
}

export function readPod(pod: Pod, nodeName = pod.spec.nodeName ?? ''): PodInfo {
  const { metadata, spec } = pod;
  const [namespace, name] = [metadata.namespace ?? '', metadata.name ?? ''];
  const counted = withResizes(pod);
  const scored = podRequests(withDefaultRequests(counted));
  const { cpu: scoredCpu, memory: scoredMemory } = amountsOfQuantities(scored);
  return {
    pod,
    uid: metadata.uid ?? '',
    key: claimKey(namespace, name),
    namespace,
    name,
    labels: metadata.labels,
    priority: spec.priority ?? 0,
    nodeName,
    requests: amountsOfQuantities(podRequests(counted)),
    scoredCpu,
    scoredMemory,
    hostPorts: readHostPorts(pod),
    claims: claimsOfPod(pod),
    namedClaims: (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: used }) => (used === undefined ? [] : [claimKey(namespace, used.claimName)])),
    affinity: affinitiesOf(pod),
  };
}

/** The pod as assumed on the node. */
export const placedOn = (pod: PodInfo, nodeName: string): PodInfo => ({ ...pod, nodeName });

/** Without defaults, all pods without requests would go to one node (DefaultMilliCPURequest, DefaultMemoryRequest). */
const defaultRequests: Readonly<Record<string, string>> = { cpu: '100m', memory: '200Mi' };

function withDefaultRequests({ spec }: Pod): Pick<Pod, 'spec'> {
  const podLevel = spec.resources?.requests;
  const wanted = Object.keys(defaultRequests).filter((name) => podLevel === undefined || !Object.hasOwn(podLevel, name));
  const complete = (container: Container): Container => {
    const missing = wanted.filter((name) => !Object.hasOwn(container.resources.requests ?? {}, name));
    if (missing.length === 0) return container;
    const requests = { ...container.resources.requests, ...Object.fromEntries(missing.map((name) => [name, defaultRequests[name] ?? '0'])) };
    return { ...container, resources: { ...container.resources, requests } };
  };
  return {
    spec: {
      ...spec,
      containers: (spec.containers ?? []).map(complete),
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(complete) }),
    },
  };
}

export function readHostPorts({ spec }: Pod): readonly HostPort[] {
  const containers = [...(spec.initContainers ?? []).filter(isSidecar), ...(spec.containers ?? [])];
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP = '', protocol = '' }) =>
      hostPort <= 0 ? [] : [{ ip: hostIP === '' ? anyAddress : hostIP, protocol: protocol === '' ? 'TCP' : protocol, port: hostPort }],
    ),
  );
}

export const anyAddress = '0.0.0.0';

function affinitiesOf({ metadata: { namespace = '' }, spec }: Pod): PodAffinities | undefined {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  if (podAffinity === undefined && podAntiAffinity === undefined) return undefined;
  const problems: string[] = [];
  const read = (what: string, terms: readonly PodAffinityTerm[] = []): readonly AffinityTerm[] => {
    try {
      return terms.map((term) => readTerm(namespace, term));
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      problems.push(`${what}: ${error.message}`);
      return [];
    }
  };
  const weighted = (what: string, terms: readonly WeightedPodAffinityTerm[] = []): readonly WeightedTerm[] => {
    const counted = terms.filter(({ weight }) => weight !== 0);
    return read(
      what,
      counted.map(({ podAffinityTerm }) => podAffinityTerm),
    ).map((term, i) => ({ term, weight: counted[i]?.weight ?? 0 }));
  };
  const affinities = {
    required: read('requiredAffinityTerms', podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAnti: read('requiredAntiAffinityTerms', podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: weighted('preferredAffinityTerms', podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAnti: weighted('preferredAntiAffinityTerms', podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  };
  return { ...affinities, problem: problems.length === 0 ? undefined : problems.join(', ') };
}

function readTerm(namespace: string, term: PodAffinityTerm): AffinityTerm {
  const named = term.namespaces ?? [];
  const ownOnly = named.length === 0 && term.namespaceSelector === undefined;
  return {
    namespaces: new Set(ownOnly ? [namespace] : named),
    namespaceSelector: term.namespaceSelector === undefined ? nothing : labelSelectorOf(term.namespaceSelector),
    selector: labelSelectorOf(term.labelSelector),
    topologyKey: term.topologyKey,
  };
}

/** `namespaceLabels`: the labels of the pod's namespace. */
export function termMatches(term: AffinityTerm, pod: PodInfo, namespaceLabels: Labels | undefined): boolean {
  return (term.namespaces.has(pod.namespace) || matchesLabels(term.namespaceSelector, namespaceLabels)) && matchesLabels(term.selector, pod.labels);
}
