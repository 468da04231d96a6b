/** Why a volume is in the state it is in: what binder and reclaimer decide about it, told for people. */
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
    { label: 'it is', text: `${describeVolume(volume)}, ${inClass(volume.className)}` },
    ...(where === '' ? [] : [{ label: 'reached from', text: where }]),
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
      return available(volume, graph);
    case 'WaitForClaim':
    case 'VolumeMismatch':
      return waitForClaim(volume, graph);
    case 'Unbinding':
      return {
        verdict: 'waiting',
        code: 'Unbinding',
        summary: `It points at claim ${volume.claim?.key ?? ''}, but that claim has another volume; so this one is given up again.`,
        ...overdue(
          { who: 'the volume binder', does: 'makes it available again', by: 'at once' },
          { since: volume.object.status.lastPhaseTransitionTime, graph },
        ),
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
        summary: reason?.text ?? 'Nothing was decided about it.',
        next: { who: 'the volume binder', does: 'has the next move' },
      };
  }
}

function claimUnseen({ claim, phase }: Volume): Diagnosis {
  const isBound = phase === 'Bound';
  return {
    verdict: isBound ? 'fine' : 'stuck',
    code: isBound ? 'Bound' : phase,
    summary: `It says that it is ${phase}, with claim ${claim?.key ?? ''}; that claim could not be looked at.`,
    next: isBound ? nothingToDo : { who: 'an administrator', does: `looks at claim ${claim?.key ?? ''}` },
  };
}

/** What comes when the claim, which is to go, is gone. */
const fates: Readonly<Record<string, string | undefined>> = { Retain: 'is kept', Delete: 'is deleted', Recycle: 'is emptied and offered again' };

function bound({ claim, reclaimPolicy }: Volume, graph: ObjectGraph): Diagnosis {
  const isClaimGoing = graph.claim(claim?.key ?? '')?.object.metadata.deletionTimestamp !== undefined;
  const fate = isClaimGoing ? ` That claim is to be deleted: then the volume ${fates[reclaimPolicy] ?? 'is released'} (policy ${reclaimPolicy}).` : '';
  const pods = graph.podsUsing(claim?.key ?? '').map(({ metadata }) => `pod/${metadata.name ?? ''}`);
  return {
    verdict: 'fine',
    code: 'Bound',
    summary: `It is bound to claim ${claim?.key ?? ''}. Nothing is wrong with it.${fate}`,
    facts: graph.wasRead('pods') ? [{ label: 'used by', text: pods.length === 0 ? 'no pod' : someOf(pods) }] : [],
    next: nothingToDo,
  };
}

function available(volume: Volume, graph: ObjectGraph): Diagnosis {
  if (volume.phase !== 'Available') {
    return {
      verdict: 'waiting',
      code: 'New',
      summary: 'It is new, and about to become available.',
      ...overdue({ who: 'the volume binder', does: 'makes it available', by: 'at once' }, { since: volume.object.metadata.creationTimestamp, graph }),
    };
  }
  const claims = claimsFor(volume, graph);
  const [nearest] = claims;
  const refusal = nearest?.refusals.length === 1 ? nearest.refusals[0] : undefined;
  const fix = nearest === undefined || refusal === undefined ? undefined : repair(nearest.claim, volume, refusal.rule);
  const free = 'It is free for a claim that it fits.';
  return {
    verdict: 'fine',
    code: 'Available',
    summary: !graph.wasRead('claims')
      ? free
      : nearest === undefined
        ? `${free} No claim is waiting for a volume.`
        : nearest.refusals.length > 0
          ? `${free} It fits none of the ${plural(claims.length, 'claim')} that wait.`
          : `${free} ${nearest.name} could have it.`,
    candidates: claims.map(shown),
    fixes: fix === undefined ? [] : [{ ...fix, text: `for ${nearest?.name ?? ''}: ${fix.text}` }],
    next: { who: 'you', does: 'create a claim that it fits; it is bound at once' },
  };
}

/** A person pointed it at a claim, by name. */
function reserved(volume: Volume, graph: ObjectGraph): Diagnosis {
  const key = volume.claim?.key ?? '';
  const { namespace = '', name = '' } = volume.claim ?? {};
  const claim = graph.claim(key);
  const giveUp = { text: 'give up the reservation, so that any claim can have it', commands: [clearClaimRef(volume.name)] };
  if (namespace === '' || name === '') {
    return {
      verdict: 'stuck',
      code: 'Reserved',
      summary: `Its claimRef has no ${name === '' ? 'name' : 'namespace'}, so it points at no claim that could ever exist. No claim gets it.`,
      fixes: [{ text: 'say in its claimRef which claim is meant, by namespace and name', commands: [kubectl(undefined, 'edit', 'pv', volume.name)] }, giveUp],
      next: { who: 'an administrator', does: 'mends its claimRef, or removes it' },
    };
  }
  if (claim === undefined) {
    return {
      verdict: 'waiting',
      code: 'Reserved',
      summary: `It is reserved for claim ${key}, which ${graph.wasRead('claims') ? 'does not exist' : 'could not be looked at'}. No other claim gets it.`,
      fixes: [{ text: `create claim ${name} in namespace ${namespace}`, commands: [] }, giveUp],
      next: { who: 'you', does: `create claim ${key}; it is bound at once` },
    };
  }
  return (
    unsuited(volume, graph, 'Reserved') ?? {
      verdict: 'stuck',
      code: 'Reserved',
      summary: `It is reserved for claim ${key}, but that claim ${claim.volumeName === '' ? 'does not take it' : `has or names pv/${claim.volumeName}`}.`,
      fixes: [{ text: 'see what the claim says', commands: [moorWhy(namespace, `pvc/${name}`)] }, giveUp],
      next: { who: 'an administrator', does: 'gives up the reservation' },
    }
  );
}

/** It points at a claim that does not have it yet. */
function waitForClaim(volume: Volume, graph: ObjectGraph): Diagnosis {
  const key = volume.claim?.key ?? graph.ownerOf(volume.name)?.key ?? '';
  return (
    unsuited(volume, graph, 'WaitForClaim') ?? {
      verdict: 'waiting',
      code: 'WaitForClaim',
      summary: `It is about to be bound to claim ${key}.`,
      ...overdue({ who: 'the volume binder', does: 'finishes the binding', by: 'at once' }, { since: volume.object.metadata.creationTimestamp, graph }),
    }
  );
}

/** The claim that it is meant for does not take it, and Kubernetes says nothing about that anywhere. */
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
    summary: `It is meant for claim ${claim.key}, but does not satisfy it: it ${refusal.text}. Kubernetes reports this nowhere.`,
    candidates: [shown(candidate)],
    fixes,
    next: { who: 'you', does: 'change the claim or the volume' },
  };
}
