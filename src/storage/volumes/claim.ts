import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { Labels } from '../../api/selectors/label-selector.ts';
import { type AccessModes, requestedModes } from './access-modes.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { storageAmount, zero } from '../../api/volumes/capacity.ts';
import { type DataSource, dataSourceOf } from './data-source.ts';
import { selectorOfVolumes, type WrittenSelector } from './selectors.ts';
import { type ClaimClass, classOfClaim, nameOfClass } from '../../api/volumes/storage-class.ts';

export type VolumeMode = 'Filesystem' | 'Block';

/** A PersistentVolumeClaim, parsed once: its fields and annotations by name. */
export interface Claim {
  readonly object: PersistentVolumeClaim;
  /** 'namespace/name' */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels | undefined;
  /** RFC 3339; '' if unknown, which counts as oldest. */
  readonly created: string;
  readonly phase: string;

  readonly class: ClaimClass;
  /** '' for a class that is unset or ''. */
  readonly className: string;
  readonly volumeMode: VolumeMode;
  readonly accessModes: AccessModes;
  readonly request: Quantity;
  /** '' if unset. */
  readonly attributesClass: string;
  readonly selector: WrittenSelector;
  /** Undefined: a new volume is empty. */
  readonly dataSource: DataSource | undefined;

  /** spec.volumeName; '' if unset. */
  readonly volumeName: string;
  /** The claim was bound once: it keeps that volume or is Lost. */
  readonly everBound: boolean;
  /** `volumeName` was filled in by the controller, not by a person. */
  readonly boundByController: boolean;
  /** The node for which the scheduler wants a volume provisioned. */
  readonly selectedNode: string | undefined;
  /** The provisioner of the storage-provisioner annotation, and of its beta form. */
  readonly provisioner: string | undefined;
  readonly betaProvisioner: string | undefined;
  readonly migratedTo: string | undefined;
}

export function readClaim(object: PersistentVolumeClaim): Claim {
  const { metadata, spec, status } = object;
  const given = metadata.annotations ?? {};
  const claimClass = classOfClaim(object);
  const [namespace, name] = [metadata.namespace ?? '', metadata.name ?? ''];
  return {
    object,
    key: claimKey(namespace, name),
    namespace,
    name,
    uid: metadata.uid ?? '',
    labels: metadata.labels,
    created: metadata.creationTimestamp ?? '',
    phase: status.phase ?? '',
    class: claimClass,
    className: nameOfClass(claimClass),
    volumeMode: spec.volumeMode === 'Block' ? 'Block' : 'Filesystem',
    accessModes: requestedModes(spec.accessModes),
    request: storageAmount(spec.resources.requests) ?? zero,
    attributesClass: spec.volumeAttributesClassName ?? '',
    selector: selectorOfVolumes(spec.selector),
    dataSource: dataSourceOf(spec),
    volumeName: spec.volumeName ?? '',
    everBound: Object.hasOwn(given, annotations.bindCompleted),
    boundByController: Object.hasOwn(given, annotations.boundByController),
    selectedNode: given[annotations.selectedNode],
    provisioner: given[annotations.storageProvisioner],
    betaProvisioner: given[annotations.betaStorageProvisioner],
    migratedTo: given[annotations.migratedTo],
  };
}

export const claimKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** The claim has and names no volume: it takes the best match. */
export const takesAnyVolume = (claim: Claim): boolean => !claim.everBound && claim.volumeName === '';

/** The namespace of the object that the claim names as its data source. */
export const sourceNamespaceOf = ({ namespace, dataSource }: Claim): string =>
  (dataSource?.namespace ?? '') === '' ? namespace : (dataSource?.namespace ?? '');
