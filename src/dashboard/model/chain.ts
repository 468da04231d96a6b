/**
 * The chain from a pod to its disk: pod → claim → volume → attachment → node and zone → driver. Which link is broken, and why, is what the explanations
 * of its objects say; nothing is judged here but what is not there yet.
 */
import type { PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { ObjectExplanation, Verdict } from '../../why/explanation/explanation.ts';
import type { Target } from '../../why/explanation/target.ts';
import { zoneLabel } from './attach-headroom.ts';
import { targetKey } from './explanations.ts';
import type { StorageView } from './storage-view.ts';

export const chainColumns = ['Pod', 'PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment', 'Node', 'CSIDriver'] as const;

export interface ChainLink {
  readonly id: string;
  /** Into `chainColumns`. */
  readonly column: number;
  /** Undefined: the object is not there (yet). */
  readonly target: Target | undefined;
  readonly name: string;
  /** A second line: its phase, size, zone. */
  readonly detail: string;
  readonly verdict: Verdict;
}

export interface Chain {
  readonly links: readonly ChainLink[];
  /** Ids, from the side of the pods to that of the driver. */
  readonly edges: readonly (readonly [from: string, to: string])[];
  /** The id of the link that has to change before the chain holds; undefined: it holds. */
  readonly broken: string | undefined;
  /** Why, in the words of the object that says most about it. */
  readonly reason: ObjectExplanation | undefined;
}

export type Explain = (target: Target) => ObjectExplanation | undefined;

/** Undefined: there is no such claim. */
export function chainOf({ namespace, name }: { readonly namespace: string; readonly name: string }, view: StorageView, explain: Explain): Chain | undefined {
  const claim = view.claim(namespace, name);
  if (claim === undefined) return undefined;
  const builder = new ChainBuilder(claim, view, explain);
  return builder.build();
}

class ChainBuilder {
  readonly #claim: Stored<PersistentVolumeClaim>;
  readonly #view: StorageView;
  readonly #explain: Explain;
  readonly #links = new Map<string, ChainLink>();
  readonly #edges: (readonly [string, string])[] = [];

  constructor(claim: Stored<PersistentVolumeClaim>, view: StorageView, explain: Explain) {
    this.#claim = claim;
    this.#view = view;
    this.#explain = explain;
  }

  build(): Chain {
    const { metadata, spec, status } = this.#claim;
    const { namespace = '', name } = metadata;
    const size = status.capacity?.['storage'] ?? spec.resources.requests?.['storage'] ?? '';
    const claim = this.#add(1, { kind: 'pvc', namespace, name }, `${phaseOf(this.#claim)} ${size}`);
    const volume = this.#volume(claim);
    const pods = this.#view.podsOf(namespace, name);
    for (const pod of pods) this.#edges.push([this.#pod(pod), claim]);
    const driver = this.#driver();
    this.#attachments(volume, driver, pods);
    const links = [...this.#links.values()];
    return { links, edges: this.#edges, ...this.#brokenOf(links) };
  }

  #pod(pod: Stored<Pod>): string {
    const { namespace = '', name, deletionTimestamp } = pod.metadata;
    return this.#add(0, { kind: 'pod', namespace, name }, deletionTimestamp === undefined ? (pod.status.phase ?? '') : 'Terminating');
  }

  #volume(claim: string): string {
    const name = this.#claim.spec.volumeName ?? '';
    const volume = name === '' ? undefined : this.#view.volume(name);
    const id = volume === undefined ? this.#absent(2, name === '' ? 'no volume yet' : name) : this.#add(2, { kind: 'pv', name }, volumeDetail(volume));
    this.#edges.push([claim, id]);
    return id;
  }

  /** Each attachment of the volume, and the ones that pods still need. */
  #attachments(volume: string, driver: string | undefined, pods: readonly Stored<Pod>[]): void {
    const attachments = this.#view.attachmentsOf(this.#claim.spec.volumeName ?? '');
    for (const attachment of attachments) {
      const id = this.#attachment(attachment);
      this.#edges.push([volume, id], [id, this.#node(attachment.spec.nodeName, driver)]);
    }
    const attached = new Set(attachments.map(({ spec }) => spec.nodeName));
    const wanted = new Set(pods.map(({ spec }) => spec.nodeName ?? '').filter((node) => !attached.has(node)));
    for (const node of wanted) {
      if (node === '') this.#edges.push([volume, this.#absent(4, 'no node yet', driver)]);
      else if (this.#needsAttachment()) {
        const id = this.#absent(3, `none to ${node} yet`);
        this.#edges.push([volume, id], [id, this.#node(node, driver)]);
      } else this.#edges.push([volume, this.#node(node, driver)]);
    }
    if (wanted.size === 0 && attachments.length === 0 && driver !== undefined) this.#edges.push([volume, driver]);
  }

  #needsAttachment(): boolean {
    const name = this.#driverName();
    return name !== undefined && this.#view.driver(name)?.spec.attachRequired === true;
  }

  #attachment({ metadata, status }: Stored<VolumeAttachment>): string {
    const state = metadata.deletionTimestamp !== undefined ? 'Detaching' : status.attached ? 'Attached' : 'Attaching';
    return this.#add(3, { kind: 'va', name: metadata.name }, state);
  }

  #node(name: string, driver: string | undefined): string {
    const node = this.#view.node(name);
    const zone = node?.metadata.labels?.[zoneLabel] ?? '';
    const id = node === undefined ? this.#absent(4, name) : this.#add(4, { kind: 'node', name }, zone);
    if (driver !== undefined && !this.#edges.some(([from, to]) => from === id && to === driver)) this.#edges.push([id, driver]);
    return id;
  }

  #driver(): string | undefined {
    const name = this.#driverName();
    if (name === undefined) return undefined;
    return this.#view.driver(name) === undefined ? this.#add(5, { kind: 'driver', name }, 'no CSIDriver object') : this.#add(5, { kind: 'driver', name }, '');
  }

  #driverName(): string | undefined {
    const { storageClassName = '', volumeName = '' } = this.#claim.spec;
    const ofClass = this.#view.lists.classes.find(({ metadata }) => metadata.name === storageClassName)?.provisioner;
    return this.#view.volume(volumeName)?.spec.csi?.driver ?? this.#view.attachmentsOf(volumeName)[0]?.spec.attacher ?? ofClass;
  }

  #add(column: number, target: Target, detail: string): string {
    const id = targetKey(target);
    this.#links.set(id, { id, column, target, name: target.name, detail, verdict: this.#explain(target)?.verdict ?? 'fine' });
    return id;
  }

  #absent(column: number, name: string, driver?: string): string {
    const id = `absent/${column}/${name}`;
    this.#links.set(id, { id, column, target: undefined, name, detail: '', verdict: 'absent' });
    if (driver !== undefined) this.#edges.push([id, driver]);
    return id;
  }

  /** The link nearest to the disk that is stuck, or waits, or is not there; an object that is not there is explained by the pod or claim that waits for it. */
  #brokenOf(links: readonly ChainLink[]): Pick<Chain, 'broken' | 'reason'> {
    const explained = links.flatMap(({ target }) => (target === undefined ? [] : (this.#explain(target) ?? [])));
    const worst = explained.find(({ verdict }) => verdict === 'stuck') ?? explained.find(({ verdict }) => verdict === 'waiting');
    if (worst === undefined) return { broken: undefined, reason: undefined };
    const missing = links.find(({ verdict }) => verdict === 'absent');
    const deepest = links.filter(({ verdict }) => verdict === worst.verdict).toSorted((a, b) => b.column - a.column)[0];
    const broken = deepest !== undefined && deepest.column > 1 ? deepest : (missing ?? deepest);
    const own = broken?.target === undefined ? undefined : this.#explain(broken.target);
    return { broken: broken?.id, reason: own ?? worst };
  }
}

const phaseOf = ({ metadata, status }: Stored<PersistentVolumeClaim>): string =>
  metadata.deletionTimestamp === undefined ? (status.phase ?? 'Pending') : 'Terminating';

const volumeDetail = ({ metadata, spec, status }: Stored<PersistentVolume>): string =>
  `${metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating'} ${spec.capacity?.['storage'] ?? ''}`;
