/**
 * Objects as Kubernetes shows them inside some messages: not with the names of the wire but with those of its own Go
 * structs, in their order, and with every empty field written out.
 *
 * A shape lists the fields of a struct. `FSType=fsType` is a field and its name on the wire, if that is more than the first
 * letter in lower case; behind a colon stands what an absent field prints as (nothing there: an empty text) or the
 * shape within it: by value (`:T`), by pointer (`:*T`) or as a list (`:[]T`). `...T` puts T's fields in this place.
 */
const shapes = {
  PersistentVolumeClaimSpec:
    'AccessModes:null Selector:null Resources:VolumeResourceRequirements VolumeName StorageClassName:null VolumeMode:null DataSource:*TypedLocalObjectReference DataSourceRef:*TypedObjectReference VolumeAttributesClassName:null',
  VolumeResourceRequirements: 'Limits:null Requests:null',
  TypedLocalObjectReference: 'APIGroup=apiGroup:null Kind Name',
  TypedObjectReference: 'APIGroup=apiGroup:null Kind Name Namespace:null',
  PersistentVolumeSource:
    'GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource HostPath:*HostPathVolumeSource Glusterfs:*GlusterfsPersistentVolumeSource NFS=nfs:*NFSVolumeSource RBD=rbd:*RBDPersistentVolumeSource Quobyte:*QuobyteVolumeSource ISCSI=iscsi:*ISCSIPersistentVolumeSource FlexVolume:*FlexPersistentVolumeSource Cinder:*CinderPersistentVolumeSource CephFS=cephfs:*CephFSPersistentVolumeSource FC=fc:*FCVolumeSource Flocker:*FlockerVolumeSource AzureFile:*AzureFilePersistentVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOPersistentVolumeSource Local:*LocalVolumeSource StorageOS=storageos:*StorageOSPersistentVolumeSource CSI=csi:*CSIPersistentVolumeSource',
  GCEPersistentDiskVolumeSource: 'PDName=pdName FSType=fsType Partition:0 ReadOnly:false',
  AWSElasticBlockStoreVolumeSource: 'VolumeID FSType=fsType Partition:0 ReadOnly:false',
  HostPathVolumeSource: 'Path Type:null',
  GlusterfsPersistentVolumeSource: 'EndpointsName=endpoints Path ReadOnly:false EndpointsNamespace:null',
  NFSVolumeSource: 'Server Path ReadOnly:false',
  RBDPersistentVolumeSource:
    'CephMonitors=monitors:null RBDImage=image FSType=fsType RBDPool=pool RadosUser=user Keyring SecretRef:*SecretReference ReadOnly:false',
  SecretReference: 'Name Namespace',
  QuobyteVolumeSource: 'Registry Volume ReadOnly:false User Group Tenant',
  ISCSIPersistentVolumeSource:
    'TargetPortal IQN=iqn Lun:0 ISCSIInterface=iscsiInterface FSType=fsType ReadOnly:false Portals:null DiscoveryCHAPAuth=chapAuthDiscovery:false SessionCHAPAuth=chapAuthSession:false SecretRef:*SecretReference InitiatorName:null',
  FlexPersistentVolumeSource: 'Driver FSType=fsType SecretRef:*SecretReference ReadOnly:false Options:null',
  CinderPersistentVolumeSource: 'VolumeID FSType=fsType ReadOnly:false SecretRef:*SecretReference',
  CephFSPersistentVolumeSource: 'Monitors:null Path User SecretFile SecretRef:*SecretReference ReadOnly:false',
  FCVolumeSource: 'TargetWWNs:null Lun:null FSType=fsType ReadOnly:false WWIDs=wwids:null',
  FlockerVolumeSource: 'DatasetName DatasetUUID',
  AzureFilePersistentVolumeSource: 'SecretName ShareName ReadOnly:false SecretNamespace:null',
  VsphereVirtualDiskVolumeSource: 'VolumePath FSType=fsType StoragePolicyName StoragePolicyID',
  AzureDiskVolumeSource: 'DiskName DataDiskURI=diskURI CachingMode:null FSType=fsType:null ReadOnly:null Kind:null',
  PhotonPersistentDiskVolumeSource: 'PdID FSType=fsType',
  PortworxVolumeSource: 'VolumeID FSType=fsType ReadOnly:false',
  ScaleIOPersistentVolumeSource:
    'Gateway System SecretRef:*SecretReference SSLEnabled=sslEnabled:false ProtectionDomain StoragePool StorageMode VolumeName FSType=fsType ReadOnly:false',
  LocalVolumeSource: 'Path FSType=fsType:null',
  StorageOSPersistentVolumeSource: 'VolumeName VolumeNamespace FSType=fsType ReadOnly:false SecretRef:*ObjectReference',
  ObjectReference: 'Kind Namespace Name UID=uid APIVersion=apiVersion ResourceVersion FieldPath',
  CSIPersistentVolumeSource:
    'Driver VolumeHandle ReadOnly:false FSType=fsType VolumeAttributes:null ControllerPublishSecretRef:*SecretReference NodeStageSecretRef:*SecretReference NodePublishSecretRef:*SecretReference ControllerExpandSecretRef:*SecretReference NodeExpandSecretRef:*SecretReference',
  VolumeNodeAffinity: 'Required:*NodeSelector',
  NodeSelector: 'NodeSelectorTerms:[]NodeSelectorTerm',
  NodeSelectorTerm: 'MatchExpressions:[]NodeSelectorRequirement MatchFields:[]NodeSelectorRequirement',
  NodeSelectorRequirement: 'Key Operator Values:null',
  VolumeAttachmentSpec: 'Attacher Source:VolumeAttachmentSource NodeName',
  VolumeAttachmentSource: 'PersistentVolumeName:null InlineVolumeSpec:*PersistentVolumeSpec',
  PersistentVolumeSpec:
    'Capacity:null ...PersistentVolumeSource AccessModes:null ClaimRef:*ObjectReference PersistentVolumeReclaimPolicy StorageClassName MountOptions:null VolumeMode:null NodeAffinity:*VolumeNodeAffinity VolumeAttributesClassName:null',
  CSINodeDriver: 'Name NodeID TopologyKeys:null Allocatable:*VolumeNodeResources',
  VolumeNodeResources: 'Count:null',
} as const;

export type GoType = keyof typeof shapes;

interface GoField {
  readonly goName: string;
  readonly wireName: string;
  readonly empty: string;
  readonly shape: GoType | undefined;
  readonly container: 'value' | 'pointer' | 'list';
}

const known = new Map<GoType, readonly GoField[]>();

function fieldsOf(type: GoType): readonly GoField[] {
  const fields = known.get(type) ?? shapes[type].split(' ').flatMap(readField);
  known.set(type, fields);
  return fields;
}

function readField(text: string): readonly GoField[] {
  if (text.startsWith('...')) return fieldsOf(text.slice(3) as GoType);
  const [names = '', content = ''] = text.split(':');
  const [goName = '', wireName = goName.charAt(0).toLowerCase() + goName.slice(1)] = names.split('=');
  const shape = content.replace(/^(\*|\[\])/, '');
  const container = content.startsWith('*') ? 'pointer' : content.startsWith('[]') ? 'list' : 'value';
  return [{ goName, wireName, empty: content, shape: shape in shapes ? (shape as GoType) : undefined, container }];
}

/** The value of a struct, ready to be printed as JSON. */
export function goForm(type: GoType, value: object | undefined): Record<string, unknown> {
  const object = (value ?? {}) as Record<string, unknown>;
  return Object.fromEntries(fieldsOf(type).map((field) => [field.goName, formOf(field, object[field.wireName])]));
}

function formOf({ shape, container, empty }: GoField, value: unknown): unknown {
  if (shape === undefined) return value ?? (empty === '' ? '' : JSON.parse(empty));
  if (container === 'value') return goForm(shape, value as object | undefined);
  if (value === undefined || value === null) return null;
  return container === 'list' ? (value as object[]).map((item) => goForm(shape, item)) : goForm(shape, value);
}
