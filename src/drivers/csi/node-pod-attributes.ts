/** What NodePublishVolume tells a driver of the pod: the CSIDriver object says what it wants to know. */
import type { CSIDriver, Pod } from '../../api/generated/types.ts';
import { type DriverAnswer, failed, succeeded } from '../contract.ts';
import type { CsiSocketOptions, CsiVolume } from './node-calls.ts';

export interface PodAttributes {
  readonly context: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** podInfoOnMount */
function podInfo({ metadata: { name = '', namespace = '', uid = '' }, spec }: Pod, mode: CsiVolume['mode']): Record<string, string> {
  return {
    'csi.storage.k8s.io/pod.name': name,
    'csi.storage.k8s.io/pod.namespace': namespace,
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(mode === 'Ephemeral'),
  };
}

/** Of a block volume the kubelet sends no tokens. */
export async function podAttributes(
  pod: Pod,
  { mode, isBlock }: CsiVolume,
  { driver, tokens }: { readonly driver: CSIDriver | undefined; readonly tokens: Tokens },
): Promise<DriverAnswer<PodAttributes>> {
  const context = driver?.spec.podInfoOnMount === true ? podInfo(pod, mode) : {};
  const wanted = isBlock ? [] : (driver?.spec.tokenRequests ?? []);
  if (driver === undefined || wanted.length === 0) return succeeded({ context, secrets: {} });
  const issued = await tokens.of(pod, wanted);
  if (!issued.ok) return failed('Unavailable', `kubernetes.io/csi: mounter.SetUpAt failed to get service accoount token attributes: ${issued.message}`);
  const attribute = { 'csi.storage.k8s.io/serviceAccount.tokens': issued.value };
  if (driver.spec.serviceAccountTokenInSecrets === true) return succeeded({ context, secrets: attribute });
  return succeeded({ context: { ...context, ...attribute }, secrets: {} });
}

type TokenRequests = NonNullable<CSIDriver['spec']['tokenRequests']>;

interface HeldToken {
  readonly token: string;
  readonly expires: number;
  readonly renewAt: number;
}

const maxAgeMs = 24 * 60 * 60 * 1000;
/** Tokens of pods that are gone are forgotten with the oldest entries. */
const maxHeld = 10_000;

/** Tokens that were issued, until a fifth of their lifetime is left (kubernetes/pkg/kubelet/token): a volume may be published every minute. */
export class Tokens {
  readonly #options: Pick<CsiSocketOptions, 'token' | 'clock'>;
  readonly #held = new Map<string, HeldToken>();

  constructor(options: Pick<CsiSocketOptions, 'token' | 'clock'>) {
    this.#options = options;
  }

  /** As JSON: by audience. */
  async of(pod: Pod, wanted: TokenRequests): Promise<DriverAnswer<string>> {
    const byAudience: Record<string, { readonly token: string; readonly expirationTimestamp: string }> = {};
    for (const { audience, expirationSeconds } of wanted) {
      const issued = await this.#one(pod, { audience, ...(expirationSeconds === undefined ? {} : { expirationSeconds }) });
      if (!issued.ok) return issued;
      const { token, expires } = issued.value;
      byAudience[audience] = { token, expirationTimestamp: `${new Date(expires).toISOString().slice(0, 19)}Z` };
    }
    return succeeded(JSON.stringify(byAudience));
  }

  async #one(pod: Pod, wanted: { readonly audience: string; readonly expirationSeconds?: number }): Promise<DriverAnswer<HeldToken>> {
    const { clock, token: request } = this.#options;
    const key = JSON.stringify([pod.metadata.uid, pod.spec.serviceAccountName, wanted]);
    const held = this.#held.get(key);
    const now = clock.now();
    if (held !== undefined && now < held.renewAt) return succeeded(held);
    const issued = await request(pod, wanted);
    if (!issued.ok) return issued;
    const { token, expires } = issued.value;
    const fresh: HeldToken = { token, expires, renewAt: now + Math.min((expires - now) * 0.8, maxAgeMs) };
    this.#held.delete(key);
    const [oldest] = this.#held.keys();
    if (this.#held.size >= maxHeld && oldest !== undefined) this.#held.delete(oldest);
    this.#held.set(key, fresh);
    return succeeded(fresh);
  }
}
