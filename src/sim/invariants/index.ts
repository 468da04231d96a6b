import { emptyBeforeGone, notInTerminating, withinLimitRange, withinQuota } from './admission.ts';
import { mayBeMounted, mountedStays, onePod, oneWriter, runsWithDisk } from './attaching.ts';
import { boundMutually, boundOnce, terminatingIsNotBound, noMoreThanTheDisk, releasedAfterClaim } from './binding.ts';
import { neverEmptyInstead, neverFreedByForgery } from './content.ts';
import { csiInvariants } from './csi.ts';
import { detachedAtBackend, detachedFromLiveState } from './detaching.ts';
import { neverBelowTheAsked } from './expanding.ts';
import { type DisturbedUntil, type Invariant, neverDisturbed } from './invariant.ts';
import { withinLimit } from './limit.ts';
import { journalFirst, notUnderRunningPod, runsWithItsDisks, unmountedBeforeDetach } from './machines.ts';
import { boundVolumeStays, claimInUseStays, deposedWriteNothing } from './protection.ts';
import { deletedAfterClaim, deletedOnce, givenBackClean, intentBeforeEffect, madeOnce, notOfferedUnscrubbed, retained } from './reclaiming.ts';
import { onlyVictimsAreDeleted, podsFit, unansweredIsNotFailed } from './scheduling.ts';
import { oneOfEachOrdinal } from './stateful-sets.ts';
import { noSurplus, retainedClaimsStay, staysInOutage } from './workloads.ts';

interface InvariantOptions {
  /** The attach limit of a node. */
  readonly volumeLimit: number | undefined;
  /** The highest replicas of each Deployment, in a world without faults. */
  readonly mostReplicas?: ReadonlyMap<string, number> | undefined;
  /** Neither controllers nor server nor their clocks fail. */
  readonly controllersAreWell?: boolean;
  /** There is one scheduler, which neither crashes nor pauses. */
  readonly schedulerIsAlone?: boolean;
  readonly disturbedUntil?: DisturbedUntil;
}

/** All invariants, for one run: some have state. */
export const invariantsOf = ({
  volumeLimit,
  mostReplicas = new Map(),
  controllersAreWell = false,
  schedulerIsAlone = false,
  disturbedUntil = neverDisturbed,
}: InvariantOptions): readonly Invariant[] => [
  boundMutually,
  boundOnce,
  terminatingIsNotBound,
  releasedAfterClaim,
  noMoreThanTheDisk,
  oneWriter,
  onePod,
  mountedStays,
  mayBeMounted,
  runsWithDisk,
  journalFirst,
  runsWithItsDisks,
  notUnderRunningPod,
  unmountedBeforeDetach,
  withinLimit(volumeLimit, disturbedUntil),
  retained(),
  deletedAfterClaim,
  deletedOnce(),
  notOfferedUnscrubbed(),
  givenBackClean,
  madeOnce,
  intentBeforeEffect(),
  claimInUseStays,
  boundVolumeStays,
  deposedWriteNothing,
  retainedClaimsStay,
  staysInOutage(controllersAreWell, disturbedUntil),
  noSurplus(mostReplicas),
  neverBelowTheAsked(),
  detachedAtBackend,
  detachedFromLiveState(),
  unansweredIsNotFailed,
  onlyVictimsAreDeleted(),
  podsFit(schedulerIsAlone),
  oneOfEachOrdinal,
  neverEmptyInstead,
  neverFreedByForgery(),
  ...csiInvariants(),
  withinQuota(),
  withinLimitRange,
  notInTerminating,
  emptyBeforeGone,
];
