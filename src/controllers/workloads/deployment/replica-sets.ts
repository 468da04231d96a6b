import type { Deployment, PodTemplateSpec, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { sameMeaning } from '../../../api/validation/semantic-equality.ts';

/** On ReplicaSets and their pods: the hash of their template. */
export const templateHashLabel = 'pod-template-hash';

/** The ReplicaSets of a Deployment. */
export interface ReplicaSets {
  /** The one of the Deployment's current template ("new" in Kubernetes). */
  readonly current: Stored<ReplicaSet> | undefined;
  /** Those of earlier templates, oldest first. */
  readonly old: readonly Stored<ReplicaSet>[];
}

export function replicaSetsOf({ spec }: Deployment, sets: readonly Stored<ReplicaSet>[]): ReplicaSets {
  const oldestFirst = sets.toSorted(byAge);
  const current = oldestFirst.find((set) => isSameTemplate(set.spec.template, spec.template));
  return { current, old: oldestFirst.filter((set) => set !== current) };
}

export const allOf = ({ current, old }: ReplicaSets): readonly Stored<ReplicaSet>[] => (current === undefined ? old : [...old, current]);

/** Equal but for the hash label, which the ReplicaSet adds. */
export const isSameTemplate = (a: PodTemplateSpec, b: PodTemplateSpec): boolean => sameMeaning(withoutHash(a), withoutHash(b));

export function withoutHash({ metadata, ...template }: PodTemplateSpec): PodTemplateSpec {
  const { labels = {}, ...others } = metadata;
  const { [templateHashLabel]: _, ...rest } = labels;
  return { ...template, metadata: Object.keys(rest).length === 0 ? others : { ...others, labels: rest } };
}

export const replicasOf = ({ spec }: ReplicaSet | Deployment): number => spec.replicas ?? 0;

/** Those with replicas. */
export const active = (sets: readonly Stored<ReplicaSet>[]): readonly Stored<ReplicaSet>[] => sets.filter((set) => replicasOf(set) > 0);

export const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((total, set) => total + (count(set) ?? 0), 0);

/** Oldest first; equal ages by name. */
export function byAge(a: Stored<ReplicaSet>, b: Stored<ReplicaSet>): number {
  const [created, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (created !== other) return created < other ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
