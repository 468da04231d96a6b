import { describe, expect, test } from 'vitest';
import type { Container, Pod } from '../../../api/generated/types.ts';
import { scriptOf } from './script.ts';

const [app, helper]: [Container, Container] = [
  { name: 'app', resources: {} },
  { name: 'helper', resources: {} },
];
const [init, sidecar]: [Container, Container] = [
  { name: 'init', resources: {} },
  { name: 'sidecar', resources: {}, restartPolicy: 'Always' },
];

const pod = (annotations: Record<string, string>, ownerReferences: Pod['metadata']['ownerReferences'] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`mooring.dev/${name}`, value])), ownerReferences },
  spec: { containers: [app, helper], initContainers: [init, sidecar] },
  status: {},
});

describe('without annotations', () => {
  test('containers run until they are stopped, init containers not at all', () => {
    const script = scriptOf(pod({}));
    expect([app, helper, init, sidecar].map((each) => script.runFor(each))).toEqual([undefined, undefined, 0, undefined]);
    expect([script.exitCode(app), script.readyAfter(app), script.stopAfter(app), script.problems]).toEqual([0, 0, 0, []]);
  });

  test('those of a pod that may run only once and only so long take a second: they have something to do that ends', () => {
    const limited = (restartPolicy: string, activeDeadlineSeconds?: number): Pod => {
      const base = pod({});
      return { ...base, spec: { ...base.spec, restartPolicy, ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }) } };
    };
    expect(scriptOf(limited('Never', 60)).runFor(app)).toBe(1000);
    expect(scriptOf(limited('Never')).runFor(app)).toBeUndefined();
    expect(scriptOf(limited('Always', 60)).runFor(app)).toBeUndefined();
  });

  test('those of a Job take a second; those of something that is only called so do not', () => {
    const owner = (kind: string, apiVersion: string, controller = true) => [{ kind, apiVersion, name: 'x', uid: 'u', controller }];
    expect(scriptOf(pod({}, owner('Job', 'batch/v1'))).runFor(app)).toBe(1000);
    expect(scriptOf(pod({ 'run-for': '1h' }, owner('Job', 'batch/v1'))).runFor(app)).toBe(3_600_000);
    expect(scriptOf(pod({}, owner('Job', 'example.com/v1'))).runFor(app)).toBeUndefined();
    expect(scriptOf(pod({}, owner('Job', 'batch/v1', false))).runFor(app)).toBeUndefined();
  });
});

test.each([
  ['30s', 30_000],
  ['30', 30_000],
  ['0', 0],
  ['1h30m', 5_400_000],
  ['500ms', 500],
  [' 2m ', 120_000],
])('%j is %i ms', (text, ms) => expect(scriptOf(pod({ 'run-for': text })).runFor(app)).toBe(ms));

test('one value is for all regular containers, others by name', () => {
  const script = scriptOf(pod({ 'run-for': '10s,helper=20s,init=30s,sidecar=40s', 'exit-code': 'helper=3' }));
  expect([app, helper, init, sidecar].map((each) => script.runFor(each))).toEqual([10_000, 20_000, 30_000, 40_000]);
  expect([app, helper, init].map((each) => script.exitCode(each))).toEqual([0, 3, 0]);
});

test('ready never', () => expect(scriptOf(pod({ 'ready-after': 'never' })).readyAfter(app)).toBe(Number.POSITIVE_INFINITY));

test.each([
  ['run-for', 'soon'],
  ['run-for', '-1s'],
  ['run-for', '1.5s'],
  ['run-for', ''],
  ['run-for', '99999999999999'],
  ['run-for', 'never'],
  ['exit-code', '256'],
  ['exit-code', '-1'],
  ['exit-code', 'x'],
  ['stop-after', 'app='],
])('%s: %j is ignored, and said to be', (name, text) => {
  const script = scriptOf(pod({ [name]: text }));
  expect(script.problems).toEqual([`mooring.dev/${name}: "${text}" makes no sense and is ignored`]);
  expect([script.runFor(app), script.exitCode(app), script.stopAfter(app)]).toEqual([undefined, 0, 0]);
});

test('what can be read counts all the same', () => expect(scriptOf(pod({ 'run-for': 'x,helper=1s' })).runFor(helper)).toBe(1000));
