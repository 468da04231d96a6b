import type { Container, Pod, ProjectedVolumeSource, ServiceAccount } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Store } from '../../../store/contract.ts';
import type { World } from '../../../world/world.ts';
import { generateName } from '../../objects/metadata.ts';
import { keyOf, type Resources } from '../../objects/resources.ts';
import { revisionOf } from '../../objects/object-revision.ts';
import { waitForKey } from './wait-for-key.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from '../chain.ts';
import { forbidMirrorReferences, isMirror } from './mirror-pod.ts';
import { admissionForbidden } from '../forbidden.ts';
import { forbidUnlistedEphemeral, forbidUnlistedSecrets } from './secret-references.ts';

const DEFAULT_ACCOUNT = 'default';
const TOKEN_VOLUME = 'kube-api-access-';
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** One hour and 7 seconds, as in Kubernetes: the odd number marks tokens that admission added. */
const TOKEN_SECONDS = 3607;
/** The service account controller creates the default account shortly after the namespace. */
const ACCOUNT_TIMEOUT_MS = 1_500;

/** A pod runs as an existing service account and gets a token of it, unless automountServiceAccountToken is false. */
export function serviceAccount(resources: Resources, deps: { readonly store: Store; readonly world: World }): AdmissionPlugin {
  const accounts = resources.require('v1', 'serviceaccounts');

  const accountOf = async (request: AdmissionRequest, name: string): Promise<Stored<ServiceAccount>> => {
    const key = keyOf(accounts, request.namespace, name);
    const entry = (await deps.store.get(key)) ?? (name === DEFAULT_ACCOUNT ? await waitForKey(deps, key, ACCOUNT_TIMEOUT_MS) : undefined);
    if (entry !== undefined) return revisionOf(accounts, entry).object;
    throw admissionForbidden(request, `error looking up service account ${request.namespace}/${name}: serviceaccount "${name}" not found`);
  };

  /** A pod without a service account, or whose account is deleted, gets no ephemeral containers. */
  const validateEphemeral = async (request: AdmissionRequest, { metadata, spec }: Pod): Promise<void> => {
    const { serviceAccountName: name = '' } = spec;
    if (name === '') throw admissionForbidden(request, `no service account specified for pod ${request.namespace}/${metadata.name ?? ''}`);
    forbidUnlistedEphemeral(spec, await accountOf(request, name));
  };

  return {
    name: 'ServiceAccount',
    handles: (operation, resource, subresource) =>
      isResource(resource, '', 'pods') && ((operation === 'create' && subresource === '') || (operation === 'update' && subresource === 'ephemeralcontainers')),
    mutate: async (request) => {
      if (request.operation !== 'create') return;
      const pod = request.object as Pod;
      if (isMirror(pod)) return forbidMirrorReferences(request, pod);
      const { spec } = pod;
      if ((spec.serviceAccountName ?? '') === '') {
        spec.serviceAccountName = DEFAULT_ACCOUNT;
        spec.serviceAccount = DEFAULT_ACCOUNT;
      }
      const account = await accountOf(request, spec.serviceAccountName ?? '');
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(pod, deps.world);
      const pullSecrets = account.imagePullSecrets ?? [];
      if ((spec.imagePullSecrets ?? []).length === 0 && pullSecrets.length > 0) spec.imagePullSecrets = pullSecrets.map((secret) => ({ ...secret }));
    },
    validate: async (request) => {
      const pod = request.object as Pod;
      if (request.operation === 'update') return validateEphemeral(request, pod);
      if (isMirror(pod)) return forbidMirrorReferences(request, pod);
      forbidUnlistedSecrets(request, pod, await accountOf(request, pod.spec.serviceAccountName ?? ''));
    },
  };
}

function mountToken({ spec }: Pod, { random }: World): void {
  const existing = (spec.volumes ?? []).find((volume) => volume.name.startsWith(TOKEN_VOLUME))?.name;
  const name = existing ?? generateName(TOKEN_VOLUME, random);
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(lacksTokenMount);
  for (const container of containers) container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: TOKEN_PATH }];
  if (existing === undefined && containers.length > 0) spec.volumes = [...(spec.volumes ?? []), { name, projected: tokenSource() }];
}

const lacksTokenMount = ({ volumeMounts = [] }: Container): boolean => !volumeMounts.some((mount) => mount.mountPath === TOKEN_PATH);

const tokenSource = (): ProjectedVolumeSource => ({
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
  ],
  defaultMode: 0o644,
});
