/** Why a volume is in the state it is in: the decisions of binder and reclaimer in sentences. */
import { decideVolume } from '../../storage/binder/decide.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import { claimsFor, shown } from '../candidates/volume-candidates.ts';
import { clearClaimRef, kubectl, moorWhy } from '../explanation/commands.ts';
import { type ObjectExplanation, explanationOf, nothingToDo, type Diagnosis } from '../explanation/explanation.ts';
import { diagnoseTerminatingVolume } from './terminating.ts';
import { overdue } from '../graph/overdue.ts';
import { repair } from '../candidates/volume-fixes.ts';
import { released } from './released.ts';
import { binderSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { volumeSince } from '../explanation/timestamps.ts';
import { describeVolume, inClass, plural, someOf, whereIs } from '../explanation/words.ts';

export function explainVolume(volume: Volume, graph: ObjectGraph): ObjectExplanation {
  const state = volume.deleting ? 'Terminating' : volume.phase === '' ? 'Pending' : volume.phase;
  const diagnosis = diagnoseTerminatingVolume(volume, graph) ?? diagnose(volume, graph);
  return explanationOf(
    { kind: 'pv', name: volume.name },
    { state, since: volumeSince(volume) },
    { ...diagnosis, facts: [...factsOf(volume, graph), ...(diagnosis.facts ?? [])] },
  );
}

function factsOf(volume: Volume, graph: ObjectGraph): Diagnosis['facts'] & object {
  const attached = graph.attachmentsOf(volume.name).map(({ spec }) => `node/${spec.nodeName}`);
  const where = whereIs(volume.object);
  return [
    { label: 'volume', text: `${describeVolume(volume)}, ${inClass(volume.className)}` },
    ...(where === '' ? [] : [{ label: 'node affinity', text: where }]),
    ...(attached.length === 0 ? [] : [{ label: 'attached to', text: someOf(attached) }]),
  ];
}

function diagnose(volume: Volume, graph: ObjectGraph): Diagnosis {
  if (volume.claim !== undefined && volume.claim.uid !== '' && !graph.wasRead('claims')) return claimUnseen(volume);
  const [reason] = decideVolume(volume, binderSnapshot(graph), graph.now).reasons;
  switch (reason?.code) {
    case 'Bound':
      return bound(volume, graph);
    case 'Released':
      return released(volume, graph);
    case 'Reserved':
      return reserved(volume, graph);
    case 'Available':
      return availableVolume(volume, graph);
    case 'WaitForClaim':
    case 'VolumeMismatch':
      return waitForClaim(volume, graph);
    case 'Unbinding':
      return {
        verdict: 'waiting',
        code: 'Unbinding',
        summary: `Its claimRef names claim ${volume.claim?.key ?? ''}, but that claim is bound to another volume; so this one becomes Available again.`,
        ...overdue({ who: 'the volume binder', does: 'clears its claimRef', by: 'at once' }, { since: volume.object.status.lastPhaseTransitionTime, graph }),
      };
    case 'InvalidClaimSelector':
      return {
        verdict: 'stuck',
        code: 'InvalidClaimSelector',
        summary: `${reason.text}.`,
        fixes: [{ text: 'correct its annotation mooring.dev/claim-selector', commands: [kubectl(undefined, 'edit', 'pv', volume.name)] }],
        next: { who: 'an administrator', does: 'corrects the annotation' },
      };
    case undefined:
    default:
      return {
        verdict: 'waiting',
        code: reason?.code ?? 'Unknown',
        summary: reason?.text ?? 'The binder has not decided yet.',
        next: { who: 'the volume binder', does: 'takes the next step' },
      };
  }
}

function claimUnseen({ claim, phase }: Volume): Diagnosis {
  const isBound = phase === 'Bound';
  return {
    verdict: isBound ? 'fine' : 'stuck',
    code: isBound ? 'Bound' : phase,
    summary: `The volume's status is ${phase}, with claim ${claim?.key ?? ''}; that claim could not be read.`,
    next: isBound ? nothingToDo : { who: 'an administrator', does: `explains claim ${claim?.key ?? ''}` },
  };
}

/** What happens to the volume once its claim is deleted, by reclaim policy. */
const afterRelease: Readonly<Record<string, string | undefined>> = { Retain: 'is kept', Delete: 'is deleted', Recycle: 'is scrubbed and offered again' };

function bound({ claim, reclaimPolicy }: Volume, graph: ObjectGraph): Diagnosis {
  const isClaimTerminating = graph.claim(claim?.key ?? '')?.object.metadata.deletionTimestamp !== undefined;
  const fate = isClaimTerminating
    ? ` That claim is marked for deletion: then the volume ${afterRelease[reclaimPolicy] ?? 'is released'} (reclaim policy ${reclaimPolicy}).`
    : '';
  const pods = graph.podsUsing(claim?.key ?? '').map(({ metadata }) => `pod/${metadata.name}`);
  return {
    verdict: 'fine',
    code: 'Bound',
    summary: `The volume is bound to claim ${claim?.key ?? ''}. Nothing is wrong with it.${fate}`,
    facts: graph.wasRead('pods') ? [{ label: 'used by', text: pods.length === 0 ? 'no pod' : someOf(pods) }] : [],
    next: nothingToDo,
  };
}

function availableVolume(volume: Volume, graph: ObjectGraph): Diagnosis {
  if (volume.phase !== 'Available') {
    return {
      verdict: 'waiting',
      code: 'New',
      summary: 'The volume is new, and about to become Available.',
      ...overdue({ who: 'the volume binder', does: 'makes it Available', by: 'at once' }, { since: volume.object.metadata.creationTimestamp, graph }),
    };
  }
  const claims = claimsFor(volume, graph);
  const [nearest] = claims;
  const refusal = nearest?.refusals.length === 1 ? nearest.refusals[0] : undefined;
  const fix = nearest === undefined || refusal === undefined ? undefined : repair(nearest.claim, volume, refusal.rule);
  const available = 'The volume is Available.';
  return {
    verdict: 'fine',
    code: 'Available',
    summary: !graph.wasRead('claims')
      ? available
      : nearest === undefined
        ? `${available} No claim is waiting for a volume.`
        : nearest.refusals.length > 0
          ? `${available} It fits none of the ${plural(claims.length, 'claim')} that wait for a volume.`
          : `${available} It fits ${nearest.name}.`,
    candidates: claims.map(shown),
    fixes: fix === undefined ? [] : [{ ...fix, text: `for ${nearest?.name ?? ''}: ${fix.text}` }],
    next: { who: 'you', does: 'create a claim that it fits; then it is bound at once' },
  };
}

/** An administrator set its claimRef, without a uid. */
function reserved(volume: Volume, graph: ObjectGraph): Diagnosis {
  const key = volume.claim?.key ?? '';
  const { namespace = '', name = '' } = volume.claim ?? {};
  const claim = graph.claim(key);
  const removeReservation = { text: 'remove the reservation, so that any claim can be bound to it', commands: [clearClaimRef(volume.name)] };
  if (namespace === '' || name === '') {
    return {
      verdict: 'stuck',
      code: 'Reserved',
      summary: `The volume's claimRef has no ${name === '' ? 'name' : 'namespace'}, so it names no claim that could ever exist. No claim is bound to it.`,
      fixes: [{ text: 'set namespace and name of the claim in its claimRef', commands: [kubectl(undefined, 'edit', 'pv', volume.name)] }, removeReservation],
      next: { who: 'an administrator', does: 'corrects its claimRef, or clears it' },
    };
  }
  if (claim === undefined) {
    return {
      verdict: 'waiting',
      code: 'Reserved',
      summary: `The volume is reserved for claim ${key}, which ${graph.wasRead('claims') ? 'does not exist' : 'could not be read'}. No other claim is bound to it.`,
      fixes: [{ text: `create claim ${name} in namespace ${namespace}`, commands: [] }, removeReservation],
      next: { who: 'you', does: `create claim ${key}; then it is bound at once` },
    };
  }
  return (
    unsuited(volume, graph, 'Reserved') ?? {
      verdict: 'stuck',
      code: 'Reserved',
      summary: `The volume is reserved for claim ${key}, but that claim ${claim.volumeName === '' ? 'is not bound to it' : `names pv/${claim.volumeName}`}.`,
      fixes: [{ text: 'explain the claim', commands: [moorWhy(namespace, `pvc/${name}`)] }, removeReservation],
      next: { who: 'an administrator', does: 'removes the reservation' },
    }
  );
}

/** Its claimRef names a claim that is not bound to it yet. */
function waitForClaim(volume: Volume, graph: ObjectGraph): Diagnosis {
  const key = volume.claim?.key ?? graph.ownerOf(volume.name)?.key ?? '';
  return (
    unsuited(volume, graph, 'WaitForClaim') ?? {
      verdict: 'waiting',
      code: 'WaitForClaim',
      summary: `The volume is about to be bound to claim ${key}.`,
      ...overdue({ who: 'the volume binder', does: 'finishes the binding', by: 'at once' }, { since: volume.object.metadata.creationTimestamp, graph }),
    }
  );
}

/** The volume is reserved for a claim that it does not satisfy, and Kubernetes reports that nowhere. */
function unsuited(volume: Volume, graph: ObjectGraph, code: string): Diagnosis | undefined {
  const claim = graph.claim(volume.claim?.key ?? '');
  if (claim === undefined || claim.volumeName !== '') return undefined;
  const candidate = claimsFor(volume, graph).find((each) => each.claim.key === claim.key);
  const [refusal] = candidate?.refusals ?? [];
  if (candidate === undefined || refusal === undefined) return undefined;
  const fixes = candidate.refusals.flatMap(({ rule }) => repair(claim, volume, rule) ?? []);
  return {
    verdict: 'stuck',
    code: `${code}ButUnsuited`,
    summary: `The volume is reserved for claim ${claim.key}, but does not satisfy it: it ${refusal.text}. Kubernetes reports this nowhere.`,
    candidates: [shown(candidate)],
    fixes,
    next: { who: 'you', does: 'change the claim or the volume' },
  };
}
