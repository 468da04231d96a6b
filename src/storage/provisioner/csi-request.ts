/** What a claim asks of a CSI driver, as external-provisioner's prepareProvision decides it. */
import type { CSIDriver, StorageClass, VolumeAttributesClass } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { storageAmount, zero } from '../../api/volumes/capacity.ts';
import type { CsiCapabilities } from '../../api/volumes/driver-capabilities.ts';
import type { ContentSource, CreateRequest, CsiCreateRequest } from '../../api/volumes/intent.ts';
import { type Claim, claimKey, sourceNamespaceOf } from '../volumes/claim.ts';
import { isVolumeBoundToClaim, type Volume } from '../volumes/volume.ts';
import { accessibilityOf, type TopologySnapshot } from './accessibility.ts';
import { provisionedName } from './actions.ts';
import { provisionerFlagsOf } from './provisioner-flags.ts';
import { driverParameters, parameterPrefix, secretsOf } from './secret-templates.ts';

/** What requests to CSI drivers depend on. */
export interface CsiSnapshot extends TopologySnapshot {
  claim(key: string): Claim | undefined;
  attributesClass(name: string): VolumeAttributesClass | undefined;
  csiDriver(name: string): CSIDriver | undefined;
}

export interface CsiNeed {
  readonly claim: Claim;
  readonly storageClass: StorageClass;
  readonly driver: string;
  readonly capabilities: CsiCapabilities;
  readonly volume: (name: string) => Volume | undefined;
}

export type CsiRequest =
  /** `sourceClaim`: the claim whose volume is cloned. */
  { readonly type: 'request'; readonly request: Pick<CreateRequest, 'parameters' | 'source' | 'csi'>; readonly sourceClaim?: Claim } | CsiRefusal;

interface CsiRefusal {
  readonly type: 'refused';
  readonly message: string;
  readonly reschedule?: boolean;
}

const refused = (message: string): CsiRefusal => ({ type: 'refused', message });

/** `source`: what fills the volume, if it is no claim. */
export function csiRequestOf(need: CsiNeed, snapshot: CsiSnapshot, source?: ContentSource): CsiRequest {
  const { claim, storageClass, driver } = need;
  const parameters = storageClass.parameters ?? {};
  const flags = provisionerFlagsOf(snapshot.csiDriver(driver));
  if (!flags.ok) return refused(flags.message);
  if (claim.object.spec.selector !== undefined) return refused('claim Selector is not supported');
  const fsType = fsTypeOf(parameters, flags.value.defaultFsType);
  if (fsType === undefined) return refused(`fstype specified in parameters with both "fstype" and "${parameterPrefix}fstype" keys`);
  const clone = source === undefined && claim.dataSource !== undefined ? cloneOf(need, snapshot) : { type: 'source' as const, source };
  if (clone.type === 'refused') return clone;
  const attributes = attributesOf(need, snapshot);
  if (attributes.type === 'refused') return attributes;
  const topology = topologyOf(need, snapshot, flags.value);
  if (topology.type === 'refused') return topology;
  const subject = { volumeName: provisionedName(claim), claim: claim.object };
  const secrets = secretsOf(parameters, subject);
  if (!secrets.ok) return refused(secrets.message);
  const stripped = driverParameters(parameters);
  if (!stripped.ok) return refused(stripped.message);
  const named = flags.value.extraCreateMetadata ? { ...stripped.value, ...metadataOf(claim) } : stripped.value;
  const csi: CsiCreateRequest = {
    fsType,
    secrets: secrets.value,
    ...(topology.requirements === undefined ? {} : { accessibilityRequirements: topology.requirements }),
    ...(Object.keys(attributes.parameters ?? {}).length === 0 || attributes.parameters === undefined ? {} : { mutableParameters: attributes.parameters }),
    ...(flags.value.controllerPublishReadOnly && isReadOnlyManyAlone(claim) ? { readOnly: true } : {}),
  };
  return {
    type: 'request',
    request: { ...(Object.keys(named).length === 0 ? {} : { parameters: named }), csi, ...(clone.source === undefined ? {} : { source: clone.source }) },
    ...('sourceClaim' in clone ? { sourceClaim: clone.sourceClaim } : {}),
  };
}

const isReadOnlyManyAlone = ({ object }: Claim): boolean => object.spec.accessModes?.length === 1 && object.spec.accessModes[0] === 'ReadOnlyMany';

const metadataOf = (claim: Claim) => ({
  [`${parameterPrefix}pvc/name`]: claim.name,
  [`${parameterPrefix}pvc/namespace`]: claim.namespace,
  [`${parameterPrefix}pv/name`]: provisionedName(claim),
});

/** Undefined: it is given twice. */
function fsTypeOf(parameters: Readonly<Record<string, string>>, byDefault: string): string | undefined {
  const found = Object.keys(parameters).filter((key) => key.toLowerCase() === 'fstype' || key === `${parameterPrefix}fstype`);
  if (found.length > 1) return undefined;
  const given = parameters[found[0] ?? ''] ?? '';
  return given === '' ? byDefault : given;
}

function attributesOf({ claim, driver, capabilities }: CsiNeed, snapshot: CsiSnapshot) {
  const name = claim.attributesClass;
  if (name === '') return { type: 'attributes' as const, parameters: undefined };
  if (!capabilities.modifies) return refused('CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported');
  const found = snapshot.attributesClass(name);
  if (found === undefined) return refused(`volumeattributesclass.storage.k8s.io "${name}" not found`);
  if (found.driverName !== driver) return refused(`VAC ${name} referenced in PVC is for driver ${found.driverName} which does not match driver name ${driver}`);
  return { type: 'attributes' as const, parameters: found.parameters };
}

function topologyOf(
  { claim, storageClass, driver, capabilities }: CsiNeed,
  snapshot: CsiSnapshot,
  { strictTopology, immediateTopology }: { readonly strictTopology: boolean; readonly immediateTopology: boolean },
) {
  if (!capabilities.topology) return { type: 'requirements' as const, requirements: undefined };
  return accessibilityOf(
    {
      driver,
      claimName: claim.name,
      selectedNode: claim.selectedNode,
      allowedTopologies: storageClass.allowedTopologies ?? [],
      strict: strictTopology,
      immediate: immediateTopology,
    },
    snapshot,
  );
}

type Clone = { readonly type: 'source'; readonly source: ContentSource; readonly sourceClaim: Claim } | CsiRefusal;

/** getPVCSource of external-provisioner, with the reasons that it only logs. */
function cloneOf({ claim, driver, capabilities, volume: volumeNamed }: CsiNeed, snapshot: CsiSnapshot): Clone {
  const name = claim.dataSource?.name ?? '';
  const no = (why: string): CsiRefusal => refused(`error getting handle for DataSource Type PersistentVolumeClaim by Name ${name}: ${why}`);
  if (!capabilities.clones) return refused('CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported');
  const namespace = sourceNamespaceOf(claim);
  const source = snapshot.claim(claimKey(namespace, name));
  if (source === undefined) return no(`error getting PVC ${name} (namespace "${namespace}") from api server: persistentvolumeclaim "${name}" not found`);
  if (source.phase !== 'Bound') return no(`the PVC DataSource ${name} must have a status of Bound.  Got ${source.phase === '' ? 'Pending' : source.phase}`);
  if (source.object.metadata.deletionTimestamp !== undefined) return no(`the PVC DataSource ${name} is currently being deleted`);
  if (source.className === '') return no(`the source PVC (${name}) storageclass cannot be empty`);
  const size = storageAmount(source.object.spec.resources.requests) ?? zero;
  if (compareQuantities(claim.request, size) < 0) {
    return no(
      `error, new PVC request must be greater than or equal in size to the specified PVC data source, requested ${formatQuantity(claim.request)} but source is ${formatQuantity(size)}`,
    );
  }
  const volume = source.volumeName === '' ? undefined : volumeNamed(source.volumeName);
  const invalid = (why: string) => no(`claim in dataSource not bound or invalid: ${why}`);
  if (volume === undefined) return invalid(`there is no volume "${source.volumeName}"`);
  const { csi } = volume.object.spec;
  if (csi?.driver !== driver) return invalid(`volume "${volume.name}" is not one of driver ${driver}`);
  if (volume.claim?.uid !== source.uid || !isVolumeBoundToClaim(volume, source) || volume.phase !== 'Bound')
    return invalid(`volume "${volume.name}" is not bound to it`);
  if (volume.volumeMode !== claim.volumeMode) {
    return no(
      `the source PVC and destination PVCs must have the same volume mode for cloning.  Source is ${volume.volumeMode}, but new PVC requested ${claim.volumeMode}`,
    );
  }
  return { type: 'source', source: { type: 'volume', handle: csi.volumeHandle }, sourceClaim: source };
}
