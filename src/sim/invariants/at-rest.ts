/** What every object says once the cluster is at rest, recomputed from the others: independent of the controllers, and of what they remember. */
import type {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Node,
  OwnerReference,
  PersistentVolume,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
} from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';

/** Objects of one kind, by the prefix of their keys in the store. */
const prefixes = {
  pods: '/registry/pods/',
  volumes: '/registry/persistentvolumes/',
  nodes: '/registry/nodes/',
  deployments: '/registry/apps/deployments/',
  replicaSets: '/registry/apps/replicasets/',
  daemonSets: '/registry/apps/daemonsets/',
  statefulSets: '/registry/apps/statefulsets/',
  revisions: '/registry/apps/controllerrevisions/',
  jobs: '/registry/batch/jobs/',
  cronJobs: '/registry/batch/cronjobs/',
  budgets: '/registry/policy/poddisruptionbudgets/',
} as const;

/** Everything that the store has. */
export class StoredObjects {
  readonly all: readonly Stored<KubeObject>[];
  readonly #byKey: readonly (readonly [string, Stored<KubeObject>])[];

  constructor(entries: Iterable<{ readonly key: string; readonly value: Uint8Array }>) {
    this.#byKey = Array.from(entries).flatMap(({ key, value }) =>
      key.startsWith('/registry/') ? [[key, JSON.parse(Buffer.from(value).toString()) as Stored<KubeObject>] as const] : [],
    );
    this.all = this.#byKey.map(([, object]) => object);
  }

  get pods(): readonly Stored<Pod>[] {
    return this.#of<Pod>('pods');
  }
  get volumes(): readonly Stored<PersistentVolume>[] {
    return this.#of<PersistentVolume>('volumes');
  }
  get nodes(): readonly Stored<Node>[] {
    return this.#of<Node>('nodes');
  }
  get deployments(): readonly Stored<Deployment>[] {
    return this.#of<Deployment>('deployments');
  }
  get replicaSets(): readonly Stored<ReplicaSet>[] {
    return this.#of<ReplicaSet>('replicaSets');
  }
  get daemonSets(): readonly Stored<DaemonSet>[] {
    return this.#of<DaemonSet>('daemonSets');
  }
  get statefulSets(): readonly Stored<StatefulSet>[] {
    return this.#of<StatefulSet>('statefulSets');
  }
  get revisions(): readonly Stored<ControllerRevision>[] {
    return this.#of<ControllerRevision>('revisions');
  }
  get jobs(): readonly Stored<Job>[] {
    return this.#of<Job>('jobs');
  }
  get cronJobs(): readonly Stored<CronJob>[] {
    return this.#of<CronJob>('cronJobs');
  }
  get budgets(): readonly Stored<PodDisruptionBudget>[] {
    return this.#of<PodDisruptionBudget>('budgets');
  }

  /** The key determines the type. */
  #of<T extends KubeObject>(kind: keyof typeof prefixes): readonly Stored<T>[] {
    return this.#byKey.flatMap(([key, object]) => (key.startsWith(prefixes[kind]) ? [object as Stored<T>] : []));
  }
}

/** The first object that does not say what is; undefined: all do. */
export const wrongAtRest = (objects: StoredObjects): string | undefined =>
  garbage(objects) ??
  objects.volumes.map(ofVolume).find(isGiven) ??
  objects.pods.map((pod) => idle(pod, objects)).find(isGiven) ??
  objects.replicaSets.map((set) => ofReplicaSet(set, objects)).find(isGiven) ??
  objects.deployments.map((deployment) => ofDeployment(deployment, objects)).find(isGiven) ??
  objects.daemonSets.map((set) => ofDaemonSet(set, objects)).find(isGiven) ??
  objects.statefulSets.map((set) => ofStatefulSet(set, objects)).find(isGiven) ??
  objects.jobs.map((job) => ofJob(job, objects)).find(isGiven) ??
  objects.cronJobs.map((cronJob) => ofCronJob(cronJob, objects)).find(isGiven) ??
  objects.budgets.map((budget) => ofBudget(budget, objects)).find(isGiven);

const isGiven = (text: string | undefined): text is string => text !== undefined;

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;

/** An object whose owners are all gone; one that waits for the garbage collector. */
function garbage({ all }: StoredObjects): string | undefined {
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  for (const object of all) {
    const { ownerReferences = [], finalizers = [] } = object.metadata;
    if (ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => uids.has(uid))) return `${nameOf(object)} exists, and its owner does not`;
    const waits = finalizers.find((each) => each === 'foregroundDeletion' || each === 'orphan');
    if (waits !== undefined) return `${nameOf(object)} still has the finalizer ${waits}`;
  }
  return undefined;
}

/** A provisioner refers to the claim as it was, as a volume's claimRef does in Kubernetes. */
function ofVolume(volume: Stored<PersistentVolume>): string | undefined {
  const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec;
  const isProvisioned = volume.metadata.annotations?.['pv.kubernetes.io/provisioned-by'] !== undefined;
  if (!isProvisioned || claimRef === undefined || policy === 'Retain') return undefined;
  const missing = (['kind', 'apiVersion', 'namespace', 'name', 'uid', 'resourceVersion'] as const).find((field) => (claimRef[field] ?? '') === '');
  return missing === undefined ? undefined : `claimRef of ${nameOf(volume)} has no ${missing}`;
}

const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined => metadata.ownerReferences?.find(({ controller }) => controller === true);
const controlledBy = <T extends KubeObject>(all: readonly T[], { metadata: { uid } }: Stored<KubeObject>): readonly T[] =>
  all.filter((object) => controllerOf(object)?.uid === uid);

const hasEnded = ({ status }: Pod): boolean => status.phase === 'Succeeded' || status.phase === 'Failed';
const isActive = (pod: Pod): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;
const isReady = ({ status }: Pod): boolean => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
const isReadyNode = ({ status }: Node): boolean => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** A pod on a ready node that needs nothing but its node. */
function idle(pod: Stored<Pod>, { nodes }: StoredObjects): string | undefined {
  const { spec, status } = pod;
  const node = nodes.find(({ metadata }) => metadata.name === spec.nodeName);
  const needsMore = (spec.volumes ?? []).some(({ persistentVolumeClaim, hostPath }) => persistentVolumeClaim !== undefined || hostPath !== undefined);
  if (node === undefined || !isReadyNode(node) || needsMore || hasEnded(pod)) return undefined;
  return status.phase === 'Running' && isReady(pod)
    ? undefined
    : `${nameOf(pod)} needs nothing but its node, which is ready, and it is ${status.phase}, not ready`;
}

/** Each number of a status that is not what was counted. */
function miscounted(object: KubeObject & { readonly status: object }, counted: Readonly<Record<string, number>>): string | undefined {
  const status = object.status as Readonly<Record<string, unknown>>;
  for (const [field, count] of Object.entries(counted))
    if ((status[field] ?? 0) !== count) return `status.${field} of ${nameOf(object)} is ${String(status[field])}, and it is ${count}`;
  return undefined;
}

const generationOf = ({ metadata }: KubeObject): number => metadata.generation ?? 0;

function ofReplicaSet(set: Stored<ReplicaSet>, { pods }: StoredObjects): string | undefined {
  const own = controlledBy(pods, set);
  const active = own.filter(isActive);
  if (active.length !== (set.spec.replicas ?? 1)) return `${nameOf(set)} has ${active.length} pods, and should have ${set.spec.replicas}`;
  const ready = active.filter(isReady).length;
  return miscounted(set, { observedGeneration: generationOf(set), replicas: active.length, readyReplicas: ready, availableReplicas: ready });
}

/** Whether a ReplicaSet was made from this template. */
function isMadeFrom({ spec }: ReplicaSet, template: Deployment['spec']['template']): boolean {
  const labels = { ...spec.template?.metadata?.labels };
  delete labels['pod-template-hash'];
  return sameJson({ ...spec.template, metadata: { ...spec.template?.metadata, labels } }, template);
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]));
}

function ofDeployment(deployment: Stored<Deployment>, { pods, replicaSets }: StoredObjects): string | undefined {
  const sets = controlledBy(replicaSets, deployment);
  const current = sets.filter((set) => isMadeFrom(set, deployment.spec.template));
  if (current.length !== 1) return `${nameOf(deployment)} has ${current.length} ReplicaSets of its template`;
  const active = (of: readonly Stored<ReplicaSet>[]) => of.flatMap((set) => controlledBy(pods, set)).filter(isActive);
  const ready = active(sets).filter(isReady).length;
  const newest = Math.max(...sets.map(numberOf));
  if (current.some((set) => numberOf(set) !== newest)) return `${nameOf(deployment)} has a ReplicaSet with a higher number than that of its template`;
  const counted = {
    replicas: active(sets).length,
    updatedReplicas: active(current).length,
    readyReplicas: ready,
    availableReplicas: ready,
    terminatingReplicas: 0,
  };
  return miscounted(deployment, { observedGeneration: generationOf(deployment), ...counted });
}

const numberOf = ({ metadata }: ReplicaSet): number => Number(metadata.annotations?.['deployment.kubernetes.io/revision']);

/** Taints that the pods of a DaemonSet tolerate. */
const isTolerated = (key: string): boolean => key.startsWith('node.kubernetes.io/') && key !== 'node.kubernetes.io/out-of-service';

function ofDaemonSet(set: Stored<DaemonSet>, { pods, nodes, revisions }: StoredObjects): string | undefined {
  const own = controlledBy(pods, set).filter(isActive);
  const mayRun = ({ spec }: Node, effects: readonly string[]) => !(spec.taints ?? []).some(({ key, effect }) => effects.includes(effect) && !isTolerated(key));
  const on = (node: Stored<Node>) => own.filter(({ spec }) => spec.nodeName === node.metadata.name);
  const desired = nodes.filter((node) => mayRun(node, ['NoSchedule', 'NoExecute']));
  for (const node of desired) if (on(node).length !== 1) return `${nameOf(set)} has ${on(node).length} pods on ${node.metadata.name}`;
  const history = controlledBy(revisions, set);
  const wrong = wrongHistory(set, history, { updated: undefined, keeps: set.spec.revisionHistoryLimit ?? 10, pods: own });
  if (wrong !== undefined) return wrong;
  const newest = newestOf(history)?.metadata.labels?.['controller-revision-hash'];
  const isUpdated = (pod: Pod) => pod.metadata.labels?.['controller-revision-hash'] === newest;
  const ready = desired.filter((node) => on(node).some(isReady)).length;
  return miscounted(set, {
    observedGeneration: generationOf(set),
    desiredNumberScheduled: desired.length,
    currentNumberScheduled: desired.length,
    updatedNumberScheduled: desired.filter((node) => on(node).some(isUpdated)).length,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: desired.length - ready,
  });
}

const newestOf = (history: readonly Stored<ControllerRevision>[]): Stored<ControllerRevision> | undefined =>
  history.toSorted((a, b) => a.revision - b.revision).at(-1);

interface HistoryOptions {
  /** The name of the update revision in the status, if there is one. */
  readonly updated: string | undefined;
  readonly keeps: number;
  readonly pods: readonly Pod[];
}

/** The newest revision is that of the template; old ones that no pod has are dropped beyond the limit. */
function wrongHistory(
  set: Stored<DaemonSet | StatefulSet>,
  history: readonly Stored<ControllerRevision>[],
  { updated, keeps, pods }: HistoryOptions,
): string | undefined {
  const newest = newestOf(history);
  const data = newest?.data as { readonly spec?: { readonly template?: object } } | undefined;
  const { $patch: _, ...template } = { $patch: '', ...data?.spec?.template };
  if (newest === undefined || !sameJson(template, set.spec.template)) return `the newest revision of ${nameOf(set)} is not that of its template`;
  if (updated !== undefined && updated !== newest.metadata.name)
    return `status.updateRevision of ${nameOf(set)} is ${updated}, and it is ${newest.metadata.name}`;
  const hashOf = ({ metadata }: KubeObject) => metadata.labels?.['controller-revision-hash'] ?? '';
  const live = new Set(pods.map(hashOf).flatMap((hash) => [hash, hash.slice(hash.lastIndexOf('-') + 1)]));
  const dead = history.filter((each) => each !== newest && !live.has(hashOf(each)) && !live.has(each.metadata.name));
  return dead.length > keeps ? `${nameOf(set)} has ${dead.length} old revisions, and keeps ${keeps}` : undefined;
}

function ofStatefulSet(set: Stored<StatefulSet>, { pods, revisions }: StoredObjects): string | undefined {
  const own = controlledBy(pods, set);
  const updated = set.status.updateRevision ?? '';
  const wrong = wrongHistory(set, controlledBy(revisions, set), { updated, keeps: set.spec.revisionHistoryLimit ?? 10, pods: own });
  const ready = own.filter(isReady).length;
  const isUpdated = (pod: Pod) => pod.metadata.labels?.['controller-revision-hash'] === updated;
  return (
    wrong ??
    miscounted(set, {
      observedGeneration: generationOf(set),
      replicas: own.length,
      readyReplicas: ready,
      availableReplicas: ready,
      updatedReplicas: own.filter(isUpdated).length,
    })
  );
}

function ofJob(job: Stored<Job>, { pods }: StoredObjects): string | undefined {
  const own = controlledBy(pods, job);
  const active = own.filter(isActive).length;
  const isComplete = job.status.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') === true;
  const isOver = isComplete || job.status.conditions?.some(({ type, status }) => type === 'Failed' && status === 'True') === true;
  const left = own.find(({ metadata }) => metadata.finalizers?.includes('batch.kubernetes.io/job-tracking') === true && isOver);
  if (left !== undefined) return `${nameOf(left)} still has a finalizer, and its Job has ended`;
  if (isComplete && (job.status.succeeded ?? 0) !== (job.spec.completions ?? 1))
    return `${nameOf(job)} is complete, and ${job.status.succeeded} of ${job.spec.completions} pods have succeeded`;
  if (isOver && active > 0) return `${nameOf(job)} has ended, and has ${active} pods`;
  return miscounted(job, { active, ready: own.filter((pod) => isActive(pod) && isReady(pod)).length, terminating: 0 });
}

function ofCronJob(cronJob: Stored<CronJob>, { jobs }: StoredObjects): string | undefined {
  const own = controlledBy(jobs, cronJob);
  // It was suspended from the beginning.
  if (cronJob.metadata.name === 'idle' && (own.length > 0 || cronJob.status.lastScheduleTime !== undefined))
    return `${nameOf(cronJob)} is suspended, and has started a Job`;
  const isOver = ({ status }: Job) => status.conditions?.some(({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True') === true;
  const running = own.filter((job) => !isOver(job)).length;
  const listed = cronJob.status.active?.length ?? 0;
  return listed === running ? undefined : `status.active of ${nameOf(cronJob)} has ${listed} Jobs, and ${running} run`;
}

function ofBudget(budget: Stored<PodDisruptionBudget>, { pods }: StoredObjects): string | undefined {
  const labels = Object.entries(budget.spec.selector?.matchLabels ?? {});
  const chosen = pods.filter(
    ({ metadata }) => metadata.namespace === budget.metadata.namespace && labels.every(([key, value]) => metadata.labels?.[key] === value),
  );
  const expected = chosen.filter((pod) => !hasEnded(pod)).length;
  const healthy = chosen.filter((pod) => isActive(pod) && isReady(pod)).length;
  const least = Number(budget.spec.minAvailable ?? 0);
  return miscounted(budget, {
    observedGeneration: generationOf(budget),
    expectedPods: expected,
    currentHealthy: healthy,
    desiredHealthy: least,
    disruptionsAllowed: expected === 0 ? 0 : Math.max(0, healthy - least),
  });
}
