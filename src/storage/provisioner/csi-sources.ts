import type { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { volumeAttributesClassKind } from '../../api/kinds/storage/volume-attributes-class.ts';
import { isFor, type VolumeIntent } from '../../api/volumes/intent.ts';
import { type Cache, changedObject, type Index, keyOf } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { type Source, source } from '../../client/controller/loop.ts';
import { type Claim, claimKey } from '../volumes/claim.ts';
import { dataSourceOf } from '../volumes/data-source.ts';
import { TopologyView } from '../volumes/topology-view.ts';
import type { VolumesView } from '../volumes/view.ts';
import type { CsiSnapshot } from './csi-request.ts';

/** What requests to CSI drivers read, indexed, and which claims a change of it concerns. */
export class CsiSources {
  readonly snapshot: CsiSnapshot;
  readonly #view: VolumesView;
  readonly #isCsi: (driver: string) => boolean;
  /** Pending claims, by the key of the claim that they clone. */
  readonly #clones: Index<PersistentVolumeClaim>;
  readonly #claimsByAttributes: Index<PersistentVolumeClaim>;
  readonly #volumesByHandle: Index<PersistentVolume>;
  readonly #intentsByHandle: Index<VolumeIntent>;
  readonly #intentsBySource: Index<VolumeIntent>;
  readonly #attributes: Cache<VolumeAttributesClass>;

  constructor(informers: Informers, view: VolumesView, isCsi: (driver: string) => boolean) {
    const topology = new TopologyView(informers);
    const claims = informers.cache(persistentVolumeClaimKind);
    const intents = informers.cache(volumeIntentKind);
    const csiDrivers = informers.cache(csiDriverKind);
    this.#view = view;
    this.#isCsi = isCsi;
    this.#clones = claims.addIndex(sourceClaimOf);
    this.#claimsByAttributes = claims.addIndex(attributesOf);
    this.#volumesByHandle = informers.cache(persistentVolumeKind).addIndex(handlesOf);
    this.#intentsByHandle = intents.addIndex(assetsOf);
    this.#intentsBySource = intents.addIndex(sourceHandleOf);
    this.#attributes = informers.cache(volumeAttributesClassKind);
    this.snapshot = {
      topologyKeys: (driver, node) => topology.topologyKeys(driver, node),
      anyTopologyKeys: (driver) => topology.anyTopologyKeys(driver),
      labels: (node) => topology.labels(node),
      segments: (keys) => topology.segments(keys),
      claim: (key) => view.claim(key),
      attributesClass: (name) => this.#attributes.getKey(name),
      csiDriver: (name) => csiDrivers.getKey(name),
    };
  }

  /** `waitingFor`: the claims that wait for volumes of a driver. */
  sources(waitingFor: (driver: string) => Iterable<string>): readonly Source<string>[] {
    return [
      source(csiDriverKind, (change) => waitingFor(changedObject(change).metadata.name)),
      source(csiNodeKind, ({ before, after }) => {
        const known = new Set((before?.spec.drivers ?? []).map(({ name }) => name));
        return (after?.spec.drivers ?? []).flatMap(({ name }) => (known.has(name) || !this.#isCsi(name) ? [] : [...waitingFor(name)]));
      }),
      source(volumeAttributesClassKind, (change) => this.#claimsByAttributes.get(changedObject(change).metadata.name).map(({ metadata }) => keyOf(metadata))),
      // The claim that is cloned, and the clones of a claim.
      source(persistentVolumeClaimKind, (change) => {
        const claim = changedObject(change);
        return [
          ...(dataSourceOf(claim.spec) === undefined ? [] : sourceOf(claim)),
          ...this.#clones.get(keyOf(claim.metadata)).map(({ metadata }) => keyOf(metadata)),
        ];
      }),
      // The claim that was cloned: the clone's own claim may be gone before its intent is.
      source(volumeIntentKind, ({ before, after }) => (before === undefined || after !== undefined ? [] : this.#clonedBy(before))),
    ];
  }

  #clonedBy(intent: VolumeIntent): readonly string[] {
    const volumes = sourceHandleOf(intent).flatMap((key) => this.#volumesByHandle.get(key));
    return volumes.flatMap(({ spec: { claimRef } }) => (claimRef === undefined ? [] : [claimKey(claimRef.namespace ?? '', claimRef.name ?? '')]));
  }

  /** A clone of the claim's volume is wanted or being made. */
  isCloned(claim: Claim): boolean {
    if (this.#clones.has(claim.key)) return true;
    const csi = this.#view.volumes.get(claim.volumeName)?.object.spec.csi;
    return csi !== undefined && this.#intentsBySource.has(`${csi.driver} ${csi.volumeHandle}`);
  }

  /** Whose the volume is, if not of the PersistentVolume or intent `except`. */
  ownerOf(driver: string, handle: string, except: string): string | undefined {
    const key = `${driver} ${handle}`;
    const volume = this.#volumesByHandle.get(key).find(({ metadata }) => metadata.name !== except);
    if (volume !== undefined) return `PersistentVolume "${volume.metadata.name}"`;
    const intent = this.#intentsByHandle.get(key).find(({ metadata }) => metadata.name !== except);
    return intent === undefined ? undefined : `VolumeIntent "${intent.metadata.name}"`;
  }
}

const handlesOf = ({ spec: { csi } }: PersistentVolume): readonly string[] => (csi === undefined ? [] : [`${csi.driver} ${csi.volumeHandle}`]);

const assetsOf = (intent: VolumeIntent): readonly string[] =>
  isFor(intent, 'Create') && intent.status.asset !== undefined ? [`${intent.spec.driver} ${intent.status.asset.handle}`] : [];

const sourceHandleOf = (intent: VolumeIntent): readonly string[] =>
  isFor(intent, 'Create') && intent.spec.request.source?.type === 'volume' ? [`${intent.spec.driver} ${intent.spec.request.source.handle}`] : [];

const attributesOf = ({ spec, status }: PersistentVolumeClaim): readonly string[] =>
  spec.volumeAttributesClassName === undefined || status.phase === 'Bound' ? [] : [spec.volumeAttributesClassName];

const sourceClaimOf = (claim: PersistentVolumeClaim): readonly string[] =>
  claim.status.phase === 'Bound' || claim.status.phase === 'Lost' ? [] : sourceOf(claim);

function sourceOf({ metadata, spec }: PersistentVolumeClaim): readonly string[] {
  const source = dataSourceOf(spec);
  if (source?.kind !== 'PersistentVolumeClaim' || source.group !== '') return [];
  return [claimKey(source.namespace === '' ? (metadata.namespace ?? '') : source.namespace, source.name)];
}
