/** The pod of a DaemonSet on one node. */
import type { Affinity, DaemonSet, Pod, PodSpec, PodTemplateSpec, Toleration } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { daemonSetKind } from '../../../api/kinds/apps/daemon-set.ts';
import { podFromTemplate } from '../../pods/template.ts';
import type { PodDraft } from './actions.ts';

export const HASH_LABEL = 'controller-revision-hash';
const GENERATION_LABEL = 'pod-template-generation';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

const tolerated = (name: string, effect: string): Toleration => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect });

/** Daemons stay on a node that has problems: they may be needed to repair it. */
const standing: readonly Toleration[] = [
  tolerated('not-ready', 'NoExecute'),
  tolerated('unreachable', 'NoExecute'),
  ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map((name) => tolerated(name, 'NoSchedule')),
];
const forHostNetwork = tolerated('network-unavailable', 'NoSchedule');

/** Tolerations of the template and of every daemon pod; one of the template that differs only in tolerationSeconds is replaced. */
export function daemonTolerations({ tolerations = [], hostNetwork }: PodSpec): readonly Toleration[] {
  const added = hostNetwork === true ? [...standing, forHostNetwork] : standing;
  const isAsked = (own: Toleration) => added.find((other) => isAlike(own, other));
  return [...tolerations.map((own) => isAsked(own) ?? own), ...added.filter((other) => !tolerations.some((own) => isAlike(own, other)))];
}

const isAlike = (a: Toleration, b: Toleration): boolean =>
  (a.key ?? '') === (b.key ?? '') && (a.effect ?? '') === (b.effect ?? '') && (a.operator ?? '') === (b.operator ?? '') && (a.value ?? '') === (b.value ?? '');

/** Node affinity names the node; the scheduler then treats the pod like any other. */
export function podForNode(set: Stored<DaemonSet>, node: string, hash: string): PodDraft {
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

/** The template generation, counted by the server; undefined if the annotation is not a number. */
function templateGeneration({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[GENERATION_ANNOTATION] ?? '';
  return /^[+-]?\d+$/.test(text) ? String(Number(text)) : undefined;
}

/** Whether a pod is of the DaemonSet's current template. */
export function isUpToDate({ metadata }: Pod, set: DaemonSet, hash: string): boolean {
  const generation = templateGeneration(set);
  return metadata.labels?.[HASH_LABEL] === hash || (generation !== undefined && metadata.labels?.[GENERATION_LABEL] === generation);
}

/** The node that a pod is bound to, or that its affinity names. Undefined: it names none, or several. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const wanted = terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return wanted?.values?.length === 1 ? wanted.values[0] : undefined;
}
