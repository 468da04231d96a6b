import type { Container, Pod, PodSpec, ServiceAccount } from '../../../api/generated/types.ts';
import { ApiError } from '../../../api/status.ts';
import type { Stored } from '../../../api/stored.ts';
import type { AdmissionRequest } from '../chain.ts';
import { admissionForbidden } from '../forbidden.ts';

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

const isEnforced = ({ metadata }: ServiceAccount): boolean => truthy.has(metadata.annotations?.[ENFORCE] ?? '');

const listedBy = ({ secrets = [] }: ServiceAccount): ReadonlySet<string> => new Set(secrets.map((secret) => secret.name ?? ''));

/** Kubernetes returns a plain error here, which becomes 500 without a reason. */
export function forbidUnlistedEphemeral({ ephemeralContainers = [] }: PodSpec, account: Stored<ServiceAccount>): void {
  if (!isEnforced(account)) return;
  const listed = listedBy(account);
  for (const container of ephemeralContainers) {
    const unlisted = containerReferences(container).find((reference) => !listed.has(reference.secret));
    if (unlisted === undefined) continue;
    const what = `ephemeral container ${container.name} with ${unlisted.from} referencing secret.secretName="${unlisted.secret}"`;
    throw new ApiError(500, '', `${what} is not allowed because service account ${account.metadata.name} does not reference that secret`);
  }
}

/** The annotation kubernetes.io/enforce-mountable-secrets limits a service account's pods to the listed secrets. */
export function forbidUnlistedSecrets(request: AdmissionRequest, { spec }: Pod, account: Stored<ServiceAccount>): void {
  if (!isEnforced(account)) return;
  const name = account.metadata.name;
  const listed = listedBy(account);
  const refuse = (what: string): never => {
    throw admissionForbidden(request, `${what} is not allowed because service account ${name} does not reference that secret`);
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
  throw admissionForbidden(
    request,
    `imagePullSecrets[${index}].name="${pull}" is not allowed because service account ${name} does not reference that imagePullSecret`,
  );
}
