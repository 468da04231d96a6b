import { expect, test } from 'vitest';
import { NodeAllocations } from './allocations.ts';

test('a pod keeps its address until its sandbox is gone, and its admission until the pod is gone', () => {
  const allocations = new NodeAllocations();
  allocations.admit('n', 'a');
  allocations.assign('n', 'a', '1.1.1.1');
  expect([...allocations.addresses('n')]).toEqual([['a', '1.1.1.1']]);
  allocations.release('n', 'a');
  expect([[...allocations.addresses('n')], allocations.isAdmitted('n', 'a')]).toEqual([[], true]);
  allocations.forget('n', 'a');
  expect(allocations.isAdmitted('n', 'a')).toBe(false);
});

test('of very many images the oldest are forgotten', () => {
  const allocations = new NodeAllocations();
  for (let i = 0; i < 1000; i++) allocations.addImage('n', `image-${i}`);
  expect([allocations.hasImage('n', 'image-0'), allocations.hasImage('n', 'image-999')]).toEqual([false, true]);
});
