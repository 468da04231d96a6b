/** The objects of one StatefulSet as a value, and the effects of the controller's actions on them. */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../../src/api/generated/types.ts';
import type { Stored } from '../../../src/api/stored.ts';
import { statefulSetKind } from '../../../src/api/kinds/apps/stateful-set.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { cloneObject } from '../../../src/api/schema/index.ts';
import { decode } from '../../../src/api/schema/decode.ts';
import type { StatefulSetAction, ClaimChanges, PodStep } from '../../../src/controllers/workloads/stateful-set/actions.ts';
import { controllerOf } from '../../../src/controllers/pods/ownership.ts';
import { MembersView } from '../../../src/controllers/workloads/stateful-set/members-view.ts';
import type { StatefulSetSnapshot } from '../../../src/controllers/workloads/stateful-set/decide.ts';

export interface Model {
  readonly set: Stored<StatefulSet>;
  readonly pods: ReadonlyMap<string, Stored<Pod>>;
  readonly claims: ReadonlyMap<string, Stored<PersistentVolumeClaim>>;
  readonly revisions: ReadonlyMap<string, Stored<ControllerRevision>>;
}

/** One write. */
type Write = (model: Model) => Model;

export function modelOf(draft: object): Model {
  const set = decode<Stored<StatefulSet>>('StatefulSet', { apiVersion: 'apps/v1', kind: 'StatefulSet', ...draft }).object;
  statefulSetKind.defaults?.(set);
  set.metadata.uid = 'uid-of-set';
  set.metadata.generation = 1;
  return { set, pods: new Map(), claims: new Map(), revisions: new Map() };
}

export const changed = (model: Model, change: (set: Stored<StatefulSet>) => void): Model => {
  const set = cloneObject(model.set);
  change(set);
  set.metadata.generation = (set.metadata.generation ?? 0) + 1;
  return { ...model, set };
};

export function snapshotOf({ set, pods, claims, revisions }: Model): StatefulSetSnapshot {
  const claim = (name: string) => claims.get(name);
  const isOwn = (pod: Stored<Pod>) => controllerOf(pod)?.uid === set.metadata.uid;
  return {
    set,
    members: new MembersView({ set, claim }, [...pods.values()].filter(isOwn)),
    orphans: [...pods.values()].filter((pod) => controllerOf(pod) === undefined),
    revisions: [...revisions.values()],
    revision: (name) => revisions.get(name),
    claim,
  };
}

/** The writes of actions, in order: a crash may cut off any suffix. */
export const writesOf = (actions: readonly StatefulSetAction[]): readonly Write[] => actions.flatMap(writesOfAction);

function writesOfAction(action: StatefulSetAction): readonly Write[] {
  switch (action.do) {
    case 'confirmOwner':
      return [];
    case 'adopt':
      return [owned(action.object, [action.reference])];
    case 'release':
      return [owned(action.object, undefined)];
    case 'createRevision':
      return [(model) => ({ ...model, revisions: put(model.revisions, revisionFrom(action.revision)) })];
    case 'update':
      return [(model) => ({ ...model, revisions: put(model.revisions, action.object) })];
    case 'delete':
      return [(model) => ({ ...model, revisions: without(model.revisions, action.object) })];
    case 'updateStatus':
      return [(model) => ({ ...model, set: { ...model.set, status: action.object.status } })];
    case 'together':
      return action.steps.flatMap(writesOfStep);
    case 'expandClaim':
      return [putClaim(action.claim)];
    default:
      return writesOfStep(action);
  }
}

function writesOfStep(step: PodStep): readonly Write[] {
  switch (step.do) {
    case 'createPod':
      return step.claims.terminating.length > 0 ? creations(step.claims) : [...creations(step.claims), created(step.pod), ...updates(step.claims)];
    case 'updatePod': {
      const { pod } = step;
      const update: readonly Write[] = pod === undefined ? [] : [(model) => ({ ...model, pods: put(model.pods, pod.object) })];
      return [...creations(step.claims), ...updates(step.claims), ...update];
    }
    case 'restoreClaims':
    case 'updateClaims':
      return [...creations(step.claims), ...updates(step.claims)];
    case 'deletePod':
      return [(model) => ({ ...model, pods: without(model.pods, step.pod) })];
  }
}

const creations = ({ toCreate }: ClaimChanges) => toCreate.map(putClaim);
const updates = ({ toUpdate }: ClaimChanges) => toUpdate.map(({ claim }) => putClaim(claim));
const putClaim =
  (claim: PersistentVolumeClaim): Write =>
  (model) => ({ ...model, claims: put(model.claims, stored(claim)) });

const stored = (claim: PersistentVolumeClaim): Stored<PersistentVolumeClaim> => {
  const { name = '' } = claim.metadata;
  return { ...claim, metadata: { uid: `uid-of-${name}`, resourceVersion: '1', ...claim.metadata, name } };
};

/** Every created pod has another uid. */
let made = 0;

function created(draft: object): Write {
  return (model) => {
    const pod = decode<Stored<Pod>>('Pod', draft).object;
    const { name } = pod.metadata;
    if (model.pods.has(name)) throw new Error(`a second pod ${name}`);
    for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
      if (persistentVolumeClaim !== undefined && !model.claims.has(persistentVolumeClaim.claimName)) throw new Error(`${name} came before its claims`);
    }
    return { ...model, pods: put(model.pods, { ...pod, metadata: { ...pod.metadata, uid: `uid-${++made}` }, status: { phase: 'Pending' } }) };
  };
}

const revisionFrom = (draft: object): Stored<ControllerRevision> => decode<Stored<ControllerRevision>>('ControllerRevision', draft).object;

function owned(object: Stored<KubeObject>, ownerReferences: Pod['metadata']['ownerReferences']): Write {
  const { name } = object.metadata;
  const change = <T extends KubeObject>(map: ReadonlyMap<string, T>): ReadonlyMap<string, T> => {
    const found = map.get(name);
    if (found === undefined) return map;
    const { ownerReferences: _, ...metadata } = found.metadata;
    return put(map, { ...found, metadata: ownerReferences === undefined ? metadata : { ...metadata, ownerReferences } });
  };
  return (model) => (object.kind === 'Pod' ? { ...model, pods: change(model.pods) } : { ...model, revisions: change(model.revisions) });
}

const put = <T extends KubeObject>(map: ReadonlyMap<string, T>, object: T): ReadonlyMap<string, T> => new Map(map).set(object.metadata.name ?? '', object);

function without<T extends KubeObject>(map: ReadonlyMap<string, T>, { metadata }: Stored<KubeObject>): ReadonlyMap<string, T> {
  const rest = new Map(map);
  rest.delete(metadata.name);
  return rest;
}

/** Starts all pods, as a kubelet would. */
export function allReady(model: Model): Model {
  const conditions = [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }];
  const pods = [...model.pods].map(
    ([name, pod]) => [name, pod.status.phase === 'Pending' ? { ...pod, status: { phase: 'Running', conditions } } : pod] as const,
  );
  return { ...model, pods: new Map(pods) };
}

/** Without uids, which differ from run to run. */
export const summary = ({ set, pods, claims, revisions }: Model) => ({
  status: set.status,
  pods: [...pods.values()].map(({ metadata, spec }) => [metadata.name, metadata.labels, spec.containers?.[0]?.image, ownersOf(metadata)]).sort(byText),
  claims: [...claims.values()].map(({ metadata, spec }) => [metadata.name, spec.resources.requests, ownersOf(metadata)]).sort(byText),
  revisions: [...revisions.values()].map(({ metadata, revision }) => [metadata.name, revision]).sort(byText),
});

const ownersOf = ({ ownerReferences }: Pod['metadata']): readonly string[] => (ownerReferences ?? []).map(({ kind, name }) => `${kind}/${name}`);
const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
