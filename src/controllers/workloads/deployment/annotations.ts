/** The annotations of Deployments and their ReplicaSets. */
import { int64, readInteger } from '../../../api/integers.ts';
import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import { replicasOf } from './replica-sets.ts';
import { surgeOf } from './limits.ts';

const prefix = 'deployment.kubernetes.io/';
export const revisionAnnotation = `${prefix}revision`;
const historyAnnotation = `${prefix}revision-history`;
const desiredAnnotation = `${prefix}desired-replicas`;
const mostAnnotation = `${prefix}max-replicas`;
export const rollbackAnnotation = 'deprecated.deployment.rollback.to';

/** Annotations that are not copied from the Deployment to its ReplicaSets. */
const notCopied: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  mostAnnotation,
  rollbackAnnotation,
]);

type Annotations = Readonly<Record<string, string>>;

const annotationsOf = ({ metadata }: ReplicaSet | Deployment): Annotations => metadata.annotations ?? {};
const copied = (annotations: Annotations): Annotations => Object.fromEntries(Object.entries(annotations).filter(([key]) => !notCopied.has(key)));
const kept = (annotations: Annotations): Annotations => Object.fromEntries(Object.entries(annotations).filter(([key]) => notCopied.has(key)));

/** An integer of 64 bits. Undefined: not a number. 0: no annotation. */
export function revisionOf(object: ReplicaSet | Deployment): bigint | undefined {
  const text = annotationsOf(object)[revisionAnnotation];
  return text === undefined ? 0n : readRevision(text);
}

export function readRevision(text: string): bigint | undefined {
  const value = readInteger(text, int64);
  return typeof value === 'bigint' ? value : undefined;
}

/** One more than the highest revision. */
export function nextRevision(old: readonly ReplicaSet[]): bigint {
  const revisions = old.map((set) => revisionOf(set) ?? 0n);
  return revisions.reduce((most, revision) => (revision > most ? revision : most), 0n) + 1n;
}

/** The Deployment's annotations, and the revision if it is behind. Earlier revisions are kept as history. */
export function annotationsOfCurrent(deployment: Deployment, current: ReplicaSet, revision: bigint): Annotations {
  const present = annotationsOf(current);
  const before = present[revisionAnnotation];
  const beforeNumber = before === undefined || before === '' ? 0n : readRevision(before);
  // Another client wrote it: the annotations are left alone.
  if (beforeNumber === undefined) return present;
  const all = { ...present, ...copied(annotationsOf(deployment)) };
  if (beforeNumber >= revision) return all;
  const history = before === undefined ? {} : historyWith(present[historyAnnotation] ?? '', before);
  return { ...all, ...history, [revisionAnnotation]: String(revision) };
}

const historyLimit = 2000;

/** The oldest revisions are dropped if it gets too long. */
function historyWith(history: string, revision: string): Annotations {
  const parts = history === '' ? [] : history.split(',');
  const fits = () => [...parts, revision].join(',').length <= historyLimit;
  while (!fits() && parts.length > 0) parts.shift();
  return fits() ? { [historyAnnotation]: [...parts, revision].join(',') } : {};
}

/** Of a new ReplicaSet. */
export const annotationsOfNew = (deployment: Deployment, revision: bigint): Annotations => ({
  ...copied(annotationsOf(deployment)),
  [revisionAnnotation]: String(revision),
  ...sizeAnnotations(deployment),
});

/** The Deployment's size when it last scaled the ReplicaSet: this tells scaling from a rollout. */
export const sizeAnnotations = (deployment: Deployment): Annotations => ({
  [desiredAnnotation]: String(replicasOf(deployment)),
  [mostAnnotation]: String(replicasOf(deployment) + surgeOf(deployment)),
});

export const hasSizeAnnotations = (set: ReplicaSet, deployment: Deployment): boolean =>
  Object.entries(sizeAnnotations(deployment)).every(([key, value]) => annotationsOf(set)[key] === value);

export const desiredSizeOf = (set: ReplicaSet): number | undefined => size(annotationsOf(set)[desiredAnnotation]);
export const mostSizeOf = (set: ReplicaSet): number | undefined => size(annotationsOf(set)[mostAnnotation]);

const size = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  return Number(text) < 2 ** 31 ? Number(text) : undefined;
};

/** A Deployment that rolls back to a ReplicaSet's template gets the ReplicaSet's annotations too. */
export const annotationsAfterRollback = (deployment: Deployment, set: ReplicaSet): Annotations => ({
  ...kept(annotationsOf(deployment)),
  ...copied(annotationsOf(set)),
});
