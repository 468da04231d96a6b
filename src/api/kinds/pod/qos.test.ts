import { expect, test } from 'vitest';
import { created } from '../try-kind.ts';
import { podKind } from './pod.ts';
import { podLimits, podRequests, qosClassOf } from './qos.ts';
import { toResourceList } from './resource-amounts.ts';

interface Needs {
  readonly containers?: object[];
  readonly initContainers?: object[];
  readonly resources?: object;
  readonly overhead?: object;
}

const container = (name: string, requests: object, limits: object = {}, more: object = {}): object => ({
  name,
  image: 'x',
  resources: { requests, limits },
  ...more,
});
const pod = (spec: Needs) => created(podKind, { metadata: { name: 'web' }, spec: { containers: [container('main', {})], ...spec } });
const requests = (spec: Needs) => toResourceList(podRequests(pod(spec)));
const limits = (spec: Needs) => toResourceList(podLimits(pod(spec)));
const sidecar = { restartPolicy: 'Always' };

test.each<[string, Needs, string]>([
  ['asks for nothing', {}, 'BestEffort'],
  ['asks for something else than cpu and memory', { containers: [container('a', { 'example.com/gpu': '1' }, { 'example.com/gpu': '1' })] }, 'BestEffort'],
  ['asks for zero', { containers: [container('a', { cpu: '0' })] }, 'BestEffort'],
  ['asks for some cpu', { containers: [container('a', { cpu: '1' })] }, 'Burstable'],
  ['is limited in all, and asks for that', { containers: [container('a', {}, { cpu: '1', memory: '1Gi' })] }, 'Guaranteed'],
  ['writes the same amount in two ways', { containers: [container('a', { cpu: '1000m', memory: '1Gi' }, { cpu: '1', memory: '1024Mi' })] }, 'Guaranteed'],
  ['asks for less than it is limited to', { containers: [container('a', { memory: '1Mi' }, { cpu: '1', memory: '1Gi' })] }, 'Burstable'],
  ['is limited in memory only', { containers: [container('a', {}, { memory: '1Gi' })] }, 'Burstable'],
  ['has one container that is not limited', { containers: [container('a', {}, { cpu: '1', memory: '1Gi' }), container('b', {})] }, 'Burstable'],
  [
    'has an init container that is not limited',
    { containers: [container('a', {}, { cpu: '1', memory: '1Gi' })], initContainers: [container('i', {})] },
    'Burstable',
  ],
  ['is limited as a whole', { resources: { limits: { cpu: '1', memory: '1Gi' } } }, 'Guaranteed'],
  ['asks for cpu as a whole', { resources: { requests: { cpu: '1' } } }, 'Burstable'],
])('a pod that %s', (_, spec, expected) => {
  expect(qosClassOf(pod(spec))).toBe(expected);
});

test('containers add up, with what the pod costs beside them', () => {
  const spec = { containers: [container('a', { cpu: '100m' }), container('b', { cpu: '200m', memory: '1Mi' })], overhead: { cpu: '5m', memory: '1Mi' } };
  expect(requests(spec)).toEqual({ cpu: '305m', memory: '2Mi' });
});

test('init containers run one at a time, before the others', () => {
  const spec = {
    containers: [container('a', { cpu: '1' }), container('b', { cpu: '1' })],
    initContainers: [container('i', { cpu: '3' }), container('j', { memory: '1Gi' })],
  };
  expect(requests(spec)).toEqual({ cpu: '3', memory: '1Gi' });
});

test('a sidecar keeps running: beside the containers, and beside the init containers that come after it', () => {
  const spec = {
    containers: [container('c', { cpu: '2' })],
    initContainers: [container('before', { cpu: '3' }), container('side', { cpu: '1' }, {}, sidecar), container('after', { cpu: '3' })],
  };
  expect(requests(spec)).toEqual({ cpu: '4' });
});

test('what is said of the pod as a whole counts', () => {
  const spec = { containers: [container('a', { cpu: '1', 'example.com/gpu': '1' }, { 'example.com/gpu': '1' })], resources: { requests: { cpu: '2' } } };
  expect(requests(spec)).toEqual({ cpu: '2', 'example.com/gpu': '1' });
});

test('overhead raises limits only where there are any', () => {
  const spec = { containers: [container('a', {}, { cpu: '1' })], overhead: { cpu: '100m', memory: '1Mi' } };
  expect(limits(spec)).toEqual({ cpu: '1100m' });
});
