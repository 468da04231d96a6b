import { expect, test } from 'vitest';
import { created, refusal, row, statusRefusal, updateRefusal } from '../try-kind.ts';
import { jobKind } from '../batch/job.ts';
import { podKind } from './pod.ts';

/**
 * Objects as large as a request may be. Work that grows with the square of their size would take minutes here, and a server
 * that is busy for minutes is down.
 */
const MANY = 20_000;
const many = <T>(make: (i: number) => T): T[] => Array.from({ length: MANY }, (_, i) => make(i));
const raw = (spec: object) => ({ metadata: { name: 'web' }, spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec } });

test('mounts, devices and ports', () => {
  const container = {
    name: 'main',
    image: 'nginx',
    volumeMounts: many((i) => ({ name: 'a', mountPath: `/m${i}` })),
    volumeDevices: many((i) => ({ name: `c${i}`, devicePath: `/d${i}` })),
    ports: many(() => ({ containerPort: 80 })),
    resources: { claims: many((i) => ({ name: 'c', request: `r${i}` })) },
  };
  const spec = {
    containers: [container],
    volumes: [{ name: 'a' }, { name: 'b', configMap: { name: 'c', items: many((i) => ({ key: 'k', path: `p${i}/x` })) } }],
  };
  expect(refusal(podKind, raw(spec)).length).toBe(2 * MANY);
  expect(podKind.warnings?.(created(podKind, raw(spec)), undefined).length).toBeLessThan(1000);
});

test('tolerations, constraints, keys of labels', () => {
  const spec = {
    tolerations: many((i) => ({ key: `k${i}`, operator: 'Exists' })),
    topologySpreadConstraints: many((i) => ({ maxSkew: 1, topologyKey: `t${i}`, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} })),
    hostAliases: many((i) => ({ ip: `10.0.${i >> 8}.${i & 255}` })),
  };
  const pod = created(podKind, raw(spec));
  expect(updateRefusal(podKind, pod, () => {})).toEqual([]);
  expect(podKind.warnings?.(pod, undefined)).toEqual([]);
});

test('containers and their states', () => {
  const containers = many((i) => ({ name: `c${i}`, image: 'x' }));
  const old = created(podKind, raw({ containers, restartPolicy: 'Never' }));
  const states = many((i) => ({ name: `c${i}`, state: { terminated: { exitCode: 0 } }, lastState: {}, ready: false, restartCount: 0 }));
  const conditions = many((i) => ({ type: `t${i}`, status: 'True' }));
  Object.assign(old.status, { containerStatuses: states, conditions });
  expect(statusRefusal(podKind, old, () => {})).toEqual([]);
  expect(row(podKind, old)).toMatchObject({ Ready: `0/${MANY}` });
});

test('indexes of a job', () => {
  const spec = {
    completionMode: 'Indexed',
    completions: 4 * MANY,
    parallelism: 1,
    backoffLimitPerIndex: 1,
    template: { spec: { ...raw({}).spec, restartPolicy: 'Never' } },
  };
  const job = created(jobKind, { metadata: { name: 'once' }, spec });
  const [even, odd] = [many((i) => 2 * i).join(','), many((i) => 2 * i + 1).join(',')];
  expect(statusRefusal(jobKind, job, ({ status }) => Object.assign(status, { completedIndexes: even, failedIndexes: odd }))).toEqual([]);
});

test('more errors than fit on a stack', () => {
  const items = Array.from({ length: 49_000 }, () => ({ key: '', path: '' }));
  expect(refusal(podKind, raw({ volumes: [{ name: 'a', configMap: { name: 'c', items } }] })).length).toBe(2 * items.length);
});
