import type { ConfigMap, Pod, Secret, ServiceAccountTokenProjection, VolumeProjection } from '../../api/generated/types.ts';
import { apiFilesDriver, type CurrentPayload, withoutExpiry } from '../api-files/api-files-driver.ts';
import { aggregate, downwardApiPayload } from '../api-files/downward-api-payload.ts';
import { configMapPayload, type FileProjection, type Payload, secretPayload } from '../api-files/payload.ts';
import { type DriverAnswer, failed, type NodeDriver, type NodePublishVolumeRequest, succeeded } from '../contract.ts';
import type { EmptyDirectoryOptions } from '../mount/empty-directory.ts';

export interface ProjectedOptions extends EmptyDirectoryOptions {
  /** The node's allocatable. */
  readonly allocatable: () => Readonly<Record<string, string>>;
  readonly configMap: (key: string) => ConfigMap | undefined;
  readonly secret: (key: string) => Secret | undefined;
  /** Requests a token of the pod's service account, bound to the pod. */
  readonly token: (pod: Pod, wanted: ServiceAccountTokenProjection) => Promise<DriverAnswer<IssuedToken>>;
}

export interface IssuedToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** kubernetes.io/projected: ConfigMaps, Secrets, downward API and service account tokens in one directory. */
export function projectedNode(options: ProjectedOptions): NodeDriver {
  const tokens = new Tokens(options);
  return apiFilesDriver({ name: 'kubernetes.io/projected', medium: 'memory', payload: (request) => collect(request, options, tokens) }, options);
}

async function collect(request: NodePublishVolumeRequest, options: ProjectedOptions, tokens: Tokens): Promise<DriverAnswer<CurrentPayload>> {
  const { sources, defaultMode = 0o644 } = request.volume.source.projected ?? {};
  const payload = new Map<string, FileProjection>();
  const errors: string[] = [];
  let republishAt = Number.POSITIVE_INFINITY;
  for (const source of sources ?? []) {
    const part = source.serviceAccountToken === undefined ? withoutExpiry(plainPayload(source, request.pod, { ...options, defaultMode })) : undefined;
    const made = part ?? (await tokens.file(request, source.serviceAccountToken ?? { path: '' }, defaultMode));
    if (!made.ok) errors.push(made.message);
    else {
      for (const [path, file] of made.value.payload) payload.set(path, file);
      republishAt = Math.min(republishAt, made.value.republishAt ?? Number.POSITIVE_INFINITY);
    }
  }
  if (errors.length > 0) return failed('NotFound', aggregate(errors));
  return succeeded({ payload, ...(republishAt === Number.POSITIVE_INFINITY ? {} : { republishAt }) });
}

function plainPayload(
  { configMap, secret, downwardAPI }: VolumeProjection,
  pod: Pod,
  options: ProjectedOptions & { readonly defaultMode: number },
): DriverAnswer<Payload> {
  const { defaultMode } = options;
  const key = (name: string) => `${pod.metadata.namespace ?? ''}/${name}`;
  if (configMap !== undefined) {
    const { name = '', items = [], optional = false } = configMap;
    return configMapPayload(name, options.configMap(key(name)), { items, defaultMode, optional });
  }
  if (secret !== undefined) {
    const { name = '', items = [], optional = false } = secret;
    return secretPayload(name, options.secret(key(name)), { items, defaultMode, optional });
  }
  if (downwardAPI !== undefined) return downwardApiPayload(downwardAPI.items ?? [], pod, { defaultMode, allocatable: options.allocatable() });
  return failed('Unimplemented', 'clusterTrustBundle and podCertificate sources are not supported');
}

/** The tokens of all volumes: a change of another source requests no new token. */
class Tokens {
  readonly #options: ProjectedOptions;
  readonly #held = new Map<string, IssuedToken & { readonly renewAt: number }>();

  constructor(options: ProjectedOptions) {
    this.#options = options;
  }

  async file({ pod, target }: NodePublishVolumeRequest, wanted: ServiceAccountTokenProjection, defaultMode: number): Promise<DriverAnswer<CurrentPayload>> {
    const now = this.#options.clock.now();
    const key = `${target}/${wanted.path}`;
    let held = this.#held.get(key);
    if (held === undefined || now >= held.renewAt) {
      const issued = await this.#options.token(pod, wanted);
      if (!issued.ok) return issued;
      held = { ...issued.value, renewAt: renewAt(issued.value.expires, now) };
      this.#hold(key, held);
    }
    const user = onlyUser(pod);
    const isOwned = user !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
    const bytes = new TextEncoder().encode(held.token);
    const file: FileProjection = { bytes, mode: isOwned ? 0o600 : defaultMode, ...(user === undefined ? {} : { uid: user }) };
    return succeeded({ payload: new Map([[wanted.path, file]]), republishAt: held.renewAt });
  }

  #hold(key: string, token: IssuedToken & { readonly renewAt: number }): void {
    this.#held.set(key, token);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= mostTokens) return;
      this.#held.delete(oldest);
    }
  }
}

const mostTokens = 10_000;

/** After 80 % of its lifetime, and after 24 hours at the latest (token_manager.go). */
const renewAt = (expires: number, now: number): number => now + Math.min(0.8 * (expires - now), 24 * 3_600_000);

/** The common runAsUser of all containers; undefined: they differ, or have none. */
function onlyUser({ spec: { containers, initContainers = [], securityContext } }: Pod): number | undefined {
  const users = new Set([...initContainers, ...(containers ?? [])].map((container) => container.securityContext?.runAsUser ?? securityContext?.runAsUser));
  const [user, ...others] = users;
  return others.length === 0 ? user : undefined;
}
