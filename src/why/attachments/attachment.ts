/** Why a VolumeAttachment is in the state it is in. */
import type { Stored } from '../../api/stored.ts';
import type { VolumeAttachment } from '../../api/generated/types.ts';
import { diagnoseAttach } from './attach-diagnosis.ts';
import { type ObjectExplanation, explanationOf, nothingToDo, type Diagnosis } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { statusWritten } from '../explanation/timestamps.ts';

export function explainAttachment(attachment: Stored<VolumeAttachment>, graph: ObjectGraph): ObjectExplanation {
  const { metadata, status } = attachment;
  const isTerminating = metadata.deletionTimestamp !== undefined;
  const state = isTerminating ? 'Detaching' : status.attached ? 'Attached' : status.attachError === undefined ? 'Attaching' : 'Failed';
  const since = isTerminating
    ? metadata.deletionTimestamp
    : (status.attachError?.time ?? (status.attached ? statusWritten(attachment, 'attached') : undefined) ?? metadata.creationTimestamp);
  return explanationOf({ kind: 'va', name: metadata.name }, { state, since }, diagnose(attachment, graph));
}

function diagnose(attachment: Stored<VolumeAttachment>, graph: ObjectGraph): Diagnosis {
  const { spec } = attachment;
  const volumeName = spec.source.persistentVolumeName;
  const volume = volumeName === undefined ? undefined : graph.volume(volumeName);
  return (volume === undefined ? undefined : diagnoseAttach({ volume, node: spec.nodeName, graph })) ?? diagnoseWithoutVolume(attachment, graph);
}

/** From the VolumeAttachment alone: its volume is inline, gone, or was not read. */
function diagnoseWithoutVolume({ metadata, spec, status }: Stored<VolumeAttachment>, graph: ObjectGraph): Diagnosis {
  const what = spec.source.persistentVolumeName === undefined ? 'An inline volume' : `pv/${spec.source.persistentVolumeName}`;
  const gone =
    spec.source.persistentVolumeName !== undefined && graph.wasRead('volumes') && graph.volume(spec.source.persistentVolumeName) === undefined
      ? ', which does not exist any more,'
      : '';
  const attacher = `the attacher of ${spec.attacher}`;
  const facts = [{ label: 'driver', text: spec.attacher }];
  const error = status.detachError?.message ?? status.attachError?.message;
  if (metadata.deletionTimestamp !== undefined)
    return {
      verdict: error === undefined ? 'waiting' : 'stuck',
      code: 'Detaching',
      summary: `${what}${gone} is being detached from node/${spec.nodeName}${error === undefined ? '' : `; the last attempt failed: ${error}`}.`,
      facts,
      fixes: [
        {
          text: `check that ${attacher} runs: its finalizer keeps the VolumeAttachment until the volume is detached`,
          commands: ['kubectl get pods -A | grep -i csi'],
        },
      ],
      next: { who: attacher, does: 'detaches it' },
    };
  if (status.attached) return { verdict: 'fine', code: 'Attached', summary: `${what}${gone} is attached to node/${spec.nodeName}.`, facts, next: nothingToDo };
  return {
    verdict: error === undefined ? 'waiting' : 'stuck',
    code: error === undefined ? 'Attaching' : 'AttachFailed',
    summary: `${what}${gone} is not attached to node/${spec.nodeName} yet${error === undefined ? '' : `: ${error}`}.`,
    facts,
    fixes: error === undefined ? [] : [{ text: `fix what ${spec.attacher} reports; its attacher retries by itself`, commands: [] }],
    next: { who: attacher, does: 'attaches it' },
  };
}
