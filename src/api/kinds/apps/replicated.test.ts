import { describe, expect, test } from 'vitest';
import type { DaemonSet, Deployment, ReplicaSet } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { created, refusal, row, statusRefusal, statusUpdated, updated, updateRefusal } from '../try-kind.ts';
import { controllerRevisionKind } from './controller-revision.ts';
import { daemonSetKind } from './daemon-set.ts';
import { deploymentKind } from './deployment.ts';
import { replicaSetKind } from './replica-set.ts';
import { podSpec } from '../workload-samples.ts';

type Set = Deployment | ReplicaSet | DaemonSet;

const template = { metadata: { labels: { app: 'web' } }, spec: podSpec };
const raw = (spec: object = {}) => ({ metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template, ...spec } });
const kinds: readonly [string, Kind<Set>][] = [
  ['a deployment', deploymentKind as unknown as Kind<Set>],
  ['a replica set', replicaSetKind as unknown as Kind<Set>],
  ['a daemon set', daemonSetKind as unknown as Kind<Set>],
];

describe.each(kinds)('%s', (_, kind) => {
  test('keeps its selector', () => {
    const edit = ({ spec }: Set): void => {
      spec.selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
    };
    expect(updateRefusal(kind, created(kind, raw()), edit)).toEqual([
      'FieldValueInvalid spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}: field is immutable',
    ]);
  });

  test('selects its own pods', () => {
    expect(refusal(kind, raw({ selector: { matchLabels: { app: 'db' } } }))).toEqual([
      'FieldValueInvalid spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ]);
  });

  test('has pods that run for good', () => {
    expect(refusal(kind, raw({ template: { ...template, spec: { ...podSpec, restartPolicy: 'OnFailure' } } }))).toEqual([
      'FieldValueNotSupported spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"',
    ]);
  });

  test('has pods as good as any, their metadata at the template itself', () => {
    const bad = {
      metadata: { labels: { app: 'web', 'no good': 'x' } },
      spec: { containers: [{ name: 'main' }], volumes: [{ name: 'v', hostPath: { path: '' } }] },
    };
    const lines = refusal(kind, raw({ template: bad })).map((line) => line.split(':')[0]);
    expect(lines).toEqual([
      'FieldValueInvalid spec.template.labels',
      'FieldValueRequired spec.template.spec.volumes[0].hostPath.path',
      'FieldValueRequired spec.template.spec.containers[0].image',
    ]);
  });

  test('accepts what is complete only in pods', () => {
    const spec = { hostNetwork: true, containers: [{ name: 'main', image: ' ', ports: [{ containerPort: 80 }] }], volumes: [{ name: 'v', image: {} }] };
    expect(refusal(kind, raw({ template: { ...template, spec } }))).toEqual([]);
  });

  test('needs a selector that says something', () => {
    const of = kind.kind === 'DaemonSet' ? 'daemonset' : 'deployment';
    expect(refusal(kind, raw({ selector: {} }))).toEqual([`FieldValueInvalid spec.selector: Invalid value: {}: empty selector is invalid for ${of}`]);
  });
});

describe('deployments', () => {
  const said = (spec: object): string[] => refusal(deploymentKind, raw(spec));

  test('defaults', () => {
    const { template: _, selector: __, ...spec } = created(deploymentKind, raw()).spec;
    expect(spec).toEqual({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    expect(created(deploymentKind, raw({ strategy: { type: 'Recreate' } })).spec.strategy).toEqual({ type: 'Recreate' });
  });

  test('something must be able to move', () => {
    const rolling = (maxUnavailable: unknown, maxSurge: unknown): string[] => said({ strategy: { rollingUpdate: { maxUnavailable, maxSurge } } });
    const at = 'spec.strategy.rollingUpdate';
    expect(rolling(0, 1)).toEqual([]);
    expect(rolling(0, '0%')).toEqual([`FieldValueInvalid ${at}.maxUnavailable: Invalid value: 0: may not be 0 when \`maxSurge\` is 0`]);
    expect(rolling('101%', -1)).toEqual([
      `FieldValueInvalid ${at}.maxSurge: Invalid value: -1: must be greater than or equal to 0`,
      `FieldValueInvalid ${at}.maxUnavailable: Invalid value: "101%": must not be greater than 100%`,
    ]);
    expect(rolling('half', 1)).toEqual([
      `FieldValueInvalid ${at}.maxUnavailable: Invalid value: "half": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
    ]);
  });

  test('strategies and deadlines', () => {
    expect(said({ strategy: { type: 'Recreate', rollingUpdate: {} } })).toEqual([
      "FieldValueForbidden spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ]);
    expect(said({ strategy: { type: 'Magic' } })).toEqual([
      'FieldValueNotSupported spec.strategy: Unsupported value: {"Type":"Magic","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ]);
    expect(said({ minReadySeconds: 600 })).toEqual([
      'FieldValueInvalid spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds',
    ]);
    expect(said({ replicas: -1, revisionHistoryLimit: -1 })).toEqual([
      'FieldValueInvalid spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });

  test('a change of annotations is a new generation', () => {
    const old = created(deploymentKind, raw());
    const annotate = (deployment: Deployment): void => {
      deployment.metadata.annotations = { a: 'b' };
    };
    const label = (deployment: Deployment): void => {
      deployment.metadata.labels = { a: 'b' };
    };
    expect(deploymentKind.generationAlsoGrows?.(updated(deploymentKind, old, annotate), old)).toBe(true);
    expect(deploymentKind.generationAlsoGrows?.(updated(deploymentKind, old, label), old)).toBe(false);
  });

  test('a status neither changes labels nor counts wrong', () => {
    const old = { ...created(deploymentKind, raw()), status: { collisionCount: 1 } };
    const relabelled = statusUpdated(deploymentKind, old, ({ metadata }) => Object.assign(metadata, { labels: { a: 'b' } }));
    expect(relabelled.metadata.labels).toBeUndefined();
    expect(
      statusRefusal(deploymentKind, old, ({ status }) => Object.assign(status, { replicas: 1, readyReplicas: 1, availableReplicas: 2, collisionCount: 0 })),
    ).toEqual([
      'FieldValueInvalid status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
      'FieldValueInvalid status.collisionCount: Invalid value: 0: cannot be decremented',
    ]);
  });

  test('its row', () => {
    const object = { ...created(deploymentKind, raw({ replicas: 3 })), status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 } };
    expect(row(deploymentKind, object)).toEqual({
      Name: 'web',
      Ready: '1/3',
      'Up-to-date': 2,
      Available: 1,
      Age: '60m',
      Containers: 'main',
      Images: 'nginx',
      Selector: 'app=web',
    });
  });
});

describe('daemon sets', () => {
  const GENERATION = 'deprecated.daemonset.template.generation';

  test('defaults', () => {
    const { spec, metadata } = created(daemonSetKind, raw());
    expect(spec.updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
    expect(spec.revisionHistoryLimit).toBe(10);
    expect(metadata.annotations).toEqual({ [GENERATION]: '1' });
  });

  test('count the changes of their template, whatever clients say', () => {
    const old = created(daemonSetKind, raw());
    const generation = (edit: (set: DaemonSet) => void): string | undefined => updated(daemonSetKind, old, edit).metadata.annotations?.[GENERATION];
    expect(generation(({ metadata }) => Object.assign(metadata, { annotations: { [GENERATION]: '9' } }))).toBe('1');
    expect(generation(({ metadata }) => delete metadata.annotations)).toBe('1');
    expect(generation(({ spec }) => Object.assign(spec.template.spec, { nodeSelector: { a: 'b' } }))).toBe('2');
  });

  test('new pods come before the old go, or after', () => {
    const rolling = (maxUnavailable: unknown, maxSurge: unknown): string[] =>
      refusal(daemonSetKind, raw({ updateStrategy: { rollingUpdate: { maxUnavailable, maxSurge } } })).map((line) =>
        line.replace('spec.updateStrategy.rollingUpdate.', ''),
      );
    expect(rolling(0, 1)).toEqual([]);
    expect(rolling(1, 1)).toEqual(['FieldValueInvalid maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero']);
    expect(rolling(0, 0)).toEqual(['FieldValueRequired maxUnavailable: Required value: cannot be 0 when maxSurge is 0']);
  });

  test('its row', () => {
    const set = created(daemonSetKind, raw({ template: { ...template, spec: { ...podSpec, nodeSelector: { zone: 'a', disk: 'ssd' } } } }));
    expect(row(daemonSetKind, set)).toMatchObject({ Desired: 0, Current: 0, Ready: 0, 'Node Selector': 'disk=ssd,zone=a', Selector: 'app=web' });
    expect(row(daemonSetKind, created(daemonSetKind, raw()))).toMatchObject({ 'Node Selector': '<none>' });
  });
});

describe('replica sets', () => {
  test('their row, and their scale', () => {
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'NotIn', values: ['b', 'a'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    };
    const set = created(replicaSetKind, raw({ replicas: 2, selector }));
    expect(row(replicaSetKind, set)).toMatchObject({ Desired: 2, Current: 0, Ready: 0, Selector: 'app=web,!old,tier notin (a,b)' });
    expect(replicaSetKind.scale?.selector(set)).toBe('app=web,!old,tier notin (a,b)');
  });
});

describe('revisions', () => {
  const revision = (more: object) => ({ metadata: { name: 'web-1' }, revision: 1, data: { a: 1 }, ...more });

  test('keep a state, which is an object', () => {
    expect(refusal(controllerRevisionKind, revision({ data: undefined }))).toEqual(['FieldValueRequired data: Required value: data is mandatory']);
    expect(refusal(controllerRevisionKind, revision({ data: [1] }))).toEqual(['FieldValueRequired data: Required value: data must be a valid JSON object']);
    expect(refusal(controllerRevisionKind, revision({ revision: -1 }))).toEqual([
      'FieldValueInvalid revision: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });

  test('and keep it as it is', () => {
    const old = created(controllerRevisionKind, revision({}));
    expect(updateRefusal(controllerRevisionKind, old, (object) => Object.assign(object, { data: { a: 2 } }))).toEqual([
      'FieldValueInvalid data: Invalid value: {"a":2}: field is immutable',
    ]);
    expect(updateRefusal(controllerRevisionKind, old, (object) => Object.assign(object, { revision: 2 }))).toEqual([]);
  });

  test('show whose they are', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'u', controller: true };
    const owned = created(controllerRevisionKind, revision({ metadata: { name: 'db-1', ownerReferences: [owner] } }));
    expect(row(controllerRevisionKind, owned)).toMatchObject({ Controller: 'statefulset.apps/db', Revision: 1 });
    expect(row(controllerRevisionKind, created(controllerRevisionKind, revision({})))).toMatchObject({ Controller: '<none>' });
  });
});
