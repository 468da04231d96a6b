import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allReady, changed, type Model, modelOf, snapshotOf, summary, writesOf } from '../../../../test/controllers/stateful-set/set-model.ts';
import { setDraft } from '../../../../test/controllers/stateful-set/set-cluster.ts';
import { decideSet } from './decide.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

/** A StatefulSet and its changes: each is made when the last has settled, or before. */
const histories = fc.record({
  policy: fc.constantFrom('OrderedReady', 'Parallel'),
  strategy: fc.constantFrom({ type: 'OnDelete' }, { type: 'RollingUpdate' }, { type: 'RollingUpdate', rollingUpdate: { partition: 1 } }),
  replicas: fc.nat(4),
  changes: fc.array(
    fc.record({
      replicas: fc.nat(4),
      image: fc.constantFrom('v1', 'v2', 'v3'),
      start: fc.nat(2),
      whenDeleted: fc.constantFrom('Retain', 'Delete'),
      historyLimit: fc.nat(2),
    }),
    { maxLength: 3 },
  ),
  /** How many writes each process makes before it crashes. */
  crashes: fc.array(fc.nat(5), { maxLength: 6 }),
});
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

const start = ({ policy, strategy, replicas }: History): Model => modelOf(setDraft(replicas, { podManagementPolicy: policy, updateStrategy: strategy }));

const apply = (model: Model, change: History['changes'][number]): Model =>
  changed(model, ({ spec }) => {
    spec.replicas = change.replicas;
    spec.ordinals = { start: change.start };
    spec.revisionHistoryLimit = change.historyLimit;
    spec.persistentVolumeClaimRetentionPolicy = { whenDeleted: change.whenDeleted, whenScaled: 'Retain' };
    for (const container of spec.template.spec.containers ?? []) container.image = change.image;
  });

/** One pass, cut off after so many writes. */
function pass(model: Model, writes = Infinity): Model {
  return writesOf(decideSet(snapshotOf(model), now).actions)
    .slice(0, writes)
    .reduce((before, write) => write(before), model);
}

/** Passes until nothing is left to do. */
function settle(model: Model): Model {
  let last = model;
  for (let passes = 0; passes < 100; passes++) {
    const next = allReady(pass(last));
    if (decideSet(snapshotOf(next), now).actions.length === 0) return next;
    last = next;
  }
  throw new Error('it never settles');
}

describe('what a StatefulSet decides', () => {
  test('settles, with the wanted pods and revision', () => {
    fc.assert(
      fc.property(histories, (history) => {
        let model = settle(start(history));
        for (const change of history.changes) model = settle(apply(model, change));
        const { spec, status } = model.set;
        const first = spec.ordinals?.start ?? 0;
        const names = Array.from({ length: spec.replicas ?? 0 }, (_, i) => `web-${first + i}`);
        expect([...model.pods.keys()].toSorted()).toEqual(names.toSorted());
        expect(status).toMatchObject({ replicas: spec.replicas, readyReplicas: spec.replicas, observedGeneration: model.set.metadata.generation });
        const newest = [...model.revisions.values()].reduce((a, b) => (a.revision > b.revision ? a : b));
        expect(status.updateRevision).toBe(newest.metadata.name);
        if (history.strategy.type === 'RollingUpdate' && !('rollingUpdate' in history.strategy)) {
          expect(status).toMatchObject({ updatedReplicas: spec.replicas, currentRevision: status.updateRevision });
        }
      }),
    );
  });

  test('is equal for equal snapshots', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const model = pass(start(history), history.crashes[0]);
        expect(decideSet(snapshotOf(model), now)).toEqual(decideSet(snapshotOf(model), now));
      }),
    );
  });

  test('comes to the same end after crashes anywhere', () => {
    fc.assert(
      fc.property(histories, (history) => {
        let undisturbed = settle(start(history));
        let disturbed = start(history);
        for (const change of [undefined, ...history.changes]) {
          if (change !== undefined) [undisturbed, disturbed] = [settle(apply(undisturbed, change)), apply(disturbed, change)];
          for (const writes of history.crashes) disturbed = allReady(pass(disturbed, writes));
          disturbed = settle(disturbed);
        }
        expect(summary(disturbed)).toEqual(summary(undisturbed));
      }),
    );
  });

  test('never deletes a second pod for an update before the first is back', () => {
    fc.assert(
      fc.property(histories, fc.nat(12), (history, passes) => {
        const before = settle(modelOf(setDraft(4, { podManagementPolicy: history.policy })));
        let model = changed(before, ({ spec }) => {
          for (const container of spec.template.spec.containers ?? []) container.image = 'v2';
        });
        for (let i = 0; i < passes; i++) {
          model = pass(model);
          const missing = 4 - [...model.pods.values()].filter(({ status }) => status.phase === 'Running').length;
          expect(missing).toBeLessThanOrEqual(1);
          // One pass happens before the pod is ready.
          if (i % 3 === 2) model = allReady(model);
        }
      }),
    );
  });

  test('is only the status once the set is being deleted', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const settled = settle(start(history));
        const changedAtLast = history.changes.reduce(apply, settled);
        const goes = changed(changedAtLast, ({ metadata }) => {
          metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
        });
        const revisions = new Map(history.changes.length === 0 ? [] : goes.revisions);
        expect(decideSet(snapshotOf({ ...goes, revisions }), now).actions.filter((action) => action.do !== 'updateStatus')).toEqual([]);
      }),
    );
  });
});
