/** Claims that name a volume, or had one. */
import { matchRequestedVolume } from '../../storage/volumes/match.ts';
import { nearestNames } from '../../api/nearest-name.ts';
import { clearClaimRef, deleteObject, patchVolume } from '../explanation/commands.ts';
import type { Fix, Diagnosis } from '../explanation/explanation.ts';
import { remake, repair } from '../candidates/volume-fixes.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { requestText, requirementText, describeVolume, listed } from '../explanation/words.ts';

const forget = ({ claim }: ClaimWithReason, text: string): Fix => ({
  text,
  commands: [deleteObject({ kind: 'pvc', namespace: claim.namespace, name: claim.name })],
});

export function lost(told: ClaimWithReason): Diagnosis {
  const { claim } = told;
  const isUnlinked = claim.volumeName === '';
  return {
    verdict: 'stuck',
    code: 'ClaimLost',
    summary: isUnlinked
      ? 'It was bound, and somebody took the name of its volume out of it. A claim that was bound once never gets another volume.'
      : `It was bound to pv/${claim.volumeName}, which exists no more. A claim that was bound once never gets another volume.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    fixes: [
      ...(isUnlinked
        ? []
        : [
            {
              text: `if the storage still exists: create a PersistentVolume named ${claim.volumeName} for it again, without claimRef; the claim is bound to it at once`,
              commands: [],
            },
          ]),
      forget(told, 'if the data is gone or not needed: delete the claim, and create it again for an empty volume'),
    ],
    next: { who: 'an administrator', does: isUnlinked ? 'deletes the claim' : `restores pv/${claim.volumeName}, or deletes the claim` },
  };
}

/** Its volume points at another claim. */
export function misbound(told: ClaimWithReason): Diagnosis {
  const { claim, graph } = told;
  const pointer = graph.volume(claim.volumeName)?.claim;
  const isSameName = pointer?.key === claim.key;
  const holder = isSameName
    ? pointer?.uid === ''
      ? 'a claim of this name, but not this very one'
      : 'an earlier claim of the same name'
    : `claim ${pointer?.key ?? ''}`;
  const relink: Fix = {
    text: `give pv/${claim.volumeName} back to this claim`,
    commands: [patchVolume(claim.volumeName, { spec: { claimRef: { uid: claim.uid } } })],
  };
  return {
    verdict: 'stuck',
    code: 'ClaimMisbound',
    summary: `It was bound to pv/${claim.volumeName}, but that volume now points at ${holder}. A claim that was bound once never gets another volume.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    fixes: [
      ...(isSameName
        ? [relink]
        : [
            {
              text: `if claim ${pointer?.key ?? ''} is not to have it: clear the volume's claimRef; it goes back to this claim`,
              commands: [clearClaimRef(claim.volumeName)],
            },
          ]),
      forget(told, 'otherwise delete this claim, and create it again for another volume'),
    ],
    next: { who: 'an administrator', does: 'says whose volume it is' },
  };
}

export function missingVolume(told: ClaimWithReason): Diagnosis {
  const { claim, graph } = told;
  const near = nearestNames(
    claim.volumeName,
    graph.volumes.map(({ name }) => name),
  );
  return {
    verdict: 'stuck',
    code: 'VolumeMissing',
    summary: `It asks for pv/${claim.volumeName} and for no other, and there is no such volume.${
      near.length === 0
        ? ''
        : ` Is ${listed(
            near.map((name) => `pv/${name}`),
            'or',
          )} meant?`
    }`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    fixes: [
      {
        text: `create a volume named ${claim.volumeName}, ${requirementText({ ...claim, selector: { type: 'valid', text: '', selector: { type: 'requirements', requirements: [] } } })}`,
        commands: [],
      },
      remake(claim, 'without spec.volumeName: it then takes any volume that fits, or one is made'),
    ],
    next: { who: 'an administrator', does: `creates pv/${claim.volumeName}; it is bound at once` },
  };
}

export function takenVolume(told: ClaimWithReason): Diagnosis {
  const { claim, graph, reason } = told;
  const volume = graph.volume(claim.volumeName);
  const holder = reason.claim ?? '';
  const isReserved = volume?.claim?.uid === '';
  const isFree = volume?.phase === 'Released' || volume?.phase === 'Failed';
  const has = isReserved
    ? `is reserved for claim ${holder}`
    : isFree
      ? `was claim ${holder}'s, which is gone, and is kept for it (${volume.phase})`
      : `belongs to claim ${holder}`;
  return {
    verdict: 'stuck',
    code: 'VolumeTaken',
    summary: `It asks for pv/${claim.volumeName} and for no other, but that volume ${has}.`,
    facts: [
      { label: 'asks for', text: requestText(claim) },
      { label: 'the volume', text: volume === undefined ? '' : describeVolume(volume) },
    ],
    fixes: [
      ...(isReserved || isFree
        ? [
            {
              text: isReserved
                ? `give up the reservation of pv/${claim.volumeName}`
                : `if the data on pv/${claim.volumeName} is this claim's business, free the volume`,
              commands: [clearClaimRef(claim.volumeName)],
            },
          ]
        : []),
      remake(claim, 'without spec.volumeName, or with the name of a volume that is free'),
    ],
    next: {
      who: 'an administrator',
      does: isReserved || isFree ? 'frees the volume; it is bound at once' : 'chooses another volume for one of the two claims',
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
    summary: `It asks for pv/${claim.volumeName} and for no other, but ${reason.rejection === undefined ? reason.text : `that volume does not satisfy it: ${match === 'fits' ? '' : match.text} (it has ${reason.rejection.found}, asked for is ${reason.rejection.wanted})`}.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    candidates:
      volume === undefined || match === 'fits'
        ? []
        : [{ name: `pv/${volume.name}`, traits: [describeVolume(volume)], refusals: [{ rule: match.rule, text: match.text }] }],
    fixes: [...(fix === undefined ? [] : [fix]), remake(claim, 'without spec.volumeName, so that it takes a volume that fits')],
    next: { who: 'you', does: 'change the claim or the volume' },
  };
}
