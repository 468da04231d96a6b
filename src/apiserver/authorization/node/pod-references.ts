import type { Container, Pod, Volume } from '../../../api/generated/types.ts';

/** An object that a pod refers to, in its own namespace. */
export interface Reference {
  readonly kind: 'secrets' | 'configmaps' | 'serviceaccounts' | 'persistentvolumeclaims';
  readonly namespace: string;
  readonly name: string;
}

const MIRROR = 'kubernetes.io/config.mirror';

/** Each once. None of a mirror pod. */
export function podReferences(pod: Pod): readonly Reference[] {
  const { annotations, namespace = '', name: podName = '' } = pod.metadata;
  if (annotations?.[MIRROR] !== undefined) return [];
  const found = new Map<string, Reference>();
  const add = (kind: Reference['kind'], names: readonly (string | undefined)[]): void => {
    for (const name of names) if (name !== undefined && name !== '') found.set(`${kind} ${name}`, { kind, namespace, name });
  };
  add('serviceaccounts', [pod.spec.serviceAccountName]);
  add('secrets', podSecrets(pod));
  add('configmaps', podConfigMaps(pod));
  add(
    'persistentvolumeclaims',
    (pod.spec.volumes ?? []).map((volume) => volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral === undefined ? '' : `${podName}-${volume.name}`)),
  );
  return [...found.values()];
}

type Environment = Pick<Container, 'env' | 'envFrom'>;

const containersOf = ({ spec }: Pod): readonly Environment[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
];

export const podSecrets = (pod: Pod): readonly (string | undefined)[] => [
  ...(pod.spec.imagePullSecrets ?? []).map(({ name }) => name),
  ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ]),
  ...(pod.spec.volumes ?? []).flatMap(secretsOfVolume),
];

const secretsOfVolume = (volume: Volume): readonly (string | undefined)[] => [
  volume.azureFile?.secretName,
  volume.cephfs?.secretRef?.name,
  volume.cinder?.secretRef?.name,
  volume.flexVolume?.secretRef?.name,
  volume.rbd?.secretRef?.name,
  volume.secret?.secretName,
  volume.scaleIO?.secretRef?.name,
  volume.iscsi?.secretRef?.name,
  volume.storageos?.secretRef?.name,
  volume.csi?.nodePublishSecretRef?.name,
  ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
];

export const podConfigMaps = (pod: Pod): readonly (string | undefined)[] => [
  ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ...envFrom.map(({ configMapRef }) => configMapRef?.name),
  ]),
  ...(pod.spec.volumes ?? []).flatMap(({ configMap, projected }) => [configMap?.name, ...(projected?.sources ?? []).map((source) => source.configMap?.name)]),
];
