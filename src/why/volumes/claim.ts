/** Why a claim is in the state it is in: what the binder decides about it, told for people. */
import { decideClaim, type BinderReason } from '../../storage/binder/decide.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import { diagnoseExpansion } from './expansion.ts';
import { type ObjectExplanation, explanationOf, nothingToDo, type Diagnosis } from '../explanation/explanation.ts';
import { diagnoseTerminatingClaim } from './terminating.ts';
import { lost, misbound, mismatch, missingVolume, takenVolume } from './claim-with-volume.ts';
import { noVolume, waitForConsumer, waitForPods } from './claim-without-volume.ts';
import { overdue } from '../graph/overdue.ts';
import { provisioning } from './provisioning.ts';
import { binderSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { claimSince } from '../explanation/timestamps.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { requestText, describeVolume, someOf } from '../explanation/words.ts';

export function explainClaim(claim: Claim, graph: ObjectGraph): ObjectExplanation {
  const volume = graph.volume(claim.volumeName);
  const { namespace, name } = claim;
  const isGoing = claim.object.metadata.deletionTimestamp !== undefined;
  const state = isGoing ? 'Terminating' : claim.phase === '' ? 'Pending' : claim.phase;
  return explanationOf(
    { kind: 'pvc', namespace, name },
    { state, since: claimSince(claim, volume) },
    diagnoseTerminatingClaim(claim, graph) ?? diagnose(claim, graph),
  );
}

function diagnose(claim: Claim, graph: ObjectGraph): Diagnosis {
  if (claim.volumeName !== '' && !graph.wasRead('volumes')) return asReported(claim);
  const [reason] = decideClaim(claim, binderSnapshot(graph), graph.now).reasons;
  if (reason === undefined) return otherReason(claim, { code: 'Unknown', text: 'nothing was decided about it', next: 'none' });
  const tell = explainers[reason.code];
  return tell === undefined ? otherReason(claim, reason) : tell({ claim, graph, reason });
}

/** By the codes of the binder's reasons. */
const explainers: Readonly<Record<string, (told: ClaimWithReason) => Diagnosis>> = {
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
function asReported(claim: Claim): Diagnosis {
  const isBound = claim.phase === 'Bound';
  return {
    verdict: isBound ? 'fine' : 'stuck',
    code: isBound ? 'Bound' : 'VolumeUnseen',
    summary: isBound
      ? `It says that it is bound to pv/${claim.volumeName}; the volume itself could not be looked at.`
      : `It names pv/${claim.volumeName}, which could not be looked at: ask somebody who may see volumes.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    next: isBound ? nothingToDo : { who: 'an administrator', does: `looks at pv/${claim.volumeName}` },
  };
}

function bound(told: ClaimWithReason): Diagnosis {
  const { claim, graph } = told;
  const volume = graph.volume(claim.volumeName);
  const growth = volume === undefined ? undefined : diagnoseExpansion(claim, volume, graph);
  if (growth !== undefined) return growth;
  const pods = graph.podsUsing(claim.key).map(({ metadata }) => `pod/${metadata.name ?? ''}`);
  return {
    verdict: 'fine',
    code: 'Bound',
    summary: `It is bound to pv/${claim.volumeName}${volume === undefined ? '' : ` (${describeVolume(volume)})`}. Nothing is wrong with it.${warningOf(volume)}`,
    facts: graph.wasRead('pods') ? [{ label: 'used by', text: pods.length === 0 ? 'no pod' : someOf(pods) }] : [],
    next: nothingToDo,
  };
}

const warningOf = (volume: Volume | undefined): string =>
  volume?.deleting === true ? ` But somebody has asked for the deletion of its volume, which goes as soon as this claim does.` : '';

function binding(told: ClaimWithReason): Diagnosis {
  const { claim, graph, reason } = told;
  // Some detail of the two is still to be written; whoever uses them need not care.
  if (claim.phase === 'Bound' && graph.volume(claim.volumeName)?.phase === 'Bound') return bound(told);
  return {
    verdict: 'waiting',
    code: 'Binding',
    summary: `pv/${reason.volume ?? ''} fits and is about to be bound to it.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    ...overdue({ who: 'the volume binder', does: `binds pv/${reason.volume ?? ''}`, by: 'at once' }, { since: claim.created, sight: graph }),
  };
}

function defaultClass({ claim, graph, reason }: ClaimWithReason): Diagnosis {
  return {
    verdict: 'waiting',
    code: 'DefaultClass',
    summary: `It names no class, and ${reason.text}.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    ...overdue({ who: 'the volume binder', does: 'sets the class', by: 'at once' }, { since: claim.created, sight: graph }),
  };
}

function invalidSelector({ claim }: ClaimWithReason): Diagnosis {
  const problem = claim.selector.type === 'invalid' ? claim.selector.problem : '';
  return {
    verdict: 'stuck',
    code: 'InvalidSelector',
    summary: `Nobody can say which volumes its selector selects: ${problem}.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    fixes: [{ text: 'create the claim again with a selector that makes sense', commands: [`kubectl explain pvc.spec.selector.matchExpressions`] }],
    next: { who: 'you', does: 'create the claim again' },
  };
}

function withoutCapacity({ reason }: ClaimWithReason): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'VolumeWithoutCapacity',
    summary: `It would have pv/${reason.volume ?? ''}, but that volume does not say how large it is.`,
    fixes: [{ text: 'write the capacity into the volume', commands: [`kubectl edit pv ${reason.volume ?? ''}`] }],
    next: { who: 'an administrator', does: 'sets spec.capacity.storage of the volume; then it is bound at once' },
  };
}

/** The binder has a reason that nobody here knows a better way to tell. */
function otherReason(claim: Claim, { code, text, next }: Pick<BinderReason, 'code' | 'text' | 'next'>): Diagnosis {
  return {
    verdict: next === 'none' ? 'fine' : 'waiting',
    code,
    summary: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    next: next === 'none' ? nothingToDo : { who: `the ${next}`, does: 'has the next move' },
  };
}
