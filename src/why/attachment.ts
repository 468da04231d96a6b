/** Why a VolumeAttachment is in the state it is in. */
import type { VolumeAttachment } from '../api/generated/types.ts';
import { attachStory } from './attaching.ts';
import { type Account, account, nobody, type Story } from './explanation.ts';
import type { Sight } from './sight.ts';
import { statusWritten } from './since.ts';

export function explainAttachment(attachment: VolumeAttachment, sight: Sight): Account {
  const { metadata, status } = attachment;
  const isGoing = metadata.deletionTimestamp !== undefined;
  const state = isGoing ? 'Detaching' : status.attached ? 'Attached' : status.attachError === undefined ? 'Attaching' : 'Failed';
  const since = isGoing
    ? metadata.deletionTimestamp
    : (status.attachError?.time ?? (status.attached ? statusWritten(attachment, 'attached') : undefined) ?? metadata.creationTimestamp);
  return account({ kind: 'va', name: metadata.name ?? '' }, { state, since }, storyOf(attachment, sight));
}

function storyOf(attachment: VolumeAttachment, sight: Sight): Story {
  const { spec } = attachment;
  const volumeName = spec.source.persistentVolumeName;
  const volume = volumeName === undefined ? undefined : sight.volume(volumeName);
  const told = volume === undefined ? undefined : attachStory({ volume, node: spec.nodeName, sight });
  return told ?? byItself(attachment, sight);
}

/** Without its volume: only what it says of itself is known. */
function byItself({ metadata, spec, status }: VolumeAttachment, sight: Sight): Story {
  const what = spec.source.persistentVolumeName === undefined ? 'A volume that a pod brought along' : `pv/${spec.source.persistentVolumeName}`;
  const gone =
    spec.source.persistentVolumeName !== undefined && sight.sees('volumes') && sight.volume(spec.source.persistentVolumeName) === undefined
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
  if (status.attached) return { verdict: 'fine', code: 'Attached', summary: `${what}${gone} is attached to node/${spec.nodeName}.`, facts, next: nobody };
  return {
    verdict: error === undefined ? 'waiting' : 'stuck',
    code: error === undefined ? 'Attaching' : 'AttachFailed',
    summary: `${what}${gone} is not attached to node/${spec.nodeName} yet${error === undefined ? '' : `: ${error}`}.`,
    facts,
    fixes: error === undefined ? [] : [{ text: `remove what ${spec.attacher} complains of; it tries again by itself`, commands: [] }],
    next: { who: attacher, does: 'attaches it' },
  };
}
