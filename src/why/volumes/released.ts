/** Volumes whose claim is gone. */
import { decide } from '../../storage/reclaimer/decide.ts';
import { withMigrationAndFinalizers } from '../../storage/reclaimer/deleter.ts';
import type { VolumeReason } from '../../storage/volumes/decision.ts';
import { readVolume, type Volume } from '../../storage/volumes/volume.ts';
import { clearClaimRef, kubectl } from '../explanation/commands.ts';
import type { Fix, Next, Diagnosis } from '../explanation/explanation.ts';
import { evidenceOf } from '../graph/provisioner-evidence.ts';
import { reclaimerSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

export function released(volume: Volume, graph: ObjectGraph): Diagnosis {
  const key = volume.claim?.key ?? '';
  const successor = graph.claim(key);
  const gone = successor === undefined ? `Its claim ${key} was deleted` : `Its claim ${key} was deleted; the claim of that name that exists now is another`;
  const diagnosis = diagnose(volume, graph);
  const reserve = successor === undefined || volume.reclaimPolicy !== 'Retain' ? [] : [handOver(volume, key)];
  return { ...diagnosis, summary: `${gone}. ${diagnosis.summary}`, fixes: [...reserve, ...(diagnosis.fixes ?? [])] };
}

/** Without its uid, the pointer is a reservation for whichever claim has that name. */
const handOver = ({ name }: Volume, key: string): Fix => ({
  text: `give it, with its data, to the claim ${key} that exists now`,
  commands: [kubectl(undefined, 'patch', 'pv', name, '--type', 'json', '-p', JSON.stringify([{ op: 'remove', path: '/spec/claimRef/uid' }]))],
});

function diagnose(volume: Volume, graph: ObjectGraph): Diagnosis {
  // As the reclaimer leaves it once its finalizers are in order: what it says before that is only that they are not.
  const seen = reclaimerSnapshot(graph);
  const kept = readVolume(withMigrationAndFinalizers(volume, seen.driver));
  const asReleased = kept.phase === 'Released' || kept.phase === 'Failed' ? kept : { ...kept, phase: 'Released' };
  const [reason] = decide({ name: volume.name, volume: asReleased, snapshot: seen }, graph.now).reasons;
  if (reason === undefined)
    return { verdict: 'waiting', code: 'Released', summary: 'Nothing was decided about it yet.', next: { who: 'the reclaimer', does: 'has the next move' } };
  switch (volume.reclaimPolicy) {
    case 'Retain':
      return retained(volume);
    case 'Delete':
      return deleted(volume, reason, graph);
    case 'Recycle':
      return recycled(volume, reason, graph);
    default:
      return { ...retained(volume), code: reason.code, summary: `${reason.text}: nothing is done with it.` };
  }
}

const free = ({ name }: Volume, text: string): Fix => ({ text, commands: [clearClaimRef(name)] });
const forget = ({ name }: Volume, text: string): Fix => ({ text, commands: [kubectl(undefined, 'delete', 'pv', name)] });

function retained(volume: Volume): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'Retained',
    summary: 'Its policy is Retain: it keeps its data, and no claim gets it, until somebody decides what becomes of the data.',
    fixes: [
      free(volume, 'to offer it to new claims, data included: clear its claimRef'),
      forget(volume, 'to be rid of it: delete it; the storage behind it stays and is yours to delete'),
    ],
    next: { who: 'an administrator', does: 'frees or deletes it' },
  };
}

function deleted(volume: Volume, reason: VolumeReason, graph: ObjectGraph): Diagnosis {
  const message = volume.object.status.message ?? '';
  switch (reason.code) {
    case 'VolumeFailedDelete': {
      const intent = graph.intentFor(volume.name);
      const by = intent?.status.notBefore;
      const retries = intent !== undefined;
      // Whoever tried knows better than what can be told from here of who is there to try.
      const failure = volume.phase === 'Failed' && message !== '' ? message : reason.text;
      return {
        verdict: 'stuck',
        code: 'VolumeFailedDelete',
        summary: `Its policy is Delete, but the storage behind it could not be deleted: ${failure}.`,
        fixes: [
          forget(volume, 'delete the storage by other means, and then the volume'),
          {
            text: 'keep it: set its policy to Retain',
            commands: [kubectl(undefined, 'patch', 'pv', volume.name, '-p', '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}')],
          },
        ],
        next: retries
          ? { who: intent.spec.operation === 'Delete' ? intent.spec.driver : 'the driver', does: 'tries again', ...(by === undefined ? {} : { by }) }
          : { who: 'an administrator', does: 'deletes the storage' },
      };
    }
    case 'ExternalDeletion':
    case 'Migrated':
      return externally(volume, message, graph);
    default:
      return {
        verdict: 'waiting',
        code: 'Deleting',
        summary: `Its policy is Delete: ${reason.text}.`,
        next: { who: 'the reclaimer', does: 'deletes the storage, and then the volume' },
      };
  }
}

/** Whoever made it deletes it. */
function externally(volume: Volume, message: string, graph: ObjectGraph): Diagnosis {
  const who = volume.migratedTo ?? volume.provisionedBy ?? volume.object.spec.csi?.driver ?? 'its provisioner';
  const isOrphan = volume.provisionedBy === undefined;
  if (isOrphan) {
    return {
      verdict: 'stuck',
      code: 'NobodyDeletes',
      summary: `Its policy is Delete, but it was made by hand: ${who} deletes only volumes that it made itself, which annotation pv.kubernetes.io/provisioned-by says. So it stays.`,
      fixes: [
        forget(volume, 'delete it; the storage behind it stays and is yours to delete'),
        free(volume, 'offer it to new claims, data included: clear its claimRef'),
      ],
      next: { who: 'an administrator', does: 'frees or deletes it' },
    };
  }
  const evidence = evidenceOf(who, { graph, since: '' });
  const isAbsent = evidence.type === 'absent' || (graph.wasRead('drivers') && graph.csiDriver(who) === undefined && evidence.nodes.length === 0);
  return {
    verdict: message !== '' || isAbsent ? 'stuck' : 'waiting',
    code: 'ExternalDeletion',
    summary: `Its policy is Delete, and ${who}, which made it, has to delete the storage behind it${message === '' ? '' : `; it said: ${message}`}.${isAbsent ? ` But ${who} does not seem to be installed any more.` : ''}`,
    fixes: [
      {
        text: `see that ${who} runs, and what it says about the volume`,
        commands: [kubectl(undefined, 'events', '-n', 'default', '--for', `pv/${volume.name}`)],
      },
    ],
    next: { who: `provisioner ${who}`, does: 'deletes the storage and the volume; it tries again by itself' },
  };
}

function recycled(volume: Volume, reason: VolumeReason, graph: ObjectGraph): Diagnosis {
  const pod = reclaimerSnapshot(graph).recyclerPod(volume.name);
  // Without a record of whose pod it is, the pod itself is all there is to go by.
  const isAtWork = pod !== undefined && graph.intentFor(volume.name) === undefined;
  const text = isAtWork ? `pod/${pod.metadata.name ?? ''} in namespace default scrubs it (${pod.status.phase ?? 'Pending'})` : reason.text;
  const isFailed = !isAtWork && reason.next === 'administrator';
  const next: Next = isFailed
    ? { who: 'an administrator', does: 'frees or deletes it' }
    : reason.code === 'InUse'
      ? { who: 'you', does: 'end the pods that use it' }
      : { who: 'the scrubber', does: 'empties it; then it is available again' };
  return {
    verdict: isFailed || volume.phase === 'Failed' ? 'stuck' : 'waiting',
    code: isFailed ? 'VolumeFailedRecycle' : reason.code,
    summary: `Its policy is Recycle: ${text}.${volume.object.status.message === undefined ? '' : ` It says: ${volume.object.status.message}`}`,
    fixes:
      isFailed || volume.phase === 'Failed'
        ? [free(volume, 'empty it by other means, and then clear its claimRef'), forget(volume, 'delete it; the storage behind it stays')]
        : [],
    next,
  };
}
