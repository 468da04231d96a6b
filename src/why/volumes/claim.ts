/** Why a claim is in the state it is in: the binder's decision in sentences. */
import { decideClaim } from '../../storage/binder/decide.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import { diagnoseExpansion } from './expansion.ts';
import { diagnoseModification } from './modification.ts';
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
import { requestFact, describeVolume, someOf } from '../explanation/words.ts';

export function explainClaim(claim: Claim, graph: ObjectGraph): ObjectExplanation {
  const volume = graph.volume(claim.volumeName);
  const { namespace, name } = claim;
  const isTerminating = claim.object.metadata.deletionTimestamp !== undefined;
  const state = isTerminating ? 'Terminating' : claim.phase === '' ? 'Pending' : claim.phase;
  return explanationOf(
    { kind: 'pvc', namespace, name },
    { state, since: claimSince(claim, volume) },
    diagnoseTerminatingClaim(claim, graph) ?? diagnose(claim, graph),
  );
}

function diagnose(claim: Claim, graph: ObjectGraph): Diagnosis {
  if (claim.volumeName !== '' && !graph.wasRead('volumes')) return asReported(claim);
  const [reason = undecided] = decideClaim(claim, binderSnapshot(graph), graph.now).reasons;
  const explain = explainers[reason.code] ?? otherReason;
  return explain({ claim, graph, reason });
}

const undecided: ClaimWithReason['reason'] = { code: 'Unknown', text: 'the binder has not decided yet', next: 'binder' };

/** By the code of the binder's reason. */
const explainers: Readonly<Record<string, (claim: ClaimWithReason) => Diagnosis>> = {
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

/** The volumes could not be read: only the claim's own status is known. */
function asReported(claim: Claim): Diagnosis {
  const isBound = claim.phase === 'Bound';
  return {
    verdict: isBound ? 'fine' : 'stuck',
    code: isBound ? 'Bound' : 'VolumeUnseen',
    summary: isBound
      ? `The claim's status is Bound, with pv/${claim.volumeName}; the volume could not be read.`
      : `The claim names pv/${claim.volumeName}, which could not be read: run this as a user who may read volumes.`,
    facts: [requestFact(claim)],
    next: isBound ? nothingToDo : { who: 'an administrator', does: `explains pv/${claim.volumeName}` },
  };
}

function bound({ claim, graph }: ClaimWithReason): Diagnosis {
  const volume = graph.volume(claim.volumeName);
  const expansion = volume === undefined ? undefined : diagnoseExpansion(claim, volume, graph);
  if (expansion !== undefined) return expansion;
  const modification = volume === undefined ? undefined : diagnoseModification(claim, volume);
  if (modification !== undefined) return modification;
  const pods = graph.podsUsing(claim.key).map(({ metadata }) => `pod/${metadata.name}`);
  return {
    verdict: 'fine',
    code: 'Bound',
    summary: `The claim is bound to pv/${claim.volumeName}${volume === undefined ? '' : ` (${describeVolume(volume)})`}. Nothing is wrong with it.${warningOf(volume)}`,
    facts: graph.wasRead('pods') ? [{ label: 'used by', text: pods.length === 0 ? 'no pod' : someOf(pods) }] : [],
    next: nothingToDo,
  };
}

const warningOf = (volume: Volume | undefined): string =>
  volume?.deleting === true ? ' But its volume is marked for deletion, and is deleted as soon as this claim is.' : '';

function binding(explained: ClaimWithReason): Diagnosis {
  const { claim, graph, reason } = explained;
  // The binder still has to write a detail of one of the two; pods can use them already.
  if (claim.phase === 'Bound' && graph.volume(claim.volumeName)?.phase === 'Bound') return bound(explained);
  return {
    verdict: 'waiting',
    code: 'Binding',
    summary: `pv/${reason.volume ?? ''} fits the claim and is about to be bound to it.`,
    facts: [requestFact(claim)],
    ...overdue({ who: 'the volume binder', does: `binds pv/${reason.volume ?? ''}`, by: 'at once' }, { since: claim.created, graph }),
  };
}

function defaultClass({ claim, graph, reason }: ClaimWithReason): Diagnosis {
  return {
    verdict: 'waiting',
    code: 'DefaultClass',
    summary: `The claim has no storageClassName, and ${reason.text}.`,
    facts: [requestFact(claim)],
    ...overdue({ who: 'the volume binder', does: 'sets the storageClassName', by: 'at once' }, { since: claim.created, graph }),
  };
}

function invalidSelector({ claim }: ClaimWithReason): Diagnosis {
  const problem = claim.selector.type === 'invalid' ? claim.selector.problem : '';
  return {
    verdict: 'stuck',
    code: 'InvalidSelector',
    summary: `The claim's selector is invalid: ${problem}.`,
    facts: [requestFact(claim)],
    fixes: [{ text: 'create the claim again with a valid selector', commands: [`kubectl explain pvc.spec.selector.matchExpressions`] }],
    next: { who: 'you', does: 'create the claim again' },
  };
}

function withoutCapacity({ reason }: ClaimWithReason): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'VolumeWithoutCapacity',
    summary: `pv/${reason.volume ?? ''} is reserved for the claim, but has no spec.capacity.`,
    fixes: [{ text: 'set spec.capacity of the volume', commands: [`kubectl edit pv ${reason.volume ?? ''}`] }],
    next: { who: 'an administrator', does: 'sets spec.capacity.storage of the volume; then it is bound at once' },
  };
}

/** A reason without an explainer of its own. */
function otherReason({ claim, reason: { code, text, next } }: ClaimWithReason): Diagnosis {
  return {
    verdict: next === 'none' ? 'fine' : 'waiting',
    code,
    summary: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    facts: [requestFact(claim)],
    next: next === 'none' ? nothingToDo : { who: `the ${next}`, does: 'takes the next step' },
  };
}
