import { describe, expect, test } from 'vitest';
import { done, live, type Model, pass, settle } from '../../../../test/controllers/deployment/model.ts';
import { ago, deployment, type DeploymentParts, replicaSet, type SetParts, template } from '../../../../test/controllers/deployment/objects.ts';
import type { Deployment, Pod, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';

const revised = { 'deployment.kubernetes.io/revision': '2' };
/** Of the current template, and noted on the Deployment as its second revision. */
const present = (replicas: number, parts: SetParts = {}) => replicaSet('now', replicas, { image: 'new', revision: '2', desired: 4, most: 5, ...parts });
const former = (replicas: number, parts: SetParts = {}) => replicaSet('then', replicas, { revision: '1', desired: 4, most: 5, age: 60, ...parts });
const four = (parts: DeploymentParts = {}): Stored<Deployment> => deployment(4, { surge: 1, annotations: revised, ...parts });
const recreating = (parts: DeploymentParts = {}) => four({ ...parts, spec: { strategy: { type: 'Recreate' }, ...parts.spec } });
const noted = { progressDeadlineSeconds: 600 };
const condition = (reason: string, status = 'True') => ({
  type: 'Progressing',
  status,
  reason,
  message: '',
  lastUpdateTime: ago(1),
  lastTransitionTime: ago(1),
});
const of = (one: Stored<Deployment>, ...sets: readonly Stored<ReplicaSet>[]): Model => ({ deployment: one, sets });
const nameOf = (model: Model) => model.sets.at(-1)?.metadata.name ?? '';

describe('a deployment of a new template', () => {
  test('creates a ReplicaSet, records an event, and notes the revision', () => {
    const model = of(deployment(3, { surge: 1, annotations: { cause: 'x' }, spec: noted }));
    const made = pass(model);
    const [set] = made.sets;
    const name = nameOf(made);
    const hash = name.slice('web-'.length);
    expect(done(model)).toEqual([`create ${name} 3`, `say Scaled up replica set ${name} from 0 to 3`, 'status NewReplicaSetCreated']);
    expect(hash).toMatch(/^[bcdf4-9]{1,10}$/);
    expect(set).toMatchObject({
      metadata: {
        labels: { app: 'web', 'pod-template-hash': hash },
        annotations: {
          cause: 'x',
          'deployment.kubernetes.io/revision': '1',
          'deployment.kubernetes.io/desired-replicas': '3',
          'deployment.kubernetes.io/max-replicas': '4',
        },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'deployment', controller: true, blockOwnerDeletion: true }],
      },
      spec: { selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } }, template: template('new', hash) },
    });
    expect(made.deployment.metadata.annotations).toEqual({ cause: 'x', 'deployment.kubernetes.io/revision': '1' });
    expect(made.deployment.status.conditions?.[0]?.message).toBe(`Created new replica set "${name}"`);
  });

  test('has the same name each time, and another for another template or after a collision', () => {
    const name = (one: Stored<Deployment>) => nameOf(pass(of(one)));
    expect(name(four())).toBe(name(four()));
    expect(new Set([name(four()), name(four({ image: 'other' })), name(four({ status: { collisionCount: 1 } }))]).size).toBe(3);
    expect(name(four({ metadata: { name: 'x'.repeat(253) } }))).toMatch(/^x{242,251}-[bcdf4-9]{1,10}$/);
  });

  test('starts as large as maxSurge allows', () => {
    const made = pass(of(four({ annotations: {} }), former(4)));
    expect(made.sets[1]?.spec.replicas).toBe(1);
    expect(made.sets[1]?.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  });

  test('increases collisionCount if another template or owner has the name', () => {
    const name = nameOf(pass(of(four())));
    const taken = (parts: SetParts) => of(four(), { ...former(0, parts), metadata: { ...former(0, parts).metadata, name } });
    for (const model of [taken({ image: 'edited' }), taken({ image: 'new', metadata: { ownerReferences: [], labels: {} } })]) {
      const counted = pass(model);
      expect(counted.deployment.status.collisionCount).toBe(1);
      expect(pass(counted).sets).toHaveLength(2);
    }
  });
});

describe('the replica sets of a deployment', () => {
  test('are those that it selects: some are adopted, others released', () => {
    const orphan = former(0, { metadata: { ownerReferences: [] } });
    const stray = present(0, { metadata: { labels: { app: 'other' } } });
    expect(done(of(four(), stray, orphan))).toEqual(['release now', 'confirm', 'adopt then']);
    expect(done(of(four({ metadata: { deletionTimestamp: ago(1) } }), stray, orphan))).toEqual(['status MinimumReplicasUnavailable']);
  });

  test('one of the same template is used, whatever its hash, and noted', () => {
    const found = of(four({ annotations: {}, spec: noted }), replicaSet('mine', 0, { image: 'new' }));
    expect(done(found)).toEqual(['scale mine 0']);
    const annotated = pass(found);
    expect(done(annotated)).toEqual(['status FoundNewReplicaSet']);
    expect(pass(annotated).deployment).toMatchObject({
      metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } },
      status: { conditions: [{ message: 'Found new replica set "mine"' }] },
    });
  });

  test('of two of the same template the older is the current one', () => {
    const model = settle(of(four(), present(0), replicaSet('older', 4, { image: 'new', revision: '3', desired: 4, most: 5, age: 90 })));
    expect(model.sets.map(({ metadata, spec }) => `${metadata.name} ${spec.replicas ?? 0}`)).toEqual(['now 0', 'older 4']);
  });

  test('the current one follows in annotations and minReadySeconds, and no other does', () => {
    const model = pass(of(four({ annotations: { ...revised, cause: 'y' }, spec: { minReadySeconds: 7 } }), present(4), former(0)));
    expect(model.sets[0]).toMatchObject({ metadata: { annotations: { cause: 'y' } }, spec: { minReadySeconds: 7, replicas: 4 } });
    expect(model.sets[1]).toEqual(former(0));
    expect(pass(of(four({ spec: { minReadySeconds: 7 } }), present(4))).sets[0]?.spec.minReadySeconds).toBe(7);
  });

  test('old ones beyond revisionHistoryLimit are deleted, the oldest revisions first', () => {
    const old = (name: string, revision: string, parts: SetParts = {}) => replicaSet(name, 0, { revision, image: name, age: 100, ...parts });
    const sets = [old('a', '10'), old('b', '9'), old('c', '11', { metadata: { generation: 2 } }), old('d', '12')];
    const complete = { replicas: 4, updatedReplicas: 4, availableReplicas: 4, observedGeneration: 1 };
    const limited = (revisionHistoryLimit: number, status = complete) =>
      of(four({ annotations: { 'deployment.kubernetes.io/revision': '13' }, status, spec: { revisionHistoryLimit } }), present(4, { revision: '13' }), ...sets);
    expect(done(limited(2))).toEqual(['delete b', 'delete a']);
    // The status of c is behind its generation.
    expect(done(limited(0))).toEqual(['delete b', 'delete a', 'delete d']);
    expect(done(limited(4))[0]).toMatch(/^status/);
    expect(done(limited(2, { ...complete, availableReplicas: 3 }))[0]).toMatch(/^status/);
    expect(done(limited(2 ** 31 - 1))[0]).toMatch(/^status/);
  });
});

describe('a rolling update', () => {
  test('scales the new up, then the old down, and writes the status only when neither changes', () => {
    const start = of(four(), present(1, { available: 0 }), former(4));
    expect(done(start)[0]).toMatch(/^status/);
    const ready = live(start);
    expect(done(ready)).toEqual(['scale then 3', 'say Scaled down replica set then from 4 to 3']);
    expect(done(pass(ready))).toEqual(['scale now 2', 'say Scaled up replica set now from 1 to 2']);
  });

  test('never has too many pods, nor too few that are available', () => {
    for (const [surge, unavailable] of [
      [1, 0],
      [0, 1],
      [2, 2],
      ['25%', '25%'],
      [4, 4],
      [0, '1%'],
    ] as const) {
      const rolling = deployment(4, { surge, unavailable, annotations: revised });
      const limits = { most: 4 + (surge === '25%' ? 1 : surge), least: 4 - (typeof unavailable === 'string' ? 1 : unavailable) };
      const end = settle(of(rolling, former(4)), ({ sets }) => {
        const sum = (count: (set: ReplicaSet) => number) => sets.reduce((total, set) => total + count(set), 0);
        expect(sum(({ spec }) => spec.replicas ?? 0)).toBeLessThanOrEqual(limits.most);
        expect(sum(({ status }) => status.availableReplicas ?? 0)).toBeGreaterThanOrEqual(limits.least);
      });
      expect(end.sets.map(({ spec }) => spec.replicas)).toEqual([0, 4]);
    }
  });

  test('gives every ReplicaSet its share if it is scaled during the rollout', () => {
    const grown = { ...four(), spec: { ...four().spec, replicas: 8 } };
    expect(done(of(grown, present(2), former(3))).filter((line) => line.startsWith('scale'))).toEqual(['scale then 5', 'scale now 4']);
  });

  test('waits for pods that do not become ready, and rolls back on request', () => {
    const stuck = live(pass(of(four({ annotations: {} }), former(4))), ({ metadata }) => (metadata.name === 'then' ? 4 : 0));
    const told = live(pass(stuck), ({ metadata }) => (metadata.name === 'then' ? 4 : 0));
    expect(done(told).filter((line) => !line.startsWith('status'))).toEqual([]);
    const back = settle({ ...told, deployment: { ...told.deployment, spec: { ...told.deployment.spec, template: template('old') } } });
    expect(back.sets.map(({ metadata, spec }) => [metadata.annotations?.['deployment.kubernetes.io/revision'], spec.replicas])).toEqual([
      ['3', 4],
      ['2', 0],
    ]);
    expect(back.sets[0]?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1');
  });
});

describe('a deployment with strategy Recreate', () => {
  const left = (phase: string): ReadonlyMap<string, readonly Pod[]> =>
    new Map([['then', [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', deletionTimestamp: ago(1) }, spec: { containers: [] }, status: { phase } }]]]);

  test('deletes the old pods, waits until they are gone, and only then creates new ones', () => {
    const start = of(recreating({ annotations: {} }), former(4));
    expect(done(start)).toEqual(['scale then 0', 'say Scaled down replica set then from 4 to 0']);
    const scaled = pass(start);
    expect(done(scaled)[0]).toMatch(/^status/);
    const gone = live(scaled);
    expect(done({ ...gone, pods: left('Running') })[0]).toMatch(/^status/);
    expect(done({ ...gone, pods: left('Unknown') })[0]).toMatch(/^status/);
    expect(done({ ...gone, pods: left('Succeeded') })[0]).toMatch(/^create web-\w+ 4$/);
    expect(settle(gone).sets.map(({ spec }) => spec.replicas)).toEqual([0, 4]);
  });

  test('gives the new ReplicaSet its whole size at once', () => {
    expect(done(of(recreating(), present(0, { desired: 4, most: 4 }), former(0)))).toEqual(['scale now 4', 'say Scaled up replica set now from 0 to 4']);
  });
});

describe('a paused deployment', () => {
  const paused = (parts: DeploymentParts = {}) => four({ ...parts, spec: { ...noted, paused: true, ...parts.spec } });

  test('has a condition for pause and for resume', () => {
    expect(pass(of(paused(), present(4))).deployment.status.conditions).toMatchObject([
      { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' },
    ]);
    const resumed = four({ spec: noted, status: { conditions: [condition('DeploymentPaused', 'Unknown')] } });
    expect(pass(of(resumed, present(4))).deployment.status.conditions).toMatchObject([
      { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' },
    ]);
  });

  test('has no such condition without a deadline, or after the deadline was exceeded', () => {
    expect(done(of(four({ spec: { paused: true } }), present(4)))).toEqual(['status MinimumReplicasAvailable']);
    expect(done(of(paused({ status: { conditions: [condition('ProgressDeadlineExceeded', 'False')] } }), present(4)))[0]).toBe(
      'status ProgressDeadlineExceeded MinimumReplicasAvailable',
    );
  });

  test('does not roll out, but scales in proportion and deletes old ReplicaSets', () => {
    const status = { conditions: [condition('DeploymentPaused', 'Unknown')] };
    expect(done(of(paused({ status }), former(4)))).toEqual(['status DeploymentPaused MinimumReplicasAvailable']);
    const grown = { ...paused({ status }), spec: { ...paused().spec, replicas: 8 } };
    expect(done(of(grown, present(2), former(3))).filter((line) => line.startsWith('scale'))).toEqual(['scale then 5', 'scale now 4']);
    expect(done(of(paused({ status, spec: { revisionHistoryLimit: 0 } }), present(4), former(0)))).toEqual(['delete then']);
  });
});

describe('a deployment with a rollback annotation', () => {
  const asked = (to: string) => four({ annotations: { ...revised, 'deprecated.deployment.rollback.to': to } });

  test.each(['1', '0'])('to revision %s gets that template', (to) => {
    const model = of(asked(to), present(4), former(0, { annotations: { cause: 'then' } }));
    expect(done(model)).toEqual(['update', 'say Rolled back deployment "web" to revision 1']);
    expect(pass(model).deployment).toMatchObject({ spec: { template: template('old') }, metadata: { annotations: { ...revised, cause: 'then' } } });
    expect(pass(model).deployment.metadata.annotations).not.toHaveProperty('deprecated.deployment.rollback.to');
  });

  test.each([
    ['7', [present(4), former(0)], 'Unable to find the revision to rollback to.'],
    ['0', [present(4)], 'Unable to find last revision.'],
    ['2', [present(4), former(0)], 'The rollback revision contains the same template as current deployment "web"'],
  ])('to revision %s records why it cannot', (to, sets, why) => {
    const model = of(asked(to), ...sets);
    expect(done(model)).toEqual([`say ${why}`, 'update']);
    expect(pass(model).deployment.spec).toEqual(model.deployment.spec);
  });

  test('that is not a number does nothing', () => {
    expect(done(of(asked('back'), present(4), former(0)))[0]).toMatch(/^status/);
  });
});

test('a deployment that is being deleted writes its status and does nothing else', () => {
  expect(done(of(four({ image: 'newer', metadata: { deletionTimestamp: ago(1) } }), present(2)))).toEqual(['status MinimumReplicasUnavailable']);
});
