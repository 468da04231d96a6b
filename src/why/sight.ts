import type { CSIDriver, CSINode, Node, Pod, StorageClass, VolumeAttachment } from '../api/generated/types.ts';
import type { Seen as ProvisionerSeen } from '../controllers/provisioner/decide.ts';
import type { Seen as ReclaimerSeen } from '../controllers/reclaimer/decide.ts';
import { scrubberName } from '../controllers/reclaimer/scrubber.ts';
import type { Seen as BinderSeen } from '../controllers/volume-binder/decide.ts';
import { type Claim, claimKey, readClaim } from '../domain/volumes/claim.ts';
import type { DriverFacts } from '../domain/volumes/driver-facts.ts';
import type { VolumeIntent } from '../domain/volumes/intent.ts';
import { volumeNameOf } from '../domain/volumes/intent.ts';
import { isInTree } from '../domain/volumes/migration.ts';
import { claimsOfPod, hasEnded } from '../domain/volumes/pods.ts';
import { defaultClassOf } from '../domain/volumes/storage-class.ts';
import { VolumesView } from '../domain/volumes/view.ts';
import { readVolume, type Volume } from '../domain/volumes/volume.ts';
import type { ObjectList, Objects } from './objects.ts';

/** The objects, arranged; and what each controller would see of them, so that its decision can be asked for. */
export class Sight {
  readonly now: number;
  readonly claims: readonly Claim[];
  readonly volumes: readonly Volume[];
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly classes: readonly StorageClass[];
  readonly attachments: readonly VolumeAttachment[];
  readonly #objects: Objects;
  readonly #view = new VolumesView();
  readonly #podsByClaim = new Map<string, Pod[]>();

  constructor(objects: Objects, now: number) {
    this.#objects = objects;
    this.now = now;
    this.claims = (objects.claims ?? []).map(readClaim);
    this.volumes = (objects.volumes ?? []).map(readVolume);
    this.pods = objects.pods ?? [];
    this.nodes = objects.nodes ?? [];
    this.classes = objects.classes ?? [];
    this.attachments = objects.attachments ?? [];
    for (const { object } of this.claims) this.#view.changeClaim(undefined, object);
    for (const { object } of this.volumes) this.#view.changeVolume(undefined, object);
    for (const pod of this.pods) {
      for (const key of new Set(claimsOfPod(pod))) this.#podsByClaim.set(key, [...(this.#podsByClaim.get(key) ?? []), pod]);
    }
  }

  /** Whether such objects were looked at: only then does their absence mean anything. */
  sees(list: ObjectList): boolean {
    return this.#objects[list] !== undefined;
  }

  claim(key: string): Claim | undefined {
    return this.#view.claim(key);
  }

  volume(name: string): Volume | undefined {
    return this.#view.volumes.get(name);
  }

  /** A claim that was bound to the volume, whatever became of the volume's claimRef. */
  ownerOf(volumeName: string): Claim | undefined {
    return this.#view.ownerOf(volumeName);
  }

  class(name: string): StorageClass | undefined {
    return this.classes.find(({ metadata }) => metadata.name === name);
  }

  node(name: string): Node | undefined {
    return this.nodes.find(({ metadata }) => metadata.name === name);
  }

  podsUsing(key: string): readonly Pod[] {
    return this.#podsByClaim.get(key) ?? [];
  }

  attachmentsOf(volumeName: string): readonly VolumeAttachment[] {
    return this.attachments.filter(({ spec }) => spec.source.persistentVolumeName === volumeName);
  }

  csiDriver(name: string): CSIDriver | undefined {
    return this.#objects.drivers?.find(({ metadata }) => metadata.name === name);
  }

  csiNode(name: string): CSINode | undefined {
    return this.#objects.csiNodes?.find(({ metadata }) => metadata.name === name);
  }

  /** Names of the nodes on which the CSI driver has registered. */
  nodesWithDriver(name: string): readonly string[] {
    return (this.#objects.csiNodes ?? []).flatMap(({ metadata, spec }) => (spec.drivers?.some((driver) => driver.name === name) ? (metadata.name ?? '') : []));
  }

  intentFor(volumeName: string): VolumeIntent | undefined {
    return this.#objects.intents?.find((intent) => volumeNameOf(intent) === volumeName);
  }

  /** Nobody was told anything: that is how a decision is made anew, whatever Events there are. */
  readonly #told = () => undefined;

  readonly binder: BinderSeen = {
    mode: 'plain',
    told: this.#told,
    volume: (name) => this.volume(name),
    claim: (key) => this.claim(key),
    ownerOf: (name) => this.ownerOf(name),
    class: (name) => this.class(name),
    defaultClass: () => defaultClassOf(this.classes),
    bestFit: (claim, options) => this.#view.bestFit(claim, options),
    podsToSchedule: (key) =>
      this.podsUsing(key)
        .filter((pod) => (pod.spec.nodeName ?? '') === '' && !hasEnded(pod))
        .map(({ metadata }) => metadata.name ?? '')
        .sort(),
  };

  readonly provisioner: ProvisionerSeen = {
    told: this.#told,
    volume: this.binder.volume,
    class: this.binder.class,
    bestFit: this.binder.bestFit,
    // What was not looked at is not missed.
    hasNode: (name) => !this.sees('nodes') || this.node(name) !== undefined,
    driver: (name) => this.#driverInferred(name),
  };

  readonly reclaimer: ReclaimerSeen = {
    told: this.#told,
    maxScrubs: Infinity,
    claim: this.binder.claim,
    intent: (name) => this.intentFor(name),
    driver: this.provisioner.driver,
    scrubber: (name) => this.pods.find(({ metadata }) => metadata.namespace === 'default' && metadata.name === scrubberName(name)),
    scrubberEvents: () => [],
    podsUsing: (key) =>
      this.podsUsing(key)
        .filter((pod) => !hasEnded(pod))
        .map(({ metadata }) => claimKey(metadata.namespace ?? '', metadata.name ?? ''))
        .sort(),
  };

  /**
   * Which plugins run inside the control plane cannot be seen from outside. But a claim is marked for one of Kubernetes' own,
   * or a volume carries its name, only if it was there.
   */
  #driverInferred(name: string): DriverFacts | undefined {
    const isThere = isInTree(name) && (this.claims.some((claim) => claim.provisioner === name) || this.volumes.some((volume) => volume.provisionedBy === name));
    return isThere ? { name, provisions: true, deletes: true, mountOptions: false, block: false, zoneParameters: false } : undefined;
  }
}
