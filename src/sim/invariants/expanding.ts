import { compareQuantities } from '../../api/quantity.ts';
import type { Invariant } from './invariant.ts';

/**
 * A driver that was asked for a size may have expanded the disk, until it says for certain that it has not. If the claim promises less meanwhile, a quota
 * counts less than the disk may have.
 */
export function neverBelowTheAsked(): Invariant {
  /** The largest size with an unknown outcome, by handle. */
  const asked = new Map<string, string>();
  return {
    name: 'allocatedResources is never below what a driver was asked for',
    check: (change, facts) => {
      if (change.type === 'expand-call') {
        const { handle, capacity, outcome } = change.call;
        const before = asked.get(handle);
        if (outcome === 'asked' && (before === undefined || compareQuantities(before, capacity) < 0)) asked.set(handle, capacity);
        else if ((outcome === 'refused' || outcome === 'expanded') && before !== undefined && compareQuantities(before, capacity) <= 0) asked.delete(handle);
      }
      if (change.type !== 'claim' || change.after === undefined) return undefined;
      const allocated = change.after.status.allocatedResources?.['storage'];
      const pending = asked.get(facts.volumes.get(change.after.spec.volumeName ?? '')?.spec.csi?.volumeHandle ?? '');
      if (allocated === undefined || pending === undefined || allocated === change.before?.status.allocatedResources?.['storage']) return undefined;
      return compareQuantities(allocated, pending) >= 0
        ? undefined
        : `claim ${change.key} has ${allocated} allocated, and its driver was asked for ${pending} without a certain answer`;
    },
  };
}
