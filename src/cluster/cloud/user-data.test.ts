import { expect, test } from 'vitest';
import { kubeletUserData, readUserData } from './user-data.ts';

test('labels and taints come back from user data as they were written', () => {
  const settings = {
    labels: { 'karpenter.sh/nodepool': 'default', empty: '' },
    taints: [
      { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
      { key: 'team', value: 'a', effect: 'NoSchedule' },
    ],
  };
  expect(readUserData(kubeletUserData(settings))).toEqual(settings);
  expect(readUserData(undefined)).toEqual({ labels: {}, taints: [] });
});
