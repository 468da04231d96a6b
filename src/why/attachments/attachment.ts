/** Why a VolumeAttachment is in the state it is in. */
import type { VolumeAttachment } from '../../api/generated/types.ts';
import { diagnoseAttach } from './attach-diagnosis.ts';
import { type ObjectExplanation, explanationOf, nothingToDo, type Diagnosis } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { statusWritten } from '../explanation/timestamps.ts';

export function explainAttachment(attachment: VolumeAttachment, graph: ObjectGraph): ObjectExplanation {
  const { metadata, status } = attachment;
  const isGoing = metadata.deletionTimestamp !== undefined;
  const state = isGoing ? 'Detaching' : status.attached ? 'Attached' : status.attachError === undefined ? 'Attaching' : 'Failed';
  const since = isGoing
    ? metadata.deletionTimestamp
    : (status.attachError?.time ?? (status.attached ? statusWritten(attachment, 'attached') : undefined) ?? metadata.creationTimestamp);
  return explanationOf({ kind: 'va', name: metadata.name ?? '' }, { state, since }, diagnose(attachment, graph));
}

function diagnose(attachment: VolumeAttachment, graph: ObjectGraph): Diagnosis {
  const { spec } = attachment;
  const volumeName = spec.source.persistentVolumeName;
  const volume = volumeName === undefined ? undefined : graph.volume(volumeName);
  const told = volume === undefined ? undefined : diagnoseAttach({ volume, node: spec.nodeName, graph });
  return told ?? diagnoseWithoutVolume(attachment, graph);
}

/** Without its volume: only what it says of itself is known. */
function diagnoseWithoutVolume({ metadata, spec, status }: VolumeAttachment, graph: ObjectGraph): Diagnosis {
  const what = spec.source.persistentVolumeName === undefined ? 'A volume that a pod brought along' : `pv/${spec.source.persistentVolumeName}`;
  const gone =
    spec.source.persistentVolumeName !== undefined && graph.wasRead('volumes') && graph.volume(spec.source.persistentVolumeName) === undefined
      ? ', which exists no more,'
      : '';
  const attacher = `the attacher of ${spec.attacher}`;
  const facts = [{ label: 'driver', text: spec.attacher }];
  const error = status.detachError?.message ?? status.attachError?.message;
  if (metadata.deletionTimestamp !== undefined)
    return {
      verdict: error === undefined ? 'waiting' : 'stuck',
      code: 'Detaching',
      summary: `${what}${gone} is being detached from node/${spec.nodeName}${error === undefined ? '' : `; the last try failed: ${error}`}.`,
      facts,
      fixes: [
        { text: `see that ${attacher} runs: its finalizer keeps the attachment until the volume is detached`, commands: ['kubectl get pods -A | grep -i csi'] },
      ],
      next: { who: attacher, does: 'detaches it' },
    };
  if (status.attached) return { verdict: 'fine', code: 'Attached', summary: `${what}${gone} is attached to node/${spec.nodeName}.`, facts, next: nothingToDo };
  return {
    verdict: error === undefined ? 'waiting' : 'stuck',
    code: error === undefined ? 'Attaching' : 'AttachFailed',
    summary: `${what}${gone} is not attached to node/${spec.nodeName} yet${error === undefined ? '' : `: ${error}`}.`,
    facts,
    fixes: error === undefined ? [] : [{ text: `remove what ${spec.attacher} complains of; it tries again by itself`, commands: [] }],
    next: { who: attacher, does: 'attaches it' },
  };
}
