import type { CSINode, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { claimKey } from '../../domain/volumes/claim.ts';
import { isFree, type Volume } from '../../domain/volumes/volume.ts';
import {
  type ClusterChange,
  type Detail,
  type Failure,
  failed,
  type Hands,
  type NodeInfo,
  type ObjectChange,
  type Plugin,
  type PodInfo,
  type Reason,
  type Rejection,
  rejection,
  type Snapshot,
  type Stages,
} from '../framework.ts';
import { Bells } from './bells.ts';
import { type Ask, askFor, type Conflict, findVolumes, isServed, likelyNodes, type VolumesSeen } from './find.ts';
import { LabelledNodes } from './labelled-nodes.ts';
import { pluginsHandedOver } from './migrated.ts';
import { whereaboutsOfTerms } from './places.ts';
import { type Plan, release, reserve } from './plan.ts';
import { claimsOf } from './pod-claims.ts';
import { type ClaimToConfirm, confirm, preBind } from './pre-bind.ts';
import { largestVolume, StorageCapacities } from './storage-capacities.ts';
import { VolumeBook } from './volume-book.ts';

const name = 'VolumeBinding';

export interface VolumeBindingOptions {
  /** Volume and claim are bound in one transaction: the server is Mooring's own, and shows what it can. */
  readonly bindsTogether: boolean;
  /** How long a pod waits for its volumes before it is scheduled anew. */
  readonly timeoutMs?: number;
}

/** Pods go where their volumes are, or can be made; volumes that wait for a pod are chosen together with its node. */
export function volumeBinding(options: VolumeBindingOptions): Plugin {
  const desk = new Desk(options);
  return {
    name,
    prepare: (pod, snapshot) => desk.prepare(pod, snapshot),
    observe: (change) => desk.observe(change),
    wakes: {
      on: ['storageClass', 'claim', 'volume', 'node', 'csiNode', 'csiDriver', 'storageCapacity', 'pod'],
      helps: (pod, change) => desk.helps(pod, change),
    },
  };
}

const tenMinutes = 600_000;

/** What is known of volumes between two pods. */
class Desk {
  readonly bells = new Bells();
  readonly nodes = new LabelledNodes();
  readonly book = new VolumeBook(this.nodes);
  readonly bindsTogether: boolean;
  readonly timeoutMs: number;
  readonly #capacities = new StorageCapacities();
  /** By node: the plugins that its kubelet has handed over. Only nodes that have any. */
  readonly #handedOver = new Map<string, ReadonlySet<string>>();
  /** The uid of the pod that last gave back what it had reserved. */
  #releasedBy: string | undefined;

  constructor({ bindsTogether, timeoutMs = tenMinutes }: VolumeBindingOptions) {
    this.bindsTogether = bindsTogether;
    this.timeoutMs = timeoutMs;
  }

  observe(change: ClusterChange): void {
    switch (change.resource) {
      case 'volume':
        this.book.observeVolume(change);
        return this.#ringVolume(change.after ?? change.before);
      case 'claim': {
        this.book.observeClaim(change);
        if (this.bells.silent) return;
        const { namespace = '', name: claimName = '' } = (change.after ?? change.before)?.metadata ?? {};
        return this.bells.ring(`pvc/${claimKey(namespace, claimName)}`);
      }
      case 'node':
        this.nodes.observe(change);
        return this.bells.ring(`node/${(change.after ?? change.before)?.metadata.name ?? ''}`);
      case 'csiNode':
        return this.#observeCsiNode(change.after, change.before?.metadata.name ?? '');
      case 'storageCapacity':
        return this.#capacities.observe(change);
      default:
        return undefined;
    }
  }

  /** Whoever waits for a volume to be made does not know its name, but the claim's. */
  #ringVolume(volume: PersistentVolume | undefined): void {
    if (this.bells.silent) return;
    this.bells.ring(`pv/${volume?.metadata.name ?? ''}`);
    const ref = volume?.spec.claimRef;
    if (ref !== undefined) this.bells.ring(`pvc/${claimKey(ref.namespace ?? '', ref.name ?? '')}`);
  }

  #observeCsiNode(after: CSINode | undefined, gone: string): void {
    const plugins = after === undefined ? undefined : pluginsHandedOver(after);
    if (after === undefined || plugins === undefined || plugins.size === 0) this.#handedOver.delete(after?.metadata.name ?? gone);
    else this.#handedOver.set(after.metadata.name ?? '', plugins);
  }

  isHandedOver(plugin: string, nodeName: string): boolean {
    return this.#handedOver.get(nodeName)?.has(plugin) ?? false;
  }

  prepare(pod: PodInfo, { views }: Snapshot): 'skip' | Rejection | Stages {
    const { book } = this;
    const claims = claimsOf(pod, {
      seenClaim: (key) => book.seenClaim(key),
      claim: (key) => book.claim(key),
      class: (className) => views.storageClass.getKey(className),
    });
    if (claims.type === 'none') return 'skip';
    if (claims.type === 'refused') return rejection('unresolvable', name, claims.reason);
    const seen: VolumesSeen = {
      volume: (volumeName) => book.volume(volumeName),
      pointingAt: (key) => book.pointingAt(key),
      choiceFor: (claim) => book.choiceFor(claim),
      reportsCapacity: (driver) => views.csiDriver.getKey(driver)?.spec.storageCapacity === true,
      hasRoom: (className, bytes, labels) => this.#capacities.isEnough(className, bytes, labels),
      isHandedOver: (plugin, nodeName) => this.isHandedOver(plugin, nodeName),
    };
    return new PodVolumes(pod, askFor(claims, seen), this);
  }

  release(plan: Plan, { uid }: PodInfo): void {
    const bells = release(plan, this.book);
    if (bells.length > 0) this.#releasedBy = uid;
    for (const bell of bells) this.bells.ring(bell);
  }

  /** The nodes that can reach the volume, if that is easily said. */
  nodesAt({ nodes }: Volume): ReadonlySet<string> | undefined {
    const where = whereaboutsOfTerms(nodes);
    if (where.type === 'anywhere' || where.places.length > mostPlaces) return undefined;
    const [first] = where.places;
    if (where.places.length === 1 && first !== undefined) return this.nodes.at(first.label, first.value);
    return new Set(where.places.flatMap(({ label, value }) => [...this.nodes.at(label, value)]));
  }

  helps(pod: PodInfo, change: ClusterChange): boolean {
    switch (change.resource) {
      case 'storageClass':
        return change.after !== undefined && (change.before === undefined || servesElsewhere(change.before, change.after));
      case 'claim':
        return this.#helpsByClaim(pod, change);
      case 'volume':
        return this.#helpsByVolume(pod, change);
      case 'node':
        return change.after !== undefined && (change.before === undefined || !semanticallyEqual(change.before.metadata.labels, change.after.metadata.labels));
      case 'csiNode':
        return change.after !== undefined && (change.before === undefined || handedOverText(change.before) !== handedOverText(change.after));
      case 'csiDriver':
        // Room is no longer asked for.
        return change.before?.spec.storageCapacity === true && change.after?.spec.storageCapacity !== true;
      case 'pod':
        // It was not bound after all, and what it had reserved is free again.
        return change.after === undefined && change.before?.metadata.uid === this.#releasedBy;
      case 'storageCapacity': {
        if (change.after === undefined || change.before === undefined) return change.after !== undefined;
        const [then, now] = [largestVolume(change.before), largestVolume(change.after)];
        return now !== undefined && (then === undefined || now > then);
      }
      default:
        return false;
    }
  }

  /** A claim of the pod; or one that no longer has a right to a volume which is free otherwise. */
  #helpsByClaim({ claims }: PodInfo, { before, after }: ObjectChange<PersistentVolumeClaim>): boolean {
    if (after !== undefined && claims.includes(refKey(after.metadata))) return true;
    const left = before?.spec.volumeName === after?.spec.volumeName ? undefined : this.book.volume(before?.spec.volumeName ?? '');
    return left !== undefined && isFree(left);
  }

  /** A volume that is somebody else's, and was so before, is of no use. */
  #helpsByVolume({ claims }: PodInfo, { before, after }: ObjectChange<PersistentVolume>): boolean {
    if (after !== undefined && after.spec.claimRef === undefined) return true;
    const names = new Set([before, after].flatMap((volume) => (volume?.spec.claimRef === undefined ? [] : [refKey(volume.spec.claimRef)])));
    return claims.some((key) => names.has(key) || this.book.claim(key)?.volumeName === (after ?? before)?.metadata.name);
  }
}

/** What a class says of its provisioner and mode cannot change, but another class of the same name may take its place. */
const servesElsewhere = (before: StorageClass, after: StorageClass): boolean =>
  before.provisioner !== after.provisioner ||
  before.volumeBindingMode !== after.volumeBindingMode ||
  !semanticallyEqual(before.allowedTopologies, after.allowedTopologies);

const refKey = ({ namespace = '', name: claimName = '' }: { readonly namespace?: string; readonly name?: string }): string => claimKey(namespace, claimName);
const handedOverText = (node: CSINode): string => [...pluginsHandedOver(node)].join();

/** Beyond that, finding the nodes costs more than asking them. */
const mostPlaces = 16;

class PodVolumes implements Stages {
  readonly likely?: ReadonlySet<string>;
  readonly #pod: PodInfo;
  readonly #ask: Ask;
  readonly #desk: Desk;
  readonly #rejections = new Map<string, Rejection>();
  #plan: Plan | undefined;

  constructor(pod: PodInfo, ask: Ask, desk: Desk) {
    this.#pod = pod;
    this.#ask = ask;
    this.#desk = desk;
    const likely = likelyNodes(ask, (volume) => desk.nodesAt(volume));
    if (likely !== undefined) this.likely = likely;
  }

  filter(node: NodeInfo): Rejection | Failure | undefined {
    if (isServed(this.#ask, node)) return undefined;
    const finding = findVolumes(this.#ask, node);
    switch (finding.type) {
      case 'found':
        return undefined;
      case 'failed':
        return failed(name, finding.message);
      case 'conflict':
        return this.#reject(finding.conflicts);
    }
  }

  /** The same for all nodes that are refused for the same. */
  #reject(conflicts: readonly Conflict[]): Rejection {
    const key = conflicts.join();
    let known = this.#rejections.get(key);
    if (known === undefined) {
      known = { code: 'unresolvable', plugin: name, reasons: conflicts.map((conflict) => reasonFor(conflict, this.#pod.pod, this.#ask)) };
      this.#rejections.set(key, known);
    }
    return known;
  }

  reserve(node: NodeInfo): Failure | undefined {
    // Nothing has changed since the node was asked.
    const finding = findVolumes(this.#ask, node);
    if (finding.type !== 'found') return failed(name, `no pod volume found for node "${node.name}"`);
    const reserved = reserve(finding, node.name, this.#desk.book);
    if ('failed' in reserved) return failed(name, reserved.failed);
    this.#plan = reserved.plan;
    return undefined;
  }

  unreserve(): void {
    const plan = this.#plan;
    this.#plan = undefined;
    if (plan !== undefined) this.#desk.release(plan, this.#pod);
  }

  willPreBind(): boolean {
    return this.#plan !== undefined && (this.#plan.bindings.length > 0 || this.#plan.provisions.length > 0);
  }

  async preBind(_: NodeInfo, hands: Hands): Promise<Failure | undefined> {
    const plan = this.#plan;
    if (plan === undefined) return undefined;
    const why = (this.willPreBind() ? await this.#fulfil(plan, hands) : undefined) ?? (await confirm(this.#claimsToConfirm(plan), hands));
    return why === undefined ? undefined : failed(name, why);
  }

  #claimsToConfirm({ bindings, provisions }: Plan): readonly ClaimToConfirm[] {
    return [...this.#ask.bound, ...bindings, ...provisions].map(({ claim }) => claim);
  }

  #fulfil(plan: Plan, hands: Hands): Promise<string | undefined> {
    const { book, nodes, bells, bindsTogether, timeoutMs } = this.#desk;
    const isHandedOver = (plugin: string, nodeName: string) => this.#desk.isHandedOver(plugin, nodeName);
    return preBind(plan, { book, nodes, bells, bindsTogether, timeoutMs, isHandedOver, hands, pod: this.#pod });
  }
}

const texts: Readonly<Record<Conflict, { readonly text: string; readonly rule: string }>> = {
  nodeAffinity: { text: "node(s) didn't match PersistentVolume's node affinity", rule: 'volumeNodeAffinity' },
  noVolume: { text: "node(s) didn't find available persistent volumes to bind", rule: 'noVolumeToBind' },
  noRoom: { text: 'node(s) did not have enough free storage', rule: 'storageCapacity' },
  volumeMissing: { text: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)', rule: 'volumeMissing' },
};

function reasonFor(conflict: Conflict, pod: Pod, ask: Ask): Reason {
  return { ...texts[conflict], detail: () => details[conflict](ask, pod) };
}

const listed = (names: readonly string[]): string => names.map((each) => `"${each}"`).join(', ');

const details: Readonly<Record<Conflict, (ask: Ask, pod: Pod) => Detail>> = {
  nodeAffinity: ({ bound }) => {
    const tied = bound.flatMap(({ volume }) => (volume?.nodes === undefined ? [] : [volume.name]));
    return {
      found: `cannot reach ${tied.length === 1 ? 'volume' : 'all of the volumes'} ${listed(tied)}`,
      wanted: `labels that ${tied.length === 1 ? "the volume's" : "the volumes'"} node affinity asks for`,
      ...(tied.length === 1 ? { object: `pv/${tied[0] ?? ''}` } : {}),
    };
  },
  noVolume: ({ wanted }) => {
    const [first] = wanted;
    const node = wanted.find(({ claim }) => claim.selectedNode !== undefined)?.claim.selectedNode;
    const claims = listed(wanted.map(({ claim }) => claim.name));
    if (node !== undefined) return { found: `is not node "${node}", which was chosen for claim ${claims} before`, wanted: `to be node "${node}"` };
    return {
      found: `has no free volume within reach that fits claim ${claims}, and none can be made for it`,
      wanted: `a free volume of class "${first?.claim.className ?? ''}" that the node can reach`,
      ...(wanted.length === 1 ? { object: `pvc/${first?.claim.name ?? ''}` } : {}),
    };
  },
  noRoom: ({ wanted }) => ({
    found: `can reach no storage with room for claim ${listed(wanted.map(({ claim }) => claim.name))}`,
    wanted: `more capacity in class "${wanted[0]?.claim.className ?? ''}", as its driver reports it`,
  }),
  volumeMissing: ({ bound }) => {
    const gone = bound.filter(({ volume }) => volume === undefined).map(({ claim }) => claim.volumeName);
    return { found: `cannot help: volume ${listed(gone)} does not exist`, wanted: `volume ${listed(gone)} to be created again`, object: `pv/${gone[0] ?? ''}` };
  },
};
