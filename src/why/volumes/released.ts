/** Volumes whose claim is deleted. */
import { decide } from '../../storage/reclaimer/decide.ts';
import { withMigrationAndFinalizers } from '../../storage/reclaimer/deleter.ts';
import type { VolumeReason } from '../../storage/volumes/decision.ts';
import { readVolume, type Volume } from '../../storage/volumes/volume.ts';
import { clearClaimRef, clearClaimUid, kubectl } from '../explanation/commands.ts';
import type { Fix, Next, Diagnosis } from '../explanation/explanation.ts';
import { evidenceOf } from '../graph/provisioner-evidence.ts';
import { reclaimerSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

export function released(volume: Volume, graph: ObjectGraph): Diagnosis {
  const key = volume.claim?.key ?? '';
  const successor = graph.claim(key);
  const gone =
    successor === undefined
      ? `Claim ${key} of the volume was deleted`
      : `Claim ${key} of the volume was deleted; the claim of that name that exists now has another uid`;
  const diagnosis = diagnose(volume, graph);
  const reserve = successor === undefined || volume.reclaimPolicy !== 'Retain' ? [] : [reserveFor(volume, key)];
  return { ...diagnosis, summary: `${gone}. ${diagnosis.summary}`, fixes: [...reserve, ...(diagnosis.fixes ?? [])] };
}

const reserveFor = ({ name }: Volume, key: string): Fix => ({
  text: `bind it, with its data, to the claim ${key} that exists now`,
  commands: [clearClaimUid(name)],
});

function diagnose(volume: Volume, graph: ObjectGraph): Diagnosis {
  // The reclaimer puts the finalizers in order first: its reason after that is the one to explain.
  const snapshot = reclaimerSnapshot(graph);
  const kept = readVolume(withMigrationAndFinalizers(volume, snapshot.driver));
  const asReleased = kept.phase === 'Released' || kept.phase === 'Failed' ? kept : { ...kept, phase: 'Released' };
  const [reason] = decide({ name: volume.name, volume: asReleased, snapshot }, graph.now).reasons;
  if (reason === undefined)
    return { verdict: 'waiting', code: 'Released', summary: 'The reclaimer has not decided yet.', next: { who: 'the reclaimer', does: 'takes the next step' } };
  switch (volume.reclaimPolicy) {
    case 'Retain':
      return retained(volume);
    case 'Delete':
      return deleted(volume, reason, graph);
    case 'Recycle':
      return recycled(volume, reason, graph);
    default:
      return { ...retained(volume), code: reason.code, summary: `${reason.text}: the reclaimer leaves the volume as it is.` };
  }
}

const makeAvailable = ({ name }: Volume, text: string): Fix => ({ text, commands: [clearClaimRef(name)] });
const deleteVolume = ({ name }: Volume, text: string): Fix => ({ text, commands: [kubectl(undefined, 'delete', 'pv', name)] });

function retained(volume: Volume): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'Retained',
    summary: 'Its reclaim policy is Retain: the volume keeps its data, and no claim is bound to it, until an administrator clears its claimRef or deletes it.',
    fixes: [
      makeAvailable(volume, 'to offer it to new claims, with its data: clear its claimRef'),
      deleteVolume(volume, 'if it is not needed any more: delete it; the storage behind it stays and has to be deleted separately'),
    ],
    next: { who: 'an administrator', does: 'clears its claimRef or deletes it' },
  };
}

function deleted(volume: Volume, reason: VolumeReason, graph: ObjectGraph): Diagnosis {
  const message = volume.object.status.message ?? '';
  switch (reason.code) {
    case 'VolumeFailedDelete': {
      const intent = graph.intentFor(volume.name);
      const by = intent?.status.notBefore;
      const retries = intent !== undefined;
      // The message of the component that tried is better than what the objects tell about its driver.
      const failure = volume.phase === 'Failed' && message !== '' ? message : reason.text;
      return {
        verdict: 'stuck',
        code: 'VolumeFailedDelete',
        summary: `Its reclaim policy is Delete, but the storage behind it could not be deleted: ${failure}.`,
        fixes: [
          deleteVolume(volume, 'delete the storage by other means, and then the volume'),
          {
            text: 'keep it: set its reclaim policy to Retain',
            commands: [kubectl(undefined, 'patch', 'pv', volume.name, '-p', '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}')],
          },
        ],
        next: retries
          ? { who: intent.spec.operation === 'Delete' ? intent.spec.driver : 'the driver', does: 'retries', ...(by === undefined ? {} : { by }) }
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
        summary: `Its reclaim policy is Delete: ${reason.text}.`,
        next: { who: 'the reclaimer', does: 'deletes the storage, and then the volume' },
      };
  }
}

/** The provisioner of the volume deletes it. */
function externally(volume: Volume, message: string, graph: ObjectGraph): Diagnosis {
  const who = volume.migratedTo ?? volume.provisionedBy ?? volume.object.spec.csi?.driver ?? 'its provisioner';
  const isOrphan = volume.provisionedBy === undefined;
  if (isOrphan) {
    return {
      verdict: 'stuck',
      code: 'NobodyDeletes',
      summary: `Its reclaim policy is Delete, but the volume was created by hand: ${who} deletes only volumes that it provisioned, with annotation pv.kubernetes.io/provisioned-by. So it stays.`,
      fixes: [
        deleteVolume(volume, 'delete it; the storage behind it stays and has to be deleted separately'),
        makeAvailable(volume, 'offer it to new claims, with its data: clear its claimRef'),
      ],
      next: { who: 'an administrator', does: 'clears its claimRef or deletes it' },
    };
  }
  const evidence = evidenceOf(who, { graph, since: '' });
  const isAbsent = evidence.type === 'absent' || (graph.wasRead('drivers') && graph.csiDriver(who) === undefined && evidence.nodes.length === 0);
  return {
    verdict: message !== '' || isAbsent ? 'stuck' : 'waiting',
    code: 'ExternalDeletion',
    summary: `Its reclaim policy is Delete, and ${who}, which provisioned it, has to delete the storage behind it${message === '' ? '' : `; its message: ${message}`}.${isAbsent ? ` But ${who} does not seem to be installed any more.` : ''}`,
    fixes: [
      {
        text: `check that ${who} runs, and read the events of the volume`,
        commands: [kubectl(undefined, 'events', '-n', 'default', '--for', `pv/${volume.name}`)],
      },
    ],
    next: { who: `provisioner ${who}`, does: 'deletes the storage and the volume; it retries by itself' },
  };
}

function recycled(volume: Volume, reason: VolumeReason, graph: ObjectGraph): Diagnosis {
  const pod = reclaimerSnapshot(graph).recyclerPod(volume.name);
  // Kubernetes has no VolumeIntent: there, the recycler pod itself tells the state.
  const hasOnlyPod = pod !== undefined && graph.intentFor(volume.name) === undefined;
  const text = hasOnlyPod ? `pod/${pod.metadata.name} in namespace default scrubs it (${pod.status.phase ?? 'Pending'})` : reason.text;
  const isFailed = !hasOnlyPod && reason.next === 'administrator';
  const next: Next = isFailed
    ? { who: 'an administrator', does: 'clears its claimRef or deletes it' }
    : reason.code === 'InUse'
      ? { who: 'you', does: 'delete the pods that use it' }
      : { who: 'the recycler pod', does: 'scrubs it; then it is Available again' };
  return {
    verdict: isFailed || volume.phase === 'Failed' ? 'stuck' : 'waiting',
    code: isFailed ? 'VolumeFailedRecycle' : reason.code,
    summary: `Its reclaim policy is Recycle: ${text}.${volume.object.status.message === undefined ? '' : ` Its message: ${volume.object.status.message}`}`,
    fixes:
      isFailed || volume.phase === 'Failed'
        ? [makeAvailable(volume, 'scrub it by other means, and then clear its claimRef'), deleteVolume(volume, 'delete it; the storage behind it stays')]
        : [],
    next,
  };
}
