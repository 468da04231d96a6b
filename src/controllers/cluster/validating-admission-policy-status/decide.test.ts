import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { decideStatus } from './decide.ts';

const policy = (generation: number, status: ValidatingAdmissionPolicyStatus): Stored<ValidatingAdmissionPolicy> => ({
  kind: 'ValidatingAdmissionPolicy',
  apiVersion: 'admissionregistration.k8s.io/v1',
  metadata: { name: 'p', uid: 'u', resourceVersion: '1', generation },
  spec: {},
  status,
});

test('a policy that is new, or was changed, is observed', () => {
  expect(decideStatus(policy(1, {})).actions).toEqual([
    { do: 'updateStatus', from: policy(1, {}), object: policy(1, { observedGeneration: 1, typeChecking: {} }) },
  ]);
  expect(decideStatus(policy(3, { observedGeneration: 2, conditions: [] })).actions[0]?.object.status).toEqual({
    observedGeneration: 3,
    typeChecking: {},
    conditions: [],
  });
  expect(decideStatus(policy(2, { observedGeneration: 2 })).actions).toEqual([]);
});

test('it settles, also after a crash', () => {
  fc.assert(
    fc.property(fc.nat({ max: 5 }), fc.nat({ max: 5 }), (generation, observedGeneration) => {
      const before = policy(generation, { observedGeneration });
      const after = decideStatus(before).actions[0]?.object ?? before;
      expect(decideStatus(after).actions).toEqual([]);
      expect(after.status.observedGeneration).toBe(Math.max(generation, observedGeneration));
      expect(decideStatus(before)).toEqual(decideStatus(before));
    }),
  );
});
