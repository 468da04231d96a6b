import { describe, expect, test } from 'vitest';
import { setDraft } from '../../../../test/controllers/stateful-set/set-cluster.ts';
import { changed, modelOf } from '../../../../test/controllers/stateful-set/set-model.ts';
import type { ControllerRevision, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { historyOf } from './revisions.ts';

const { set } = modelOf(setDraft(1));
const withImage = (image: string): Stored<StatefulSet> =>
  changed(modelOf(setDraft(1)), ({ spec }) => {
    for (const container of spec.template.spec.containers ?? []) container.image = image;
  }).set;

const revision = (name: string, number: number, data: unknown): Stored<ControllerRevision> => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { namespace: 'default', name, uid: name, resourceVersion: '1' },
  data,
  revision: number,
});
const dataOf = (of: Stored<StatefulSet>) => ({ spec: { template: { $patch: 'replace', ...of.spec.template } } });
const history = (of: Stored<StatefulSet>, own: readonly Stored<ControllerRevision>[], others: readonly Stored<ControllerRevision>[] = []) =>
  historyOf(of, { own, named: (name) => [...own, ...others].find(({ metadata }) => metadata.name === name) });

describe('the history of a set', () => {
  const first = history(set, []);

  test('begins with a revision that holds its template, labels and annotations', () => {
    const annotated = { ...set, metadata: { ...set.metadata, annotations: { 'kubernetes.io/change-cause': 'why not' } } };
    expect(history(annotated, []).actions).toMatchObject([
      {
        do: 'createRevision',
        revision: {
          metadata: {
            name: first.update.revision,
            labels: { app: 'web', 'controller.kubernetes.io/hash': first.update.revision.slice('web-'.length) },
            annotations: { 'kubernetes.io/change-cause': 'why not' },
          },
          data: dataOf(set),
          revision: 1,
        },
      },
    ]);
    expect(first).toMatchObject({ collisionCount: 0, current: first.update });
  });

  test('takes another name if another template has it, and increases collisionCount', () => {
    const taken = history(set, [], [revision(first.update.revision, 7, { other: 'state' })]);
    expect(taken.collisionCount).toBe(1);
    expect(taken.update.revision).not.toBe(first.update.revision);
  });

  test('uses an existing revision, even if the cache of its own revisions does not have it yet', () => {
    const lagging = history(set, [], [revision(first.update.revision, 1, dataOf(set))]);
    expect(lagging).toMatchObject({ collisionCount: 0, update: { revision: first.update.revision }, actions: [] });
  });

  test('uses a revision with another order of fields, or with fewer defaults', () => {
    const { dnsPolicy: _, securityContext: __, ...spec } = set.spec.template.spec;
    const older = { spec: { template: { spec, metadata: { ...set.spec.template.metadata, creationTimestamp: null }, $patch: 'replace' } } };
    expect(history(set, [revision('web-old', 4, older)])).toMatchObject({ update: { revision: 'web-old' }, actions: [] });
  });

  test('restores the template of the current revision', () => {
    const old = revision('web-old', 1, dataOf(withImage('v0')));
    const rolling = { ...set, status: { ...set.status, currentRevision: 'web-old' } };
    const { current, update, actions } = history(rolling, [old]);
    expect(current).toMatchObject({ revision: 'web-old', template: { spec: { containers: [{ image: 'v0' }] } } });
    expect(update.template.spec.containers?.[0]?.image).toBe('v1');
    expect(actions).toMatchObject([{ do: 'createRevision', revision: { revision: 2 } }]);
  });

  test('without its current revision takes the update revision instead', () => {
    const lost = { ...set, status: { ...set.status, currentRevision: 'web-gone' } };
    expect(history(lost, [revision('web-new', 3, dataOf(set))]).current.revision).toBe('web-new');
  });
});
