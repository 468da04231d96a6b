/** Claims that name a volume, or were bound to one. */
import type { Claim } from '../../storage/volumes/claim.ts';
import { matchRequestedVolume } from '../../storage/volumes/match.ts';
import { nearestNames } from '../../api/nearest-name.ts';
import { clearClaimRef, deleteObject, patchVolume } from '../explanation/commands.ts';
import type { Fix, Diagnosis } from '../explanation/explanation.ts';
import { remake, repair } from '../candidates/volume-fixes.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { requestFact, requirementText, describeVolume, listed } from '../explanation/words.ts';

const deleteClaim = (claim: Claim, text: string): Fix => ({
  text,
  commands: [deleteObject({ kind: 'pvc', namespace: claim.namespace, name: claim.name })],
});

export function lost({ claim }: ClaimWithReason): Diagnosis {
  const isUnlinked = claim.volumeName === '';
  return {
    verdict: 'stuck',
    code: 'ClaimLost',
    summary: isUnlinked
      ? 'The claim was bound, and its spec.volumeName was removed. A claim that was bound once never gets another volume.'
      : `The claim was bound to pv/${claim.volumeName}, which does not exist any more. A claim that was bound once never gets another volume.`,
    facts: [requestFact(claim)],
    fixes: [
      ...(isUnlinked
        ? []
        : [
            {
              text: `if the storage still exists: create PersistentVolume ${claim.volumeName} for it again, without claimRef; the claim is bound to it at once`,
              commands: [],
            },
          ]),
      deleteClaim(claim, 'if the data is gone or not needed: delete the claim, and create it again for an empty volume'),
    ],
    next: { who: 'an administrator', does: isUnlinked ? 'deletes the claim' : `restores pv/${claim.volumeName}, or deletes the claim` },
  };
}

/** The claimRef of its volume names another claim. */
export function misbound({ claim, graph }: ClaimWithReason): Diagnosis {
  const pointer = graph.volume(claim.volumeName)?.claim;
  const isSameName = pointer?.key === claim.key;
  const other = isSameName
    ? pointer?.uid === ''
      ? 'a claim of this name, without a uid'
      : 'an earlier claim of the same name'
    : `claim ${pointer?.key ?? ''}`;
  const relink: Fix = {
    text: `set the claimRef of pv/${claim.volumeName} to this claim`,
    commands: [patchVolume(claim.volumeName, { spec: { claimRef: { uid: claim.uid } } })],
  };
  return {
    verdict: 'stuck',
    code: 'ClaimMisbound',
    summary: `The claim was bound to pv/${claim.volumeName}, but the claimRef of that volume now names ${other}. A claim that was bound once never gets another volume.`,
    facts: [requestFact(claim)],
    fixes: [
      ...(isSameName
        ? [relink]
        : [
            {
              text: `if claim ${pointer?.key ?? ''} is not to have it: clear the volume's claimRef; the volume is then bound to this claim again`,
              commands: [clearClaimRef(claim.volumeName)],
            },
          ]),
      deleteClaim(claim, 'otherwise delete this claim, and create it again for another volume'),
    ],
    next: { who: 'an administrator', does: 'corrects the claimRef of the volume' },
  };
}

export function missingVolume({ claim, graph }: ClaimWithReason): Diagnosis {
  const near = nearestNames(
    claim.volumeName,
    graph.volumes.map(({ name }) => name),
  );
  return {
    verdict: 'stuck',
    code: 'VolumeMissing',
    summary: `The claim names pv/${claim.volumeName} in spec.volumeName, and there is no such volume.${
      near.length === 0
        ? ''
        : ` Is ${listed(
            near.map((name) => `pv/${name}`),
            'or',
          )} meant?`
    }`,
    facts: [requestFact(claim)],
    fixes: [
      {
        text: `create a volume named ${claim.volumeName}, ${requirementText({ ...claim, selector: { type: 'valid', text: '', selector: { type: 'requirements', requirements: [] } } })}`,
        commands: [],
      },
      remake(claim, 'without spec.volumeName: any volume that fits is then bound to it, or one is provisioned'),
    ],
    next: { who: 'an administrator', does: `creates pv/${claim.volumeName}; it is bound at once` },
  };
}

export function takenVolume({ claim, graph, reason }: ClaimWithReason): Diagnosis {
  const volume = graph.volume(claim.volumeName);
  const holder = reason.claim ?? '';
  const isReserved = volume?.claim?.uid === '';
  const isUnclaimed = volume?.phase === 'Released' || volume?.phase === 'Failed';
  const has = isReserved
    ? `is reserved for claim ${holder}`
    : isUnclaimed
      ? `is ${volume.phase}: it was bound to claim ${holder}, which is deleted`
      : `is bound to claim ${holder}`;
  return {
    verdict: 'stuck',
    code: 'VolumeTaken',
    summary: `The claim names pv/${claim.volumeName} in spec.volumeName, but that volume ${has}.`,
    facts: [requestFact(claim), { label: 'volume', text: volume === undefined ? '' : describeVolume(volume) }],
    fixes: [
      ...(isReserved || isUnclaimed
        ? [
            {
              text: isReserved
                ? `remove the reservation of pv/${claim.volumeName}`
                : `if this claim may have the data on pv/${claim.volumeName}: make the volume Available`,
              commands: [clearClaimRef(claim.volumeName)],
            },
          ]
        : []),
      remake(claim, 'without spec.volumeName, or with the name of an Available volume'),
    ],
    next: {
      who: 'an administrator',
      does: isReserved || isUnclaimed ? 'clears the claimRef of the volume; it is bound at once' : 'chooses another volume for one of the two claims',
    },
  };
}

export function mismatch({ claim, graph, reason }: ClaimWithReason): Diagnosis {
  const volume = graph.volume(claim.volumeName);
  const match = volume === undefined ? 'fits' : matchRequestedVolume(claim, volume);
  const rule = match === 'fits' ? undefined : match.rule;
  const fix = volume === undefined || rule === undefined ? undefined : repair(claim, volume, rule);
  return {
    verdict: 'stuck',
    code: 'VolumeMismatch',
    summary: `The claim names pv/${claim.volumeName} in spec.volumeName, but ${reason.rejection === undefined ? reason.text : `that volume does not satisfy it: ${match === 'fits' ? '' : match.text} (the volume has ${reason.rejection.found}, the claim requires ${reason.rejection.wanted})`}.`,
    facts: [requestFact(claim)],
    candidates:
      volume === undefined || match === 'fits'
        ? []
        : [{ name: `pv/${volume.name}`, traits: [describeVolume(volume)], refusals: [{ rule: match.rule, text: match.text }] }],
    fixes: [...(fix === undefined ? [] : [fix]), remake(claim, 'without spec.volumeName, so that a volume that fits is bound to it')],
    next: { who: 'you', does: 'change the claim or the volume' },
  };
}
