import { describe, expect, test } from 'vitest';
import { apiVersionOf, type Kind } from '../kind.ts';
import { cloneObject } from '../schema/index.ts';
import { randomObject, seededRandom } from '../schema/random-object.ts';
import { createErrors, statusUpdateErrors, updateErrors } from '../validation/strategy.ts';
import { created, decoded, NOW, type Raw, refusal, row, updated, updateRefusal } from './try-kind.ts';
import { workloadKinds } from './workload-kinds.ts';
import { workloadSamples } from './workload-samples.ts';

const each = workloadKinds.map((kind): [string, Kind] => [`${apiVersionOf(kind)} ${kind.kind}`, kind]);
const sampleOf = (kind: Kind): Raw => workloadSamples[kind.type] ?? {};

/** What discovery and `kubectl get -o wide` show of each kind. `*`: only with -o wide. */
const published: Readonly<Record<string, readonly [shortNames: string, categories: string, columns: string]>> = {
  'v1 pods': ['po', 'all', 'Name Ready Status Restarts Age IP* Node* Nominated_Node* Readiness_Gates*'],
  'v1 podtemplates': ['', '', 'Name Containers Images Pod_Labels'],
  'apps/v1 controllerrevisions': ['', '', 'Name Controller Revision Age'],
  'apps/v1 daemonsets': [
    'ds',
    'all',
    'Name Desired:integer Current:integer Ready:integer Up-to-date:integer Available:integer Node_Selector Age Containers* Images* Selector*',
  ],
  'apps/v1 deployments': ['deploy', 'all', 'Name Ready Up-to-date Available Age Containers* Images* Selector*'],
  'apps/v1 replicasets': ['rs', 'all', 'Name Desired:integer Current:integer Ready:integer Age Containers* Images* Selector*'],
  'v1 replicationcontrollers': ['rc', 'all', 'Name Desired:integer Current:integer Ready:integer Age Containers* Images* Selector*'],
  'apps/v1 statefulsets': ['sts', 'all', 'Name Ready Age Containers* Images*'],
  'batch/v1 cronjobs': ['cj', 'all', 'Name Schedule Timezone Suspend:boolean Active:integer Last_Schedule Age Containers* Images* Selector*'],
  'batch/v1 jobs': ['', 'all', 'Name Status Completions Duration Age Containers* Images* Selector*'],
};

test('short names, categories and columns are those of Kubernetes', () => {
  const shown = workloadKinds.map((kind) => {
    const columns = kind.columns.map(
      ({ name, type, priority }) => `${name.replaceAll(' ', '_')}${type === 'string' ? '' : `:${type}`}${priority === 1 ? '*' : ''}`,
    );
    return [`${apiVersionOf(kind)} ${kind.plural}`, [kind.shortNames.join(' '), kind.categories.join(' '), columns.join(' ')]];
  });
  expect(Object.fromEntries(shown)).toEqual(published);
});

test('which kinds have a status and which can be scaled', () => {
  const having = (part: 'status' | 'scale'): string[] => workloadKinds.filter((kind) => kind[part] !== undefined).map((kind) => kind.kind);
  expect(having('status')).toEqual(['Pod', 'DaemonSet', 'Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'CronJob', 'Job']);
  expect(having('scale')).toEqual(['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet']);
});

describe.each(each)('%s', (_, kind) => {
  test('its least sample is accepted, and so is the same again', () => {
    expect(refusal(kind, sampleOf(kind))).toEqual([]);
    expect(updateRefusal(kind, created(kind, sampleOf(kind)), () => {})).toEqual([]);
  });

  test('defaults are complete after one round', () => {
    const once = created(kind, sampleOf(kind));
    const twice = cloneObject(once);
    kind.defaults?.(twice);
    expect(twice).toEqual(once);
  });

  test('the form it is stored in survives decoding', () => {
    const object = created(kind, sampleOf(kind));
    expect(decoded(kind, JSON.parse(JSON.stringify(object)) as Raw)).toEqual(object);
  });

  test('every column and every selectable field has a value', () => {
    const object = created(kind, sampleOf(kind));
    for (const cell of Object.values(row(kind, object))) expect(cell).not.toBeUndefined();
    for (const select of Object.values(kind.selectableFields)) expect(typeof select(object)).toBe('string');
  });

  test('a status given at creation is ignored', () => {
    if (kind.status === undefined) return;
    const status = { replicas: 7, phase: 'Running', currentNumberScheduled: 7, active: kind.type === 'CronJob' ? [{ name: 'x' }] : 7 };
    expect(created(kind, { ...sampleOf(kind), status })).toEqual(created(kind, sampleOf(kind)));
  });
});

describe('whatever fits the schema is handled', () => {
  test.each(each)('%s', (_, kind) => {
    const random = seededRandom(1);
    for (let i = 0; i < 60; i++) {
      const object = decoded(kind, randomObject(kind.type, random));
      const again = cloneObject(object);
      kind.defaults?.(again);
      expect(again).toEqual(object);
      kind.prepareForCreate?.(object, NOW);
      createErrors(kind, object);
      const other = updated(kind, object, (copy) => Object.assign(copy, randomObject(kind.type, random)));
      updateErrors(kind, other, object);
      kind.status?.prepareForUpdate?.(other, object, NOW);
      statusUpdateErrors(kind, other, object);
      kind.warnings?.(object, undefined);
      kind.warnings?.(other, object);
      kind.gracePeriod?.(object, undefined);
      row(kind, object);
    }
  });

  test.each(each)('%s with the names of an object’s own methods as keys', (_, kind) => {
    const hostile = JSON.parse('{"constructor":"1000","toString":"2000","__proto__":"3000"}') as Raw;
    const sample = sampleOf(kind) as { spec?: object; metadata: object };
    const pod = {
      containers: [{ name: 'constructor', image: 'x', resources: { limits: hostile, requests: hostile } }],
      nodeSelector: hostile,
      overhead: hostile,
      resources: { limits: hostile },
      volumes: [{ name: 'toString', flexVolume: { driver: 'x', options: hostile } }],
    };
    const template = { metadata: { labels: hostile, annotations: hostile }, spec: pod };
    const selector = kind.type === 'ReplicationController' ? hostile : { matchLabels: hostile };
    const spec = kind.type === 'Pod' ? pod : { ...sample.spec, template, selector, jobTemplate: { spec: { template } } };
    const object = decoded(kind, { ...sample, metadata: { ...sample.metadata, labels: hostile, annotations: hostile }, spec });
    kind.prepareForCreate?.(object, NOW);
    createErrors(kind, object);
    updateErrors(kind, created(kind, sample), object);
    row(kind, object);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});
