import type { Context } from './context.ts';
import { drawLatency } from './latency.ts';
import type { Attachment, Change, Instance, Modification, Snapshot, Volume } from './records.ts';

/** How long a terminated instance is described. */
const keptAfterTerminationMs = 60 * 60 * 1000;

/** The changes that time brings to a record at `context.now`. */
export function transitionsOf(key: string, context: Context): readonly Change[] {
  const [collection, id = ''] = key.split('/');
  const { state } = context;
  if (collection === 'volumes') return volumeTransitions(state.volumes.get(id), context);
  if (collection === 'instances') return instanceTransitions(state.instances.get(id), context);
  return snapshotTransitions(state.snapshots.get(id), context);
}

function volumeTransitions(volume: Volume | undefined, context: Context): readonly Change[] {
  if (volume === undefined) return [];
  const { id, due } = volume;
  const { now } = context;
  if (due !== undefined && due.at <= now) {
    if (due.to === 'gone') return [{ in: 'volumes', id, record: undefined }];
    return [{ in: 'volumes', id, record: { ...volume, state: due.to, due: undefined } }];
  }
  const { modification } = volume;
  if (modification?.due !== undefined && modification.due.at <= now)
    return [{ in: 'volumes', id, record: modified(volume, modification, modification.due.to, context) }];
  const attachments = volume.attachments.flatMap((each) => (each.due === undefined || each.due.at > now ? [each] : attachmentAfter(each, each.due.to)));
  return [{ in: 'volumes', id, record: { ...volume, attachments, state: attachments.length === 0 ? 'available' : 'in-use' } }];
}

const attachmentAfter = (attachment: Attachment, to: Attachment['state'] | 'detached'): readonly Attachment[] =>
  to === 'detached' ? [] : [{ ...attachment, state: to, due: undefined }];

/** The new shape holds from the moment the volume is optimizing: that is when it can be used. */
function modified(volume: Volume, modification: Modification, to: Modification['state'], { now, random, latencies }: Context): Volume {
  if (to !== 'optimizing') return { ...volume, modification: { ...modification, state: to, endTime: now, due: undefined } };
  const due = { at: now + drawLatency(latencies.optimize, random), to: 'completed' } as const;
  return { ...volume, ...modification.target, modification: { ...modification, state: to, due } };
}

function instanceTransitions(instance: Instance | undefined, { state, now }: Context): readonly Change[] {
  if (instance?.due === undefined || instance.due.at > now) return [];
  const { id, due } = instance;
  if (due.to === 'gone') return [{ in: 'instances', id, record: undefined }];
  if (due.to !== 'terminated') return [{ in: 'instances', id, record: { ...instance, state: due.to, due: undefined } }];
  const terminated: Instance = { ...instance, state: 'terminated', due: { at: now + keptAfterTerminationMs, to: 'gone' } };
  const detached = state.attachedTo(id).map(({ volume, attachment }): Change => {
    if (attachment.deleteOnTermination) return { in: 'volumes', id: volume.id, record: undefined };
    const attachments = volume.attachments.filter((each) => each !== attachment);
    return { in: 'volumes', id: volume.id, record: { ...volume, attachments, state: attachments.length === 0 ? 'available' : 'in-use' } };
  });
  return [{ in: 'instances', id, record: terminated }, ...detached];
}

function snapshotTransitions(snapshot: Snapshot | undefined, { now }: Context): readonly Change[] {
  if (snapshot?.due === undefined || snapshot.due.at > now) return [];
  return [{ in: 'snapshots', id: snapshot.id, record: { ...snapshot, state: snapshot.due.to, due: undefined } }];
}
