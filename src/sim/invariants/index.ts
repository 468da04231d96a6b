import { mayBeMounted, mountedStays, onePod, oneWriter, runsWithDisk, withinLimit } from './attaching.ts';
import { boundMutually, boundOnce, goingIsNotGiven, noMoreThanTheDisk, releasedAfterClaim } from './binding.ts';
import type { Invariant } from './invariant.ts';
import { boundVolumeStays, claimInUseStays, deposedWriteNothing } from './protection.ts';
import { deletedAfterClaim, deletedOnce, givenBackClean, intentBeforeEffect, madeOnce, notOfferedUnscrubbed, retained } from './reclaiming.ts';
import { retainedClaimsStay, staysInOutage } from './workloads.ts';

/** All of them, for one run: some remember. */
export const invariantsOf = (volumeLimit: number | undefined): readonly Invariant[] => [
  boundMutually,
  boundOnce,
  goingIsNotGiven,
  releasedAfterClaim,
  noMoreThanTheDisk,
  oneWriter,
  onePod,
  mountedStays,
  mayBeMounted,
  runsWithDisk,
  withinLimit(volumeLimit),
  retained,
  deletedAfterClaim,
  deletedOnce(),
  notOfferedUnscrubbed,
  givenBackClean,
  madeOnce,
  intentBeforeEffect,
  claimInUseStays,
  boundVolumeStays,
  deposedWriteNothing,
  retainedClaimsStay,
  staysInOutage,
];
