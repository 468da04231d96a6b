import type { Container, Pod, ServiceAccount } from '../../api/generated/types.ts';
import type { AdmissionRequest } from './chain.ts';
import { refused } from './refused.ts';

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';

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
