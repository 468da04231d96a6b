/** The identity of a StatefulSet's pods: names and claims by ordinal. */
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet, Volume } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { statefulSetKind } from '../../../api/kinds/apps/stateful-set.ts';
import { controllerReference, podFromTemplate } from '../../pods/template.ts';
import type { PodDraft } from './actions.ts';

export const labels = {
  podName: 'statefulset.kubernetes.io/pod-name',
  podIndex: 'apps.kubernetes.io/pod-index',
  revision: 'controller-revision-hash',
} as const;

/** 'web-3' is ordinal 3 of web. The ordinal is -1 if it does not fit into 32 bits. */
export function parseMemberName(name: string): { readonly parent: string; readonly ordinal: number } | undefined {
  const match = /^(.*)-(0|[1-9][0-9]*)$/.exec(name);
  if (match === null) return undefined;
  const ordinal = Number(match[2]);
  return { parent: match[1] ?? '', ordinal: ordinal <= largestOrdinal ? ordinal : -1 };
}

const largestOrdinal = 2 ** 31 - 1;

export const ordinalOf = ({ metadata }: Stored<Pod>): number => parseMemberName(metadata.name)?.ordinal ?? -1;

export const isMemberOf = (set: Stored<StatefulSet>, { metadata }: Stored<Pod>): boolean => parseMemberName(metadata.name)?.parent === set.metadata.name;

/** The wanted ordinals; `end` is exclusive. */
export interface OrdinalRange {
  readonly start: number;
  readonly end: number;
}

export function ordinalsOf({ spec }: StatefulSet): OrdinalRange {
  const start = spec.ordinals?.start ?? 0;
  return { start, end: start + (spec.replicas ?? 1) };
}

export const isWithin = ({ start, end }: OrdinalRange, ordinal: number): boolean => ordinal >= start && ordinal < end;

export const memberName = ({ metadata }: Stored<StatefulSet>, ordinal: number): string => `${metadata.name}-${ordinal}`;

export const claimTemplates = ({ spec }: StatefulSet): readonly PersistentVolumeClaim[] => spec.volumeClaimTemplates ?? [];

export const templateName = ({ metadata }: PersistentVolumeClaim): string => metadata.name ?? '';

export const claimName = (template: PersistentVolumeClaim, set: Stored<StatefulSet>, ordinal: number): string =>
  `${templateName(template)}-${set.metadata.name}-${ordinal}`;

/** The claim of an ordinal. The selector's labels override those of the template, so that the claims can be found by them. */
export function claimOf(set: Stored<StatefulSet>, template: PersistentVolumeClaim, ordinal: number): PersistentVolumeClaim {
  const merged = { ...template.metadata.labels, ...set.spec.selector?.matchLabels };
  const metadata = { ...template.metadata, namespace: set.metadata.namespace ?? '', name: claimName(template, set, ordinal) };
  return { ...template, metadata: Object.keys(merged).length === 0 ? metadata : { ...metadata, labels: merged } };
}

/** A new pod of this ordinal and revision. */
export function memberOf(
  set: Stored<StatefulSet>,
  ordinal: number,
  { template, revision }: { readonly template: PodTemplateSpec; readonly revision: string },
): PodDraft {
  const name = memberName(set, ordinal);
  const pod = podFromTemplate(template, set, statefulSetKind);
  return {
    ...pod,
    metadata: { ...pod.metadata, name, labels: { ...template.metadata.labels, ...identityLabels(name, ordinal), [labels.revision]: revision } },
    spec: {
      ...template.spec,
      hostname: name,
      ...(set.spec.serviceName === '' ? {} : { subdomain: set.spec.serviceName }),
      volumes: withClaims(template.spec.volumes ?? [], set, ordinal),
    },
  };
}

const identityLabels = (name: string, ordinal: number) => ({ [labels.podName]: name, [labels.podIndex]: String(ordinal) });

/** Claims of the StatefulSet replace volumes of the same name. */
function withClaims(volumes: readonly Volume[], set: Stored<StatefulSet>, ordinal: number): Volume[] {
  const templates = claimTemplates(set);
  const claimed = new Set(templates.map(templateName));
  return [
    ...templates.map((template) => ({ name: templateName(template), persistentVolumeClaim: { claimName: claimName(template, set, ordinal) } })),
    ...volumes.filter(({ name }) => !claimed.has(name)),
  ];
}

export const revisionOf = ({ metadata }: Pod): string => metadata.labels?.[labels.revision] ?? '';

const hasIdentity = ({ metadata }: Stored<Pod>): boolean => metadata.labels?.[labels.podName] === metadata.name;

export function hasStorage(pod: Stored<Pod>, set: Stored<StatefulSet>): boolean {
  const claims = new Map((pod.spec.volumes ?? []).map(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim?.claimName]));
  return claimTemplates(set).every((template) => claims.get(templateName(template)) === claimName(template, set, ordinalOf(pod)));
}

/** The pod with its identity labels and volumes; the same object if nothing changes. */
export function asMember(pod: Stored<Pod>, set: Stored<StatefulSet>): Stored<Pod> {
  const ordinal = ordinalOf(pod);
  const { metadata, spec } = pod;
  const named = hasIdentity(pod) ? metadata : { ...metadata, labels: { ...metadata.labels, ...identityLabels(metadata.name, ordinal) } };
  const stored = hasStorage(pod, set) ? spec : { ...spec, volumes: withClaims(spec.volumes ?? [], set, ordinal) };
  return named === metadata && stored === spec ? pod : { ...pod, metadata: named, spec: stored };
}

export const setReference = (set: Stored<StatefulSet>) => controllerReference(set, statefulSetKind);
