import type { VolumeAttachment } from '../../../api/generated/types.ts';
import { volumeAttachmentKind } from '../../../api/kinds/volume-attachment.ts';
import type { Change } from '../../../machinery/cache.ts';
import type { Client } from '../../../machinery/client.ts';
import type { Informers } from '../../../machinery/informers.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../../machinery/loop.ts';
import type { Host } from '../../host.ts';
import type { Action } from './actions.ts';
import { type AttachmentSight, decideAttachment } from './decide.ts';

export interface AttacherOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly hosts: ReadonlyMap<string, Host>;
}

/** Attaches the volumes of drivers that hollow nodes pretend to have. Keys are names of VolumeAttachments. */
export function hollowAttacher({ client, informers, hosts }: AttacherOptions): Controller<string, AttachmentSight, Action> {
  const attachments = informers.cache(volumeAttachmentKind);
  const byPlace = attachments.addIndex((attachment) => [placeOf(attachment)]);
  /** Attachments that were told to take a place, and do not show it yet. */
  const taking = new Set<string>();
  const driverOf = ({ spec }: VolumeAttachment) => hosts.get(spec.nodeName)?.drivers.find(({ name }) => name === spec.attacher);
  const holdsPlace = ({ metadata, status }: VolumeAttachment) => status.attached || taking.has(metadata.name ?? '');

  async function perform({ do: what, object, ...action }: Action): Promise<Outcome> {
    const { name = '' } = object.metadata;
    if (what === 'update') return outcomeOf(await client.update(volumeAttachmentKind, object));
    if ('taking' in action && action.taking) taking.add(name);
    const outcome = outcomeOf(await client.updateStatus(volumeAttachmentKind, object));
    taking.delete(name);
    return outcome;
  }

  return {
    name: 'hollow-attacher',
    parallelism: 32,
    sources: [source(volumeAttachmentKind, (change) => woken(change, (place) => byPlace.get(place)))],
    snapshot(name) {
      const attachment = attachments.getKey(name);
      const driver = attachment === undefined ? undefined : driverOf(attachment);
      if (attachment === undefined || driver === undefined) return undefined;
      const others = byPlace.get(placeOf(attachment)).filter((other) => other !== attachment && holdsPlace(other)).length;
      return { attachment, limit: driver.allocatable?.count, others };
    },
    decide: decideAttachment,
    perform,
  };
}

const placeOf = ({ spec }: VolumeAttachment): string => `${spec.nodeName} ${spec.attacher}`;

/** When one goes, there is room for another. */
function woken({ before, after }: Change<VolumeAttachment>, at: (place: string) => readonly VolumeAttachment[]): readonly string[] {
  if (after !== undefined) return [after.metadata.name ?? ''];
  if (before === undefined) return [];
  return at(placeOf(before)).flatMap(({ metadata: { name = '' }, status }) => (status.attached ? [] : [name]));
}
