import type { NodeInfo, Plugin } from '../framework.ts';
import { maxNodeScore } from './normalize-score.ts';

/** NodeResourcesBalancedAllocation: prefers nodes where the pod balances the usage of cpu and memory. */
export const nodeResourcesBalancedAllocation: Plugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  preFilter: ({ requests: { cpu, memory } }) =>
    cpu === 0 && memory === 0
      ? 'skip'
      : {
          score: (nodes) =>
            nodes.map((node) => {
              const after = balance(node, cpu, memory);
              const before = balance(node, 0, 0);
              return Math.trunc(maxNodeScore / 2 + Math.trunc((maxNodeScore / 2 + after - before) / 2));
            }),
        },
};

function balance({ allocatable, requested }: NodeInfo, cpu: number, memory: number): number {
  if (allocatable.cpu === 0 || allocatable.memory === 0) return maxNodeScore;
  const cpuShare = Math.min(1, (requested.cpu + cpu) / allocatable.cpu);
  const memoryShare = Math.min(1, (requested.memory + memory) / allocatable.memory);
  return Math.trunc((1 - Math.abs((cpuShare - memoryShare) / 2)) * maxNodeScore);
}
