import type { PodSecurityContext, PodSpec, PodTemplateSpec } from '../../generated/types.ts';
import { type FieldSchema, type TypeExpression, typeSchema } from '../../schema/type-schema.ts';

/**
 * Values as some of Kubernetes' messages show them: as the structs that its code has inside, with their Go names and
 * every empty field written out. `internalForm('Toleration', { key: 'a' })` is
 * `{ Key: 'a', Operator: '', Value: '', Effect: '', TolerationSeconds: null }`.
 */
export function internalForm(type: string, value: object | undefined): Record<string, unknown> {
  const object = (value ?? {}) as Record<string, unknown>;
  const form: Record<string, unknown> = {};
  for (const field of fieldsOf(type)) {
    if (field.inline && field.type.type === 'struct') Object.assign(form, internalForm(field.type.name, object));
    else form[goName(type, field.name)] = formOf(field.type, object[field.name]);
  }
  return form;
}

/** Where the structs inside have another order than those on the wire. Fields that are missing here are not in them. */
const otherOrders: Readonly<Record<string, string>> = {
  PodSpec:
    'volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName automountServiceAccountToken nodeName securityContext imagePullSecrets hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations hostAliases priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride schedulingGroup',
  PodSecurityContext:
    'seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy',
  VolumeSource:
    'hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs persistentVolumeClaim rbd quobyte flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume azureDisk photonPersistentDisk projected portworxVolume scaleIO storageos csi ephemeral image',
};

function fieldsOf(type: string): readonly FieldSchema[] {
  const { fields, byName } = typeSchema(type);
  const order = otherOrders[type];
  return order === undefined ? fields : order.split(' ').flatMap((name) => byName.get(name) ?? []);
}

/** Go names that are more than the name on the wire with a capital. */
const goNames: ReadonlyMap<string, string> = new Map(
  'apiGroup=APIGroup apiVersion=APIVersion awsElasticBlockStore=AWSElasticBlockStore cephfs=CephFS chapAuthDiscovery=DiscoveryCHAPAuth chapAuthSession=SessionCHAPAuth csi=CSI diskURI=DataDiskURI dnsConfig=DNSConfig dnsPolicy=DNSPolicy endpoints=EndpointsName fc=FC fsGroup=FSGroup fsGroupChangePolicy=FSGroupChangePolicy fsType=FSType gcePersistentDisk=GCEPersistentDisk gmsaCredentialSpec=GMSACredentialSpec gmsaCredentialSpecName=GMSACredentialSpecName grpc=GRPC httpGet=HTTPGet httpHeaders=HTTPHeaders ip=IP iqn=IQN iscsi=ISCSI iscsiInterface=ISCSIInterface nfs=NFS os=OS pdName=PDName rbd=RBD seLinuxChangePolicy=SELinuxChangePolicy seLinuxOptions=SELinuxOptions sslEnabled=SSLEnabled storageos=StorageOS tcpSocket=TCPSocket tty=TTY wwids=WWIDs RBDVolumeSource.image=RBDImage RBDVolumeSource.monitors=CephMonitors RBDVolumeSource.pool=RBDPool RBDVolumeSource.user=RadosUser'
    .split(' ')
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
);

const goName = (type: string, field: string): string => goNames.get(`${type}.${field}`) ?? goNames.get(field) ?? field.charAt(0).toUpperCase() + field.slice(1);

const zeros: Readonly<Record<string, unknown>> = { string: '', bool: false, int32: 0, int64: 0, IntOrString: 0, Quantity: '0' };

function formOf(type: TypeExpression, value: unknown): unknown {
  const isAbsent = value === undefined || value === null;
  switch (type.type) {
    case 'struct':
      return isAbsent && type.pointer ? null : structForm(type.name, value as object | undefined);
    case 'list':
      return isAbsent ? null : (value as unknown[]).map((item) => formOf(type.of, item));
    case 'map':
      return isAbsent ? null : sortedKeys(value as Record<string, unknown>);
    default:
      return value ?? (type.pointer ? null : (zeros[type.type] ?? null));
  }
}

/** Structs that Kubernetes has only once, for the wire and inside, look alike everywhere. */
function structForm(type: string, value: object | undefined): unknown {
  if (type === 'PersistentVolumeClaimTemplate') return templateForm(value as { metadata?: object; spec?: object }, 'PersistentVolumeClaimSpec');
  if (type === 'PodSpec') return podSpecForm(value as PodSpec);
  return typeSchema(type).package.endsWith('/meta/v1') ? (value ?? {}) : internalForm(type, value);
}

const sortedKeys = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/** The metadata of a template stands in the middle of the template itself. */
const templateForm = ({ metadata, spec }: { metadata?: object; spec?: object }, specType: string): Record<string, unknown> => ({
  ...metadata,
  Spec: structForm(specType, spec),
});

export const podTemplateForm = (template: PodTemplateSpec): Record<string, unknown> => templateForm(template, 'PodSpec');

/** What a pod shares with its node is part of its security context, inside. */
export function podSpecForm(spec: PodSpec): Record<string, unknown> {
  const { hostNetwork = false, hostPID = false, hostIPC = false, shareProcessNamespace = null, hostUsers = null } = spec;
  const shared = { HostNetwork: hostNetwork, HostPID: hostPID, HostIPC: hostIPC, ShareProcessNamespace: shareProcessNamespace, HostUsers: hostUsers };
  const context: PodSecurityContext = spec.securityContext ?? {};
  return { ...internalForm('PodSpec', spec), SecurityContext: { ...shared, ...internalForm('PodSecurityContext', context) } };
}
