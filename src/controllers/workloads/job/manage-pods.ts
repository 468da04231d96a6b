/** Which pods a Job has to create or delete. */
import type { Container, Job, Pod, PodTemplateSpec } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { jobKind } from '../../../api/kinds/batch/job.ts';
import { inAgeOrder } from '../../pods/deletion-order.ts';
import { podFromTemplate } from '../../pods/template.ts';
import type { PodDraft } from './actions.ts';
import { mayRetryAt, mayRetryIndexAt } from './backoff.ts';
import { countsAsFailure } from './failure-policy.ts';
import { firstGaps, intervalsOf, union } from './intervals.ts';
import {
  COMPLETION_INDEX,
  completionIndex,
  failuresBefore,
  ignoredFailuresBefore,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  isIndexed,
  isSuspended,
  replacesOnlyEnded,
  TRACKING_FINALIZER,
  validIndex,
} from './tracked-pod.ts';
import type { IndexState, JobState } from './job-state.ts';

/** Pods are deleted, or pods are created, or the creation waits. */
export interface JobPodChanges {
  /** Deleted without being counted. */
  readonly remove: readonly Stored<Pod>[];
  readonly create: readonly PodDraft[];
  /** When more pods may be created; milliseconds since 1970. */
  readonly again?: number;
}

/** At most this many pods in one pass; the next pass sees the result. */
const burst = 500;

const noChanges: JobPodChanges = { remove: [], create: [] };

export function managePods(state: JobState, now: number): JobPodChanges {
  const { job, active, terminating } = state;
  if (isSuspended(job)) return { ...noChanges, remove: active };
  const wanted = wantedActive(state);
  const remove = surplus(state, Math.max(0, active.length - wanted)).slice(0, burst);
  if (remove.length > 0) return { ...noChanges, remove };
  const missing = wanted - active.length - (replacesOnlyEnded(job) ? terminating.length : 0);
  return missing <= 0 ? noChanges : createPods(state, Math.min(missing, burst), now);
}

/** Without `completions`, no pod is created after the first success. */
function wantedActive({ job, active, succeeded }: JobState): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** Of an Indexed Job also pods without valid index, and all but one of the pods that share an index. */
function surplus({ job, active }: JobState, atLeast: number): readonly Stored<Pod>[] {
  const needless = isIndexed(job) ? needlessPods(job, active) : [];
  if (needless.length >= atLeast) return needless;
  const rest = active.filter((pod) => !needless.includes(pod));
  return [...needless, ...inAgeOrder(rest).slice(0, atLeast - needless.length)];
}

function needlessPods(job: Stored<Job>, active: readonly Stored<Pod>[]): readonly Stored<Pod>[] {
  const needed = new Map<number, Stored<Pod>>();
  // Of the pods that share an index, the last one in this order stays.
  for (const pod of inAgeOrder(active)) {
    const index = validIndex(pod, job);
    if (index !== undefined) needed.set(index, pod);
  }
  const kept = new Set(needed.values());
  return active.filter((pod) => !kept.has(pod));
}

function createPods(state: JobState, count: number, now: number): JobPodChanges {
  const { job, indexes, backoff } = state;
  const perIndex = indexes?.failed !== undefined;
  if (!perIndex && mayRetryAt(backoff) > now) return { ...noChanges, again: mayRetryAt(backoff) };
  if (indexes === undefined) return { ...noChanges, create: Array.from({ length: count }, () => podFromTemplate(trackedTemplate(job), job, jobKind)) };
  const pending = firstGaps(taken(state, indexes), count, indexes.completions);
  const waiting = pending.map((index) => ({ index, until: untilRetry(indexes, index) }));
  const ready = waiting.filter(({ until }) => until <= now);
  const next = Math.min(...waiting.filter(({ until }) => until > now).map(({ until }) => until));
  return {
    ...noChanges,
    create: ready.map(({ index }) => podForIndex(job, index, indexes)),
    ...(ready.length === 0 && Number.isFinite(next) ? { again: next } : {}),
  };
}

function untilRetry({ awaiting }: IndexState, index: number): number {
  const last = awaiting.get(index);
  return last === undefined ? 0 : mayRetryIndexAt(last);
}

/** Indexes that need no pod: they have one, or have succeeded or failed. */
function taken({ job, active, terminating }: JobState, { succeeded, failed = [] }: IndexState) {
  const busy = replacesOnlyEnded(job) ? [...active, ...terminating] : active;
  return union(union(succeeded, failed), intervalsOf(busy.flatMap((pod) => completionIndex(pod) ?? [])));
}

function trackedTemplate({ spec: { template } }: Job): PodTemplateSpec {
  const { finalizers = [] } = template.metadata;
  if (finalizers.includes(TRACKING_FINALIZER)) return template;
  return { ...template, metadata: { ...template.metadata, finalizers: [...finalizers, TRACKING_FINALIZER] } };
}

/** The index is in the name, hostname, labels, annotations and environment of the pod. */
function podForIndex(job: Stored<Job>, index: number, indexes: IndexState): PodDraft {
  const { metadata, spec } = trackedTemplate(job);
  const name = job.metadata.name;
  const template: PodTemplateSpec = {
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [COMPLETION_INDEX]: String(index) },
      annotations: { ...metadata.annotations, [COMPLETION_INDEX]: String(index), ...failureAnnotations(job, index, indexes) },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withIndexVariable) }),
      containers: (spec.containers ?? []).map(withIndexVariable),
    },
  };
  const draft = podFromTemplate(template, job, jobKind);
  return { ...draft, metadata: { ...draft.metadata, generateName: indexedPrefix(name, index) } };
}

/** The length to which the server cuts generateName. */
const longestPrefix = 58;

/** A long Job name is cut so that the index stays in the pod's name. */
function indexedPrefix(name: string, index: number): string {
  const end = `-${index}-`;
  return `${name.slice(0, Math.max(0, longestPrefix - end.length))}${end}`;
}

const ENV_NAME = 'JOB_COMPLETION_INDEX';

function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === ENV_NAME)) return container;
  return { ...container, env: [...env, { name: ENV_NAME, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } } }] };
}

/** A pod carries on the failure counts of the pod that it replaces. */
function failureAnnotations(job: Job, index: number, { failed, awaiting }: IndexState): Readonly<Record<string, string>> {
  if (failed === undefined) return {};
  const last = awaiting.get(index);
  if (last === undefined) return { [INDEX_FAILURES]: '0' };
  const counted = countsAsFailure(job.spec.podFailurePolicy, last);
  const ignored = ignoredFailuresBefore(last) + (counted ? 0 : 1);
  return {
    [INDEX_FAILURES]: String(failuresBefore(last) + (counted ? 1 : 0)),
    ...(ignored === 0 ? {} : { [INDEX_IGNORED_FAILURES]: String(ignored) }),
  };
}
