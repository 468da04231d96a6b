/** A namespace with one Deployment as pure data: the effects of actions, and simulated ReplicaSets and pods. */
import type { Deployment, Pod, ReplicaSet } from '../../../src/api/generated/types.ts';
import type { Stored } from '../../../src/api/stored.ts';
import type { DeploymentAction } from '../../../src/controllers/workloads/deployment/actions.ts';
import { decideRollout } from '../../../src/controllers/workloads/deployment/decide.ts';
import { now } from './objects.ts';

export interface Model {
  readonly deployment: Stored<Deployment>;
  readonly sets: readonly Stored<ReplicaSet>[];
  /** Pods by uid of their ReplicaSet. */
  readonly pods?: ReadonlyMap<string, readonly Pod[]>;
}

export const decide = ({ deployment, sets, pods }: Model, at = now) =>
  decideRollout(
    {
      deployment,
      candidates: sets,
      named: (name) => sets.find(({ metadata }) => metadata.name === name),
      podsOf: ({ metadata }) => pods?.get(metadata.uid) ?? [],
    },
    at,
  );

/** 'create web-x 3', 'scale v1 2', 'status …', 'say …'. */
export function describeAction(action: DeploymentAction): string {
  switch (action.do) {
    case 'createSet':
      return `create ${action.set.metadata.name ?? ''} ${action.set.spec.replicas ?? 0}`;
    case 'update':
      return action.object.kind === 'ReplicaSet' ? `scale ${action.object.metadata.name ?? ''} ${action.object.spec.replicas ?? 0}` : 'update';
    case 'updateStatus':
      return `status ${action.object.status.conditions?.map(({ reason }) => reason).join(' ') ?? ''}`.trim();
    case 'delete':
      return `delete ${action.object.metadata.name ?? ''}`;
    case 'recordEvent':
      return `say ${action.event.message}`;
    case 'adopt':
    case 'release':
      return `${action.do} ${action.object.metadata.name}`;
    default:
      return action.do === 'confirmOwner' ? 'confirm' : action.do;
  }
}

export const done = (model: Model): readonly string[] => decide(model).actions.map(describeAction);

const named = (
  sets: readonly Stored<ReplicaSet>[],
  { metadata }: { readonly metadata: { readonly name?: string } },
  change: (set: Stored<ReplicaSet>) => Stored<ReplicaSet>,
) => sets.map((set) => (set.metadata.name === metadata.name ? change(set) : set));

/** The objects after an action. */
export function after(model: Model, action: DeploymentAction): Model {
  const { sets } = model;
  switch (action.do) {
    case 'createSet': {
      const { set } = action;
      const { name = '' } = set.metadata;
      const creationTimestamp = new Date(now + sets.length * 1000).toISOString();
      const metadata = { ...set.metadata, name, uid: name, resourceVersion: '1', generation: 1, creationTimestamp };
      return { ...model, sets: [...sets, { ...set, metadata }] };
    }
    case 'update': {
      const { object } = action;
      if (object.kind === 'Deployment') return { ...model, deployment: grown(object as Stored<Deployment>, model.deployment) };
      return { ...model, sets: named(sets, object, (set) => grown(object as Stored<ReplicaSet>, set)) };
    }
    case 'updateStatus':
      return { ...model, deployment: { ...(action.object as Stored<Deployment>), spec: model.deployment.spec } };
    case 'delete':
      return { ...model, sets: sets.filter(({ metadata }) => metadata.name !== action.object.metadata.name) };
    case 'adopt':
      return { ...model, sets: named(sets, action.object, (set) => ({ ...set, metadata: { ...set.metadata, ownerReferences: [action.reference] } })) };
    case 'release':
      return { ...model, sets: named(sets, action.object, (set) => ({ ...set, metadata: { ...set.metadata, ownerReferences: [] } })) };
    default:
      return model;
  }
}

const grown = <T extends Stored<Deployment> | Stored<ReplicaSet>>(object: T, before: T): T => ({
  ...object,
  metadata: { ...object.metadata, generation: (before.metadata.generation ?? 0) + 1 },
});

/** One pass, cut off after so many actions. */
export function pass(model: Model, limit = Number.POSITIVE_INFINITY): Model {
  return decide(model)
    .actions.slice(0, limit)
    .reduce((so, action) => after(so, action), model);
}

/** Every ReplicaSet gets its pods, `available` of them at most, and its status. */
export function live(model: Model, available: (set: Stored<ReplicaSet>) => number = ({ spec }) => spec.replicas ?? 0): Model {
  return {
    ...model,
    sets: model.sets.map((set) => {
      const replicas = set.spec.replicas ?? 0;
      const ready = Math.min(replicas, available(set));
      const status = { replicas, readyReplicas: ready, availableReplicas: ready, terminatingReplicas: 0, observedGeneration: set.metadata.generation ?? 0 };
      return { ...set, status };
    }),
  };
}

/** Passes until nothing is left to decide; throws if that never happens. */
export function settle(model: Model, watch: (model: Model) => void = () => undefined): Model {
  let state = model;
  for (let i = 0; i < 200; i++) {
    const next = live(pass(state));
    watch(next);
    if (decide(next).actions.length === 0) return next;
    state = next;
  }
  throw new Error(`no end: ${done(state).join(', ')}`);
}
