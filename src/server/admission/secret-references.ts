import type { Container, Pod, ServiceAccount, Volume } from '../../api/generated/types.ts';
import type { AdmissionRequest } from './chain.ts';
import { refused } from './refused.ts';

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';

/** The names of all secrets that a pod refers to. */
export function podSecretReferences({ spec }: Pod): string[] {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
  return [
    ...(spec.imagePullSecrets ?? []).map((secret) => secret.name ?? ''),
    ...containers.flatMap((container) => containerReferences(container).map((reference) => reference.secret)),
    ...(spec.volumes ?? []).flatMap(volumeReferences),
  ];
}

function volumeReferences(volume: Volume): string[] {
  const direct = [
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
    ...(volume.projected?.sources ?? []).map((source) => source.secret?.name),
  ];
  return direct.filter((name) => name !== undefined);
}

interface Reference {
  readonly secret: string;
  /** 'envVar TOKEN', 'envFrom' */
  readonly from: string;
}

function containerReferences({ env = [], envFrom = [] }: Pick<Container, 'env' | 'envFrom'>): Reference[] {
  return [
    ...env.flatMap(({ name, valueFrom }) =>
      valueFrom?.secretKeyRef === undefined ? [] : [{ secret: valueFrom.secretKeyRef.name ?? '', from: `envVar ${name}` }],
    ),
    ...envFrom.flatMap(({ secretRef }) => (secretRef === undefined ? [] : [{ secret: secretRef.name ?? '', from: 'envFrom' }])),
  ];
}

const truthy: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/** An account may be annotated to lend its pods no secrets but the ones it lists. */
export function forbidUnlistedSecrets(request: AdmissionRequest, { spec }: Pod, account: ServiceAccount): void {
  if (!truthy.has(account.metadata.annotations?.[ENFORCE] ?? '')) return;
  const name = account.metadata.name ?? '';
  const listed = new Set((account.secrets ?? []).map((secret) => secret.name ?? ''));
  const refuse = (what: string): never => {
    throw refused(request, `${what} is not allowed because service account ${name} does not reference that secret`);
  };
  for (const { secret } of spec.volumes ?? []) {
    const secretName = secret?.secretName ?? '';
    if (secret !== undefined && !listed.has(secretName)) refuse(`volume with secret.secretName="${secretName}"`);
  }
  const roles = [
    ['init container', spec.initContainers ?? []],
    ['container', spec.containers ?? []],
  ] as const;
  for (const [role, containers] of roles) {
    for (const container of containers) {
      const unlisted = containerReferences(container).find((reference) => !listed.has(reference.secret));
      if (unlisted !== undefined) refuse(`${role} ${container.name} with ${unlisted.from} referencing secret.secretName="${unlisted.secret}"`);
    }
  }
  const pullable = new Set((account.imagePullSecrets ?? []).map((secret) => secret.name ?? ''));
  const index = (spec.imagePullSecrets ?? []).findIndex((secret) => !pullable.has(secret.name ?? ''));
  if (index < 0) return;
  const pull = spec.imagePullSecrets?.[index]?.name ?? '';
  throw refused(request, `imagePullSecrets[${index}].name="${pull}" is not allowed because service account ${name} does not reference that imagePullSecret`);
}
