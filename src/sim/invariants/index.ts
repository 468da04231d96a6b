import { mountedStays, onePod, oneWriter, runsWithDisk, withinLimit } from './attaching.ts';
import { boundMutually, boundOnce } from './binding.ts';
import type { Invariant } from './invariant.ts';
import { boundVolumeStays, claimInUseStays, deposedWriteNothing } from './protection.ts';
import { deletedAfterClaim, deletedOnce, intentBeforeEffect, notOfferedUnscrubbed, retained } from './reclaiming.ts';

/** All of them, for one run: some remember. */
export const invariantsOf = (volumeLimit: number | undefined): readonly Invariant[] => [
  boundMutually,
  boundOnce,
  oneWriter,
  onePod,
  mountedStays,
  runsWithDisk,
  withinLimit(volumeLimit),
  retained,
  deletedAfterClaim,
  deletedOnce(),
  notOfferedUnscrubbed,
  intentBeforeEffect,
  claimInUseStays,
  boundVolumeStays,
  deposedWriteNothing,
];
