import type { Pod, VolumeAttachment } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import type { Instance, Volume } from '../../cloud/engine/records.ts';
import type { ObjectHistory, RecordedChange } from '../scenario/object-history.ts';

/** More lines are dropped, the oldest first. */
const mostLines = 2_000;

/** What happened in a cloud world that matters: pods, nodes, claims, volumes, and the cloud's own records. */
export class CloudTimeline {
  readonly lines: string[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(text: string): void {
    if (this.lines.length >= mostLines) this.lines.splice(0, mostLines / 4);
    this.lines.push(`${(this.#now() / 1000).toFixed(1).padStart(8)}s  ${text}`);
  }

  follow(history: ObjectHistory, cloud: Cloud): void {
    history.onChange((changes) => {
      for (const change of changes) this.#object(change);
    });
    cloud.onChange((change, before) => {
      if (change.in === 'instances') this.#instance(change.record, before as Instance | undefined);
      if (change.in === 'volumes') this.#volume(change.id, change.record, before as Volume | undefined);
    });
  }

  #object({ before, after }: RecordedChange): void {
    const object = after ?? before;
    const shows = shown[object?.kind ?? ''];
    if (object === undefined || shows === undefined) return;
    const [old, now] = [before === undefined ? 'absent' : shows(before), after === undefined ? 'gone' : shows(after)];
    if (old !== now) this.add(`${object.kind} ${object.metadata.name ?? ''}: ${now}`);
  }

  #instance(after: Instance | undefined, before: Instance | undefined): void {
    if (after === undefined || after.state === before?.state) return;
    const details = before === undefined ? ` ${after.type} ${after.capacityType} in ${after.zone} for ${after.tags['karpenter.sh/nodeclaim'] ?? ''}` : '';
    this.add(`cloud: ${after.id} is ${after.state}${details}`);
  }

  #volume(id: string, after: Volume | undefined, before: Volume | undefined): void {
    const [old, now] = [volumeText(before), volumeText(after)];
    if (old !== now) this.add(`cloud: ${id} ${now}`);
  }
}

const volumeText = (volume: Volume | undefined): string =>
  volume === undefined
    ? 'is gone'
    : `${volume.state} in ${volume.zone} ${volume.attachments.map(({ instanceId, state }) => `${state} to ${instanceId}`).join(', ')}`;

const leaving = ({ metadata }: KubeObject): string => (metadata.deletionTimestamp === undefined ? '' : ', deleted');
const conditions = (object: KubeObject): string =>
  ((object as NodeClaim).status?.conditions ?? [])
    .filter(({ status }) => status === 'True')
    .map(({ type }) => type)
    .sort()
    .join(' ');

const shown: Readonly<Record<string, (object: KubeObject) => string>> = {
  Pod: (object) => `${(object as Pod).status.phase ?? ''} on ${(object as Pod).spec.nodeName ?? 'no node'}${leaving(object)}`,
  NodeClaim: (object) => `${conditions(object)}${leaving(object)}`,
  Node: (object) => `${conditions(object)}${leaving(object)}`,
  PersistentVolumeClaim: (object) => `${(object as { status?: { phase?: string } }).status?.phase ?? ''}${leaving(object)}`,
  VolumeAttachment: (object) =>
    `on ${(object as VolumeAttachment).spec.nodeName} ${(object as VolumeAttachment).status.attached ? 'attached' : ''}${leaving(object)}`,
};
