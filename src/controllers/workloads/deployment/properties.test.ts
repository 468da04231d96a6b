/** From any state a Deployment settles in the same end state, however often the controller crashes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, live, type Model, pass, settle } from '../../../../test/controllers/deployment/model.ts';
import { ago, deployment, replicaSet } from '../../../../test/controllers/deployment/objects.ts';

const limits = fc.constantFrom<readonly [number | string, number | string]>([1, 0], [0, 1], ['25%', '25%'], [3, 2]);

const deployments = fc
  .record({
    replicas: fc.nat(5),
    limits,
    recreates: fc.boolean(),
    paused: fc.boolean(),
    going: fc.boolean(),
    deadline: fc.boolean(),
    history: fc.nat(2),
  })
  .map(({ replicas, limits: [surge, unavailable], recreates, paused, going, deadline, history }) =>
    deployment(replicas, {
      surge,
      unavailable,
      metadata: going ? { deletionTimestamp: ago(1) } : {},
      spec: {
        revisionHistoryLimit: history,
        ...(paused ? { paused } : {}),
        ...(deadline ? { progressDeadlineSeconds: 600 } : {}),
        ...(recreates ? { strategy: { type: 'Recreate' } } : {}),
      },
    }),
  );

const sets = fc.uniqueArray(
  fc.record({
    image: fc.constantFrom('new', 'old', 'older', 'oldest'),
    replicas: fc.nat(4),
    desired: fc.option(fc.nat(5), { nil: undefined }),
    owned: fc.boolean(),
    matches: fc.boolean(),
    revision: fc.constantFrom('1', '2', '7', 'mine'),
  }),
  { selector: ({ image }) => image, maxLength: 4 },
);

const worlds = fc.record({ one: deployments, found: sets }).map(
  ({ one, found }): Model => ({
    deployment: one,
    sets: found.map(({ image, replicas, desired, owned, matches, revision }, i) =>
      replicaSet(`set-${image}`, replicas, {
        image,
        revision,
        age: 100 - i,
        ...(desired === undefined ? {} : { desired }),
        metadata: { ...(owned ? {} : { ownerReferences: [] }), ...(matches ? {} : { labels: { app: 'other' } }) },
      }),
    ),
  }),
);

/** The visible end state, without collisions, progress times and the size at the last scaling, which depend on the way there. */
const looks = ({ deployment: { metadata, spec, status }, sets: all }: Model) => ({
  revision: metadata.annotations?.['deployment.kubernetes.io/revision'],
  template: spec.template,
  status: { ...status, collisionCount: undefined, conditions: status.conditions?.map(({ type, status: is }) => `${type} ${is}`).sort() },
  sets: all.map(({ metadata: { name, annotations, ownerReferences = [] }, spec: { replicas } }) => ({
    name,
    annotations: { ...annotations, 'deployment.kubernetes.io/max-replicas': undefined },
    owner: ownerReferences[0]?.uid,
    replicas,
  })),
});

/** A ReplicaSet's desired-replicas annotation differs from the Deployment: as in Kubernetes, that looks like scaling for ever. */
const looksScaled = ({ deployment: { spec }, sets: all }: Model): boolean =>
  all.some(
    ({ metadata: { annotations = {} } }) => (annotations['deployment.kubernetes.io/desired-replicas'] ?? String(spec.replicas)) !== String(spec.replicas),
  );

test('it settles: deciding again gives nothing', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      expect(decide(settle(world)).actions).toEqual([]);
    }),
  );
});

test('it settles with all pods of the current template, unless it is paused or being deleted', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const { spec, metadata } = world.deployment;
      fc.pre(spec.paused !== true && metadata.deletionTimestamp === undefined);
      fc.pre(!looksScaled(world));
      const { deployment: one, sets: all } = settle(world);
      expect(one.status.updatedReplicas ?? 0).toBe(spec.replicas);
      expect(one.status.replicas ?? 0).toBe(spec.replicas);
      expect(all.filter(({ spec: { template } }) => template.spec.containers?.[0]?.image === 'new')).not.toEqual([]);
    }),
  );
});

test('equal snapshots give equal decisions, in any order of the ReplicaSets', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const first = decide(world);
      expect(decide(world)).toEqual(first);
      const claims = first.reasons[0]?.code === 'SetsClaimed';
      if (!claims) expect(decide({ ...world, sets: world.sets.toReversed() })).toEqual(first);
    }),
  );
});

test('a crash after any action of any pass gives the same end', () => {
  fc.assert(
    fc.property(worlds, fc.array(fc.nat(3), { maxLength: 6 }), (world, crashes) => {
      fc.pre(!looksScaled(world));
      const broken = crashes.reduce((model, count) => live(pass(model, count)), world);
      expect(looks(settle(broken))).toEqual(looks(settle(world)));
    }),
  );
});
