import type { StorageClass } from '../../api/generated/types.ts';
import { type Claim, takesAnyVolume } from '../volumes/claim.ts';
import { formatQuantity } from '../../api/quantity.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import type { CreateRequest } from '../../api/volumes/intent.ts';
import { isInTree, csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { waitsForConsumer, zonesInParameters } from '../../api/volumes/storage-class.ts';
import type { DataSource } from '../volumes/data-source.ts';
import type { Volume } from '../volumes/volume.ts';
import { provisionedName } from './actions.ts';
import { type CsiSnapshot, csiRequestOf } from './csi-request.ts';
import { type DataSourceRules, foreignSourceRefusal } from './data-source-rules.ts';
import { messages } from './messages.ts';
import { snapshotSourceOf, type SnapshotSources } from './snapshot-source.ts';
import type { VolumeSnapshot } from '../../api/kinds/snapshot/volume-snapshot.ts';

/** What the provisioner reads besides the claim. */
export interface ProvisioningSnapshot {
  volume(name: string): Volume | undefined;
  class(name: string): StorageClass | undefined;
  bestFit(claim: Claim, options: { readonly reservedOnly: boolean }): Volume | undefined;
  hasNode(name: string): boolean;
  /** The drivers in this process, by name. */
  driver(name: string): DriverCapabilities | undefined;
  /** Undefined: the server has no snapshots. */
  readonly snapshots?: SnapshotSources | undefined;
  /** Undefined: the server has no VolumePopulators and ReferenceGrants. */
  readonly dataSources?: DataSourceRules | undefined;
  /** Absent: no driver of this process is a CSI driver behind a socket. */
  readonly csi?: CsiSnapshot;
}

/**
 * What a claim needs of the provisioner.
 * - `nothing`:  it has a volume, gets one (`fits`), or waits for a pod
 * - `external`: an external provisioner creates it, and reads the claim's annotation
 * - `populated`: a volume populator creates it
 * - `refused`:  it cannot be created. `provisioner`: the claim is annotated all the same. `reschedule`: another node may do
 * - `make`:     a driver in this process creates it. `sourceClaim`: by cloning the volume of that claim
 */
export type ProvisioningNeed =
  | { readonly type: 'nothing'; readonly because: string; readonly fits?: Volume }
  | { readonly type: 'external'; readonly provisioner: string }
  | { readonly type: 'populated'; readonly provisioner: string; readonly source: DataSource }
  | { readonly type: 'refused'; readonly cause: Refusal; readonly message: string; readonly provisioner?: string; readonly reschedule?: boolean }
  | {
      readonly type: 'make';
      readonly driver: DriverCapabilities;
      readonly provisioner: string;
      readonly request: CreateRequest;
      /** What the volume is restored from. */
      readonly restored?: VolumeSnapshot;
      /** What the volume is a clone of. */
      readonly sourceClaim?: Claim;
    };

/** Why a volume cannot be provisioned. */
export type Refusal = 'class' | 'zones' | 'plugin' | 'dataSource' | 'mountOptions' | 'node' | 'block' | 'csi';

export function provisioningNeedOf(claim: Claim, snapshot: ProvisioningSnapshot): ProvisioningNeed {
  if (!takesAnyVolume(claim)) return { type: 'nothing', because: `it has or names volume "${claim.volumeName}"` };
  if (claim.className === '') return { type: 'nothing', because: 'it has no class' };
  // The binder records an event about the selector.
  if (claim.selector.type === 'invalid') return { type: 'nothing', because: 'its selector cannot be read' };
  const storageClass = snapshot.class(claim.className);
  const delayed = waitsForConsumer(storageClass);
  const fit = snapshot.bestFit(claim, { reservedOnly: delayed });
  if (fit !== undefined) return { type: 'nothing', because: `volume "${fit.name}" fits`, fits: fit };
  if (delayed && claim.selectedNode === undefined) return { type: 'nothing', because: 'it waits for a pod' };
  if (storageClass === undefined) return { type: 'refused', cause: 'class', message: messages.classNotFound(claim.className) };

  if (delayed && zonesInParameters(storageClass).length > 0) {
    return { type: 'refused', cause: 'zones', message: messages.failed(storageClass.provisioner, claim.className, messages.zones), reschedule: true };
  }
  const provisioner = provisionerOf(storageClass);
  const driver = snapshot.driver(provisioner);
  if (driver?.provisions !== true) {
    return isInTree(provisioner) ? { type: 'refused', cause: 'plugin', message: messages.noPlugin(provisioner) } : { type: 'external', provisioner };
  }
  return needOfDriver({ claim, storageClass, driver, snapshot });
}

/** The provisioner of the class: the CSI driver, for a migrated in-tree plugin. */
export const provisionerOf = ({ provisioner }: StorageClass): string => csiDriverOf(provisioner) ?? provisioner;

interface DriverNeed {
  readonly claim: Claim;
  readonly storageClass: StorageClass;
  readonly driver: DriverCapabilities;
  readonly snapshot: ProvisioningSnapshot;
}

function needOfDriver({ claim, storageClass, driver, snapshot }: DriverNeed): ProvisioningNeed {
  const provisioner = driver.name;
  const existing = snapshot.volume(provisionedName(claim));
  if (existing !== undefined) return { type: 'nothing', because: `volume "${existing.name}" was provisioned for it` };
  // An empty volume in the place of one that was to be filled would look like lost data. The claim keeps its node: a volume populator needs it.
  const unsourced = unusableSource({ claim, driver, snapshot, storageClass });
  if (unsourced !== undefined) return unsourced;
  const restored = snapshotSourceOf({ claim, storageClass, driver: provisioner }, snapshot.snapshots);
  if (restored?.type === 'refused')
    return { type: 'refused', cause: 'dataSource', message: messages.failed(provisioner, claim.className, restored.message), provisioner };
  if (claim.dataSource !== undefined && restored === undefined && !(snapshot.csi !== undefined && isCloneable(claim.dataSource, driver)))
    return refusedSource(provisioner, claim.className, claim.dataSource);
  if (!driver.mountOptions && (storageClass.mountOptions ?? []).length > 0)
    return { type: 'refused', cause: 'mountOptions', message: messages.mountOptions(storageClass), provisioner };
  if (claim.selectedNode !== undefined && !snapshot.hasNode(claim.selectedNode)) {
    // External provisioners ask for another node; in-tree plugins wait for this one.
    const isExternal = !isInTree(provisioner);
    return { type: 'refused', cause: 'node', message: messages.nodeNotFound(provisioner, claim.selectedNode), provisioner, reschedule: isExternal };
  }
  if (claim.volumeMode === 'Block' && !driver.block) {
    const message = messages.failed(provisioner, claim.className, messages.noBlock(provisioner));
    return { type: 'refused', cause: 'block', message, provisioner, reschedule: claim.selectedNode !== undefined };
  }
  const request = requestFor(claim, storageClass);
  const filled = restored === undefined ? {} : { source: restored.source };
  const from = restored === undefined ? {} : { restored: restored.snapshot };
  if (driver.csi === undefined || snapshot.csi === undefined) return { type: 'make', driver, provisioner, request: { ...request, ...filled }, ...from };
  const capabilities = driver.csi;
  const csi = csiRequestOf({ claim, storageClass, driver: provisioner, capabilities, volume: (name) => snapshot.volume(name) }, snapshot.csi, restored?.source);
  if (csi.type === 'refused') {
    const message = messages.failed(provisioner, claim.className, csi.message);
    return { type: 'refused', cause: 'csi', message, provisioner, reschedule: csi.reschedule === true };
  }
  const { sourceClaim } = csi;
  const { parameters: _, ...rest } = request;
  const cloned = sourceClaim === undefined ? {} : { sourceClaim };
  return { type: 'make', driver, provisioner, request: { ...rest, ...csi.request }, ...cloned, ...from };
}

/** A source of another namespace that may not be used, or one that a volume populator is registered for. */
function unusableSource({ claim, storageClass, driver, snapshot }: DriverNeed): ProvisioningNeed | undefined {
  const source = claim.dataSource;
  if (source === undefined) return undefined;
  const { name } = driver;
  const why = foreignSourceRefusal(claim, { object: snapshot.csi?.csiDriver(name), rules: snapshot.dataSources });
  if (why !== undefined) {
    const message = isInTree(name) ? messages.dataSource(name, claim.className, source) : messages.failed(name, storageClass.metadata.name ?? '', why);
    return { type: 'refused', cause: 'dataSource', message, ...(isInTree(name) ? {} : { provisioner: name }) };
  }
  const isOther = !isClaim(source) && source.kind !== 'VolumeSnapshot';
  return isOther && !isInTree(name) && snapshot.dataSources?.isRegistered(source) === true ? { type: 'populated', provisioner: name, source } : undefined;
}

function refusedSource(provisioner: string, className: string, source: DataSource): ProvisioningNeed {
  const message = messages.dataSource(provisioner, className, source);
  return { type: 'refused', cause: 'dataSource', message, ...(isInTree(provisioner) ? {} : { provisioner }) };
}

const isClaim = ({ kind, group }: DataSource): boolean => kind === 'PersistentVolumeClaim' && group === '';

/** A claim whose volume the driver may clone. */
const isCloneable = (source: DataSource, { csi }: DriverCapabilities): boolean => csi !== undefined && isClaim(source);

function requestFor(claim: Claim, storageClass: StorageClass): CreateRequest {
  const { parameters, mountOptions = [], allowedTopologies } = storageClass;
  return {
    capacity: formatQuantity(claim.request),
    accessModes: claim.object.spec.accessModes ?? [],
    volumeMode: claim.volumeMode,
    storageClassName: claim.className,
    reclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
    // In-tree plugins do not know attributes classes.
    ...(claim.attributesClass === '' || isInTree(storageClass.provisioner) ? {} : { volumeAttributesClassName: claim.attributesClass }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(mountOptions.length === 0 ? {} : { mountOptions }),
    ...(allowedTopologies === undefined ? {} : { allowedTopologies }),
    ...(claim.selectedNode === undefined ? {} : { selectedNode: claim.selectedNode }),
  };
}
