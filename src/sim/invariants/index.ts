import { mayBeMounted, mountedStays, onePod, oneWriter, runsWithDisk } from './attaching.ts';
import { boundMutually, boundOnce, terminatingIsNotBound, noMoreThanTheDisk, releasedAfterClaim } from './binding.ts';
import { type DisturbedUntil, type Invariant, neverDisturbed } from './invariant.ts';
import { withinLimit } from './limit.ts';
import { boundVolumeStays, claimInUseStays, deposedWriteNothing } from './protection.ts';
import { deletedAfterClaim, deletedOnce, givenBackClean, intentBeforeEffect, madeOnce, notOfferedUnscrubbed, retained } from './reclaiming.ts';
import { noSurplus, retainedClaimsStay, staysInOutage } from './workloads.ts';

interface InvariantOptions {
  /** How many volumes a node takes. */
  readonly volumeLimit: number | undefined;
  /** Of each Deployment, in a world in which nothing fails. */
  readonly mostReplicas?: ReadonlyMap<string, number> | undefined;
  /** Nothing keeps controllers from their work: neither they nor the server nor their clocks fail. */
  readonly controllersAreWell?: boolean;
  readonly disturbedUntil?: DisturbedUntil;
}

/** All of them, for one run: some remember. */
export const invariantsOf = ({
  volumeLimit,
  mostReplicas = new Map(),
  controllersAreWell = false,
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
];
