/** Why a claim is in the state it is in: what the binder decides about it, told for people. */
import { decideClaim, type BinderReason } from '../controllers/volume-binder/decide.ts';
import type { Claim } from '../domain/volumes/claim.ts';
import type { Volume } from '../domain/volumes/volume.ts';
import { growing } from './growing.ts';
import { type Account, account, nobody, type Story } from './explanation.ts';
import { goingClaim } from './going.ts';
import { lost, misbound, mismatch, missingVolume, takenVolume } from './claim-with-volume.ts';
import { noVolume, waitForConsumer, waitForPods } from './claim-without-volume.ts';
import { overdue } from './overdue.ts';
import { provisioning } from './provisioning.ts';
import { binderSeen } from './seen.ts';
import type { Sight } from './sight.ts';
import { claimSince } from './since.ts';
import type { ToldClaim } from './told-claim.ts';
import { asksFor, describeVolume, someOf } from './words.ts';

export function explainClaim(claim: Claim, sight: Sight): Account {
  const volume = sight.volume(claim.volumeName);
  const { namespace, name } = claim;
  const isGoing = claim.object.metadata.deletionTimestamp !== undefined;
  const state = isGoing ? 'Terminating' : claim.phase === '' ? 'Pending' : claim.phase;
  return account({ kind: 'pvc', namespace, name }, { state, since: claimSince(claim, volume) }, goingClaim(claim, sight) ?? storyOf(claim, sight));
}

function storyOf(claim: Claim, sight: Sight): Story {
  if (claim.volumeName !== '' && !sight.sees('volumes')) return takenAtItsWord(claim);
  const [reason] = decideClaim(claim, binderSeen(sight), sight.now).reasons;
  if (reason === undefined) return unforeseen(claim, { code: 'Unknown', text: 'nothing was decided about it', next: 'nobody' });
  const tell = tellers[reason.code];
  return tell === undefined ? unforeseen(claim, reason) : tell({ claim, sight, reason });
}

/** By the codes of the binder's reasons. */
const tellers: Readonly<Record<string, (told: ToldClaim) => Story>> = {
  Bound: bound,
  Binding: binding,
  ClaimLost: lost,
  ClaimMisbound: misbound,
  VolumeMissing: missingVolume,
  VolumeTaken: takenVolume,
  VolumeMismatch: mismatch,
  NoVolume: noVolume,
  WaitForFirstConsumer: waitForConsumer,
  WaitForPodScheduled: waitForPods,
  Provisioning: provisioning,
  DefaultClass: defaultClass,
  InvalidSelector: invalidSelector,
  VolumeWithoutCapacity: withoutCapacity,
};

/** The volumes could not be looked at: what the claim says of itself is all there is. */
function takenAtItsWord(claim: Claim): Story {
  const isBound = claim.phase === 'Bound';
  return {
    verdict: isBound ? 'fine' : 'stuck',
    code: isBound ? 'Bound' : 'VolumeUnseen',
    summary: isBound
      ? `It says that it is bound to pv/${claim.volumeName}; the volume itself could not be looked at.`
      : `It names pv/${claim.volumeName}, which could not be looked at: ask somebody who may see volumes.`,
    facts: [{ label: 'asks for', text: asksFor(claim) }],
    next: isBound ? nobody : { who: 'an administrator', does: `looks at pv/${claim.volumeName}` },
  };
}

function bound(told: ToldClaim): Story {
  const { claim, sight } = told;
  const volume = sight.volume(claim.volumeName);
  const growth = volume === undefined ? undefined : growing(claim, volume, sight);
  if (growth !== undefined) return growth;
  const pods = sight.podsUsing(claim.key).map(({ metadata }) => `pod/${metadata.name ?? ''}`);
  return {
    verdict: 'fine',
    code: 'Bound',
    summary: `It is bound to pv/${claim.volumeName}${volume === undefined ? '' : ` (${describeVolume(volume)})`}. Nothing is wrong with it.${warningOf(volume)}`,
    facts: sight.sees('pods') ? [{ label: 'used by', text: pods.length === 0 ? 'no pod' : someOf(pods) }] : [],
    next: nobody,
  };
}

const warningOf = (volume: Volume | undefined): string =>
  volume?.deleting === true ? ` But somebody has asked for the deletion of its volume, which goes as soon as this claim does.` : '';

function binding(told: ToldClaim): Story {
  const { claim, sight, reason } = told;
  // Some detail of the two is still to be written; whoever uses them need not care.
  if (claim.phase === 'Bound' && sight.volume(claim.volumeName)?.phase === 'Bound') return bound(told);
  return {
    verdict: 'waiting',
    code: 'Binding',
    summary: `pv/${reason.volume ?? ''} fits and is about to be bound to it.`,
    facts: [{ label: 'asks for', text: asksFor(claim) }],
    ...overdue({ who: 'the volume binder', does: `binds pv/${reason.volume ?? ''}`, by: 'at once' }, { since: claim.created, sight }),
  };
}

function defaultClass({ claim, sight, reason }: ToldClaim): Story {
  return {
    verdict: 'waiting',
    code: 'DefaultClass',
    summary: `It names no class, and ${reason.text}.`,
    facts: [{ label: 'asks for', text: asksFor(claim) }],
    ...overdue({ who: 'the volume binder', does: 'sets the class', by: 'at once' }, { since: claim.created, sight }),
  };
}

function invalidSelector({ claim }: ToldClaim): Story {
  const problem = claim.selector.type === 'invalid' ? claim.selector.problem : '';
  return {
    verdict: 'stuck',
    code: 'InvalidSelector',
    summary: `Nobody can say which volumes its selector selects: ${problem}.`,
    facts: [{ label: 'asks for', text: asksFor(claim) }],
    fixes: [{ text: 'create the claim again with a selector that makes sense', commands: [`kubectl explain pvc.spec.selector.matchExpressions`] }],
    next: { who: 'you', does: 'create the claim again' },
  };
}

function withoutCapacity({ reason }: ToldClaim): Story {
  return {
    verdict: 'stuck',
    code: 'VolumeWithoutCapacity',
    summary: `It would have pv/${reason.volume ?? ''}, but that volume does not say how large it is.`,
    fixes: [{ text: 'write the capacity into the volume', commands: [`kubectl edit pv ${reason.volume ?? ''}`] }],
    next: { who: 'an administrator', does: 'sets spec.capacity.storage of the volume; then it is bound at once' },
  };
}

/** The binder has a reason that nobody here knows a better way to tell. */
function unforeseen(claim: Claim, { code, text, next }: Pick<BinderReason, 'code' | 'text' | 'next'>): Story {
  return {
    verdict: next === 'nobody' ? 'fine' : 'waiting',
    code,
    summary: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    facts: [{ label: 'asks for', text: asksFor(claim) }],
    next: next === 'nobody' ? nobody : { who: `the ${next}`, does: 'has the next move' },
  };
}
