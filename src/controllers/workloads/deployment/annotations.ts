/** What deployments and their sets say about each other in annotations. */
import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import { replicasOf } from './replica-sets.ts';
import { surgeOf } from './limits.ts';

const prefix = 'deployment.kubernetes.io/';
export const revisionAnnotation = `${prefix}revision`;
const historyAnnotation = `${prefix}revision-history`;
const desiredAnnotation = `${prefix}desired-replicas`;
const mostAnnotation = `${prefix}max-replicas`;
export const rollbackAnnotation = 'deprecated.deployment.rollback.to';

/** Of the deployment or the set alone; all others are the same on both. */
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

/** Undefined: not a number. Without one: 0. */
export function revisionOf(object: ReplicaSet | Deployment): number | undefined {
  const text = annotationsOf(object)[revisionAnnotation];
  return text === undefined ? 0 : integer(text);
}

const integer = (text: string): number | undefined => (/^[+-]?\d+$/.test(text) ? Number(text) : undefined);

/** One more than any of the earlier ones. */
export const nextRevision = (old: readonly ReplicaSet[]): number => old.reduce((most, set) => Math.max(most, revisionOf(set) ?? 0), 0) + 1;

/** The deployment's own annotations, and the revision if it is behind. The revisions that it had before are kept as history. */
export function annotationsOfCurrent(deployment: Deployment, current: ReplicaSet, revision: number): Annotations {
  const present = annotationsOf(current);
  const before = present[revisionAnnotation];
  const beforeNumber = before === undefined || before === '' ? 0 : integer(before);
  // Somebody else's doing: left alone, all of it.
  if (beforeNumber === undefined) return present;
  const all = { ...present, ...copied(annotationsOf(deployment)) };
  if (beforeNumber >= revision) return all;
  const history = before === undefined ? {} : historyWith(present[historyAnnotation] ?? '', before);
  return { ...all, ...history, [revisionAnnotation]: String(revision) };
}

const historyLimit = 2000;

/** The oldest go if it gets too long. */
function historyWith(history: string, revision: string): Annotations {
  const parts = history === '' ? [] : history.split(',');
  const fits = () => [...parts, revision].join(',').length <= historyLimit;
  while (!fits() && parts.length > 0) parts.shift();
  return fits() ? { [historyAnnotation]: [...parts, revision].join(',') } : {};
}

/** Of a set that is yet to be made. */
export const annotationsOfNew = (deployment: Deployment, revision: number): Annotations => ({
  ...copied(annotationsOf(deployment)),
  [revisionAnnotation]: String(revision),
  ...sizeAnnotations(deployment),
});

/** How large the deployment was when it last gave the set a size: how scaling is told from rolling out. */
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

/** A deployment that goes back to a set's template takes the set's annotations along. */
export const annotationsAfterRollback = (deployment: Deployment, set: ReplicaSet): Annotations => ({
  ...kept(annotationsOf(deployment)),
  ...copied(annotationsOf(set)),
});
