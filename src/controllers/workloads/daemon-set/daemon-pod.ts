/** The pod that a set runs on one node. */
import type { Affinity, DaemonSet, Pod, PodSpec, PodTemplateSpec, Toleration } from '../../../api/generated/types.ts';
import { daemonSetKind } from '../../../api/kinds/apps/daemon-set.ts';
import { podFromTemplate } from '../../pods/template.ts';
import type { PodDraft } from './actions.ts';

export const HASH_LABEL = 'controller-revision-hash';
const GENERATION_LABEL = 'pod-template-generation';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

const tolerated = (name: string, effect: string): Toleration => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect });

/** A node in trouble keeps its daemons: they may be what it takes to get out of it. */
const standing: readonly Toleration[] = [
  tolerated('not-ready', 'NoExecute'),
  tolerated('unreachable', 'NoExecute'),
  ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map((name) => tolerated(name, 'NoSchedule')),
];
const forHostNetwork = tolerated('network-unavailable', 'NoSchedule');

/** Those of the template, and those that every daemon has; one that differs only in how long it tolerates is replaced. */
export function daemonTolerations({ tolerations = [], hostNetwork }: PodSpec): readonly Toleration[] {
  const added = hostNetwork === true ? [...standing, forHostNetwork] : standing;
  const isAsked = (own: Toleration) => added.find((other) => isAlike(own, other));
  return [...tolerations.map((own) => isAsked(own) ?? own), ...added.filter((other) => !tolerations.some((own) => isAlike(own, other)))];
}

const isAlike = (a: Toleration, b: Toleration): boolean =>
  (a.key ?? '') === (b.key ?? '') && (a.effect ?? '') === (b.effect ?? '') && (a.operator ?? '') === (b.operator ?? '') && (a.value ?? '') === (b.value ?? '');

/** It asks for its node by name, and is then scheduled like any other pod. */
export function podForNode(set: DaemonSet, node: string, hash: string): PodDraft {
  const { metadata, spec } = set.spec.template;
  const generation = templateGeneration(set);
  const template: PodTemplateSpec = {
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }), [HASH_LABEL]: hash },
    },
    spec: { ...spec, tolerations: [...daemonTolerations(spec)], affinity: onNode(spec.affinity, node) },
  };
  return podFromTemplate(template, set, daemonSetKind);
}

function onNode(affinity: Affinity | undefined, node: string): Affinity {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
  return { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

/** The number of the template, counted by the server; undefined if it is none. */
function templateGeneration({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[GENERATION_ANNOTATION] ?? '';
  return /^[+-]?\d+$/.test(text) ? String(Number(text)) : undefined;
}

/** Whether a pod is of the set's template as it is now. */
export function isUpToDate({ metadata }: Pod, set: DaemonSet, hash: string): boolean {
  const generation = templateGeneration(set);
  return metadata.labels?.[HASH_LABEL] === hash || (generation !== undefined && metadata.labels?.[GENERATION_LABEL] === generation);
}

/** The node that a pod is on, or asks for. Undefined: it asks for none, or for several. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const wanted = terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return wanted?.values?.length === 1 ? wanted.values[0] : undefined;
}
