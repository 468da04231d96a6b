import type { LabelSelector, Pod, PodAffinity, PodStatus } from '../../generated/types.ts';
import { timestamp } from '../timestamps.ts';
import { entry } from '../../validation/field-rules.ts';
import { APP_ARMOR_PREFIX } from './pod-annotations.ts';
import { dropDisabledFields, dropDisabledStatusFields } from './pod-disabled-fields.ts';
import { allContainers } from './pod-parts.ts';
import { qosClassOf } from './qos.ts';
import { validateAppArmorProfile } from './containers/security-context.ts';

/** A new pod waits, whatever the client says of its status. */
export function prepareNewPod(pod: Pod, now: number): void {
  dropDisabledFields(pod.spec);
  pod.status = { phase: 'Pending', ...gateCondition(pod, now), qosClass: qosClassOf(pod) };
  mergeLabelKeys(pod);
  adoptAppArmorAnnotations(pod);
}

function gateCondition({ spec }: Pod, now: number): Pick<PodStatus, 'conditions'> {
  if ((spec.schedulingGates ?? []).length === 0) return {};
  const lastTransitionTime = timestamp(now);
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  return { conditions: [{ type: 'PodScheduled', status: 'False', lastProbeTime: null, lastTransitionTime, reason: 'SchedulingGated', message }] };
}

/** Keys of labels stand for the pod's own values of them: they become part of the selectors once and for all. */
function mergeLabelKeys({ metadata: { labels = {} }, spec }: Pod): void {
  for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
    for (const term of affinityTerms(affinity)) {
      selectBy(term.labelSelector, labels, { keys: term.matchLabelKeys, operator: 'In' });
      selectBy(term.labelSelector, labels, { keys: term.mismatchLabelKeys, operator: 'NotIn' });
    }
  }
  for (const constraint of spec.topologySpreadConstraints ?? []) {
    selectBy(constraint.labelSelector, labels, { keys: constraint.matchLabelKeys, operator: 'In' });
  }
}

const affinityTerms = (affinity: PodAffinity | undefined) => [
  ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((weighted) => weighted.podAffinityTerm),
  ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
];

function selectBy(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
  { keys = [], operator }: { keys: string[] | undefined; operator: 'In' | 'NotIn' },
): void {
  // Without a selector no pod matches, and nothing needs to be added.
  if (selector === undefined) return;
  for (const key of keys) {
    const value = entry(labels, key);
    if (value !== undefined) selector.matchExpressions = [...(selector.matchExpressions ?? []), { key, operator, values: [value] }];
  }
}

/** What an annotation of old says of a container's AppArmor profile, said by the field that replaced it. */
function adoptAppArmorAnnotations({ metadata: { annotations }, spec }: Pod): void {
  if (spec.os?.name === 'windows') return;
  for (const { container } of allContainers(spec, '')) {
    const annotation = entry(annotations, APP_ARMOR_PREFIX + container.name);
    if (annotation === undefined || container.securityContext?.appArmorProfile !== undefined) continue;
    const profile = appArmorProfileOf(annotation);
    if (profile === undefined || validateAppArmorProfile(profile, '').length > 0) continue;
    const podWide = spec.securityContext?.appArmorProfile;
    const isPodWide = podWide?.type === profile.type && podWide.localhostProfile === profile.localhostProfile;
    if (!isPodWide) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
  }
}

export function appArmorProfileOf(annotation: string): { type: string; localhostProfile?: string } | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const name = annotation.startsWith('localhost/') ? annotation.slice('localhost/'.length) : '';
  return name === '' ? undefined : { type: 'Localhost', localhostProfile: name };
}

/** A status written by a node: what old nodes forget stays. */
export function preparePodStatus(pod: Pod, old: Pod): void {
  if (old.metadata.ownerReferences === undefined) delete pod.metadata.ownerReferences;
  else pod.metadata.ownerReferences = old.metadata.ownerReferences;
  const { status } = pod;
  if (status.qosClass === undefined && old.status.qosClass !== undefined) status.qosClass = old.status.qosClass;
  keepObservedGenerations(status, old.status);
  dropDisabledStatusFields(status);
}

function keepObservedGenerations(status: PodStatus, old: PodStatus): void {
  if (status.observedGeneration === undefined && old.observedGeneration !== undefined) status.observedGeneration = old.observedGeneration;
  // Several conditions of one type are allowed: the first of them belongs to the first.
  const before = new Map<string, (number | undefined)[]>();
  for (const { type, observedGeneration } of [...(old.conditions ?? [])].reverse()) {
    const generations = before.get(type);
    if (generations === undefined) before.set(type, [observedGeneration]);
    else generations.push(observedGeneration);
  }
  for (const condition of status.conditions ?? []) {
    const generation = before.get(condition.type)?.pop();
    if (condition.observedGeneration === undefined && generation !== undefined) condition.observedGeneration = generation;
  }
}

/** Seconds until a pod that is deleted must be gone; 0: at once, as nothing of it runs. */
export function podGracePeriod({ spec, status }: Pod, requested: number | undefined): number {
  const isScheduled = (spec.nodeName ?? '') !== '';
  const isFinished = status.phase === 'Failed' || status.phase === 'Succeeded';
  if (!isScheduled || isFinished) return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
