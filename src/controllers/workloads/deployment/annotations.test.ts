import { describe, expect, test } from 'vitest';
import { deployment, replicaSet, type SetParts } from '../../../../test/controllers/deployment/objects.ts';
import { annotationsAfterRollback, annotationsOfCurrent, annotationsOfNew, nextRevision, revisionOf } from './annotations.ts';

const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const own = { [lastApplied]: '{}', [revision]: '9', 'deprecated.deployment.rollback.to': '1', cause: 'because' };

describe('the next revision', () => {
  test('is one more than that of any old ReplicaSet', () => {
    const sets = (...revisions: readonly string[]) => revisions.map((each, i) => replicaSet(`v${i}`, 0, { revision: each }));
    expect(nextRevision(sets('1', '7', '3'))).toBe(8n);
    expect(nextRevision(sets())).toBe(1n);
    expect(nextRevision(sets('many', '2'))).toBe(3n);
    expect(nextRevision(sets('3546343826724305832'))).toBe(3546343826724305833n);
    expect(nextRevision([replicaSet('v', 0)])).toBe(1n);
    expect(revisionOf(replicaSet('v', 0, { revision: '1.5' }))).toBeUndefined();
  });
});

describe('the current ReplicaSet', () => {
  const annotated = (parts: SetParts, next: number) => annotationsOfCurrent(deployment(1, { annotations: own }), replicaSet('v', 1, parts), BigInt(next));

  test('has the annotations of its Deployment, except those that are not copied', () => {
    expect(annotationsOfNew(deployment(2, { annotations: own, surge: 1 }), 4n)).toEqual({
      cause: 'because',
      [revision]: '4',
      'deployment.kubernetes.io/desired-replicas': '2',
      'deployment.kubernetes.io/max-replicas': '3',
    });
    expect(annotated({ revision: '2', annotations: { kept: 'x', cause: 'other' } }, 2)).toEqual({ kept: 'x', cause: 'because', [revision]: '2' });
  });

  test('keeps its revision if that is ahead, and its revision history', () => {
    expect(annotated({ revision: '5' }, 3)).toMatchObject({ [revision]: '5' });
    expect(annotated({}, 1)).toEqual({ cause: 'because', [revision]: '1' });
    const second = annotated({ revision: '1' }, 3);
    expect(second).toMatchObject({ [revision]: '3', [history]: '1' });
    expect(annotated({ annotations: second }, 6)).toMatchObject({ [revision]: '6', [history]: '1,3' });
  });

  test('drops its oldest revisions when there are too many', () => {
    const many = Array.from({ length: 400 }, (_, i) => String(1000 + i)).join(',');
    expect(many).toHaveLength(1999);
    const after = annotated({ revision: '2000', annotations: { [history]: many } }, 3000)[history] ?? '';
    expect(after).toBe(`${many.slice('1000,'.length)},2000`);
    expect(annotated({ revision: '9', annotations: { [history]: 'x'.repeat(2000) } }, 10)[history]).toBe('9');
    // 2000 characters fit.
    const just = 'x'.repeat(1998);
    expect(annotated({ revision: '9', annotations: { [history]: just } }, 10)[history]).toBe(`${just},9`);
  });

  test('is left alone if its revision is not a number', () => {
    expect(annotated({ revision: 'mine' }, 3)).toEqual({ [revision]: 'mine' });
  });
});

test('a rollback restores the annotations of the ReplicaSet', () => {
  const set = replicaSet('v', 1, { revision: '2', desired: 1, annotations: { cause: 'then', [lastApplied]: 'never' } });
  expect(annotationsAfterRollback(deployment(1, { annotations: { ...own, mine: 'x' } }), set)).toEqual({
    [lastApplied]: '{}',
    [revision]: '9',
    'deprecated.deployment.rollback.to': '1',
    cause: 'then',
  });
});
