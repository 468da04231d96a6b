import { expect, test } from 'vitest';
import type { PodSpec, ResourceRequirements } from '../../api/generated/types.ts';
import { podLimitsOf } from './pod-limits.ts';

const limitsOf = (over: Partial<PodSpec>, ...containers: readonly ResourceRequirements[]) =>
  podLimitsOf({ spec: { containers: containers.map((resources, index) => ({ name: `c${index}`, resources })), ...over } });
const small = { limits: { cpu: '100m', memory: '64Mi' }, requests: { cpu: '50m', memory: '64Mi' } };
const mebi = 2 ** 20;

test('a pod has the sum of its containers, and its overhead', () => {
  expect(limitsOf({}, small, small)).toEqual({ cpuMilli: 200, cpuRequestMilli: 100, memoryBytes: 128 * mebi });
  expect(limitsOf({ overhead: { cpu: '250m', memory: '120Mi' } }, small, small)).toEqual({ cpuMilli: 450, cpuRequestMilli: 350, memoryBytes: 248 * mebi });
});

test('with a container that has no limit, the pod has none of that resource', () => {
  expect(limitsOf({ overhead: { memory: '120Mi' } }, small, { limits: { cpu: '1' }, requests: { cpu: '1' } })).toEqual({
    cpuMilli: 1100,
    cpuRequestMilli: 1050,
    memoryBytes: undefined,
  });
});

test('what the pod says for itself counts', () => {
  expect(limitsOf({ resources: { limits: { memory: '1Gi' }, requests: { cpu: '2' } } }, {}, small)).toEqual({
    cpuMilli: undefined,
    cpuRequestMilli: 2000,
    memoryBytes: 1024 * mebi,
  });
});

test('without requests it has the least share', () => expect(limitsOf({}, {})).toEqual({ cpuMilli: undefined, cpuRequestMilli: 0, memoryBytes: undefined }));
