/**
 * BindPodVolumes: writes a pod's volume bindings, and waits until the claims are bound.
 *
 * With Mooring's API server, PV and PVC are bound in one transaction, and there is nothing to wait for. Otherwise only the PV's claimRef is
 * set, and the binder completes the binding. For a volume to provision, the selected-node annotation is set on the claim; the provisioner
 * removes it if provisioning fails.
 *
 * A crash between any two writes leaves what Kubernetes leaves: PVs with a claimRef, which the binder completes, and claims with a selected
 * node, so that the pod fits on that node only. No write is reverted.
 */
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { boundPair, linkVolume } from '../../storage/volumes/edits.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import type { Result } from '../../client/client.ts';
import type { Cancel } from '../../world/world.ts';
import type { AbortReason, PodInfo, PreBindContext } from '../framework.ts';
import { withRetry } from '../retry.ts';
import type { ObjectWaiters } from './object-waiters.ts';
import {
  type BindingCheckSnapshot,
  checkBindings,
  type DynamicProvision,
  type PodVolumes,
  type StaticBinding,
  waiterKeysOf,
  withSelectedNode,
} from './pod-volumes.ts';
import { isBound } from './pod-claims.ts';

export interface BindPodVolumesContext extends Omit<BindingCheckSnapshot, 'written'> {
  readonly waiters: ObjectWaiters;
  readonly framework: PreBindContext;
  readonly pod: PodInfo;
  /** PV and PVC are bound in one transaction. */
  readonly bindsTogether: boolean;
  readonly timeoutMs: number;
}

export type BoundClaim = Pick<Claim, 'key' | 'uid' | 'name'>;

/**
 * Reads the claims from the API server: they must be bound, and have the same uid. The cache may be stale, and pvc-protection does not protect a claim until its
 * pod has a node. Without this check, a pod could be bound although its claim was deleted and created again. No scheduling cycle would then select a node for
 * the new claim, and the pod would wait for ever.
 */
export async function confirmClaims(claims: readonly BoundClaim[], context: PreBindContext): Promise<string | undefined> {
  const { signal } = context;
  const aborted = new Promise<readonly string[]>((resolve) => signal.addEventListener('abort', () => resolve([cancelled]), { once: true }));
  const reasons = await Promise.race([aborted, Promise.all(claims.map((claim) => whyClaimChanged(claim, context)))]);
  return signal.aborted ? cancelled : reasons.find((reason) => reason !== undefined);
}

async function whyClaimChanged({ key, uid, name }: BoundClaim, { client, world }: PreBindContext): Promise<string | undefined> {
  const found = await withRetry(() => client.get(persistentVolumeClaimKind, { namespace: key.slice(0, key.indexOf('/')), name }), world);
  if (!found.ok) return found.error.message;
  const { metadata, spec } = found.value;
  const isSame = metadata.uid === uid && metadata.deletionTimestamp === undefined && (spec.volumeName ?? '') !== '';
  return isSame ? undefined : modified('persistentvolumeclaims', name);
}

/** Undefined: all claims are bound. Otherwise Kubernetes' message. */
export async function bindPodVolumes(volumes: PodVolumes, context: BindPodVolumesContext): Promise<string | undefined> {
  const binding = new PodVolumesBinding(volumes, context);
  try {
    return (await binding.write()) ?? (await binding.untilBound());
  } finally {
    binding.end();
  }
}

/** Attempts after conflicts: if PV and PVC still match, the write is repeated on their new versions. */
const maxAttempts = 8;
/** How long a watch event may be delayed after a conflict. */
const watchDelayMs = 1000;

class PodVolumesBinding {
  readonly #volumes: PodVolumes;
  readonly #context: BindPodVolumesContext;
  readonly #written = new Map<string, string>();
  readonly #deadline: number;
  /** Set only if the pod has to wait. */
  #cleanUp: Cancel | undefined;
  #wake: () => void = () => undefined;

  constructor(volumes: PodVolumes, context: BindPodVolumesContext) {
    this.#volumes = volumes;
    this.#context = context;
    this.#deadline = context.framework.world.clock.monotonic() + context.timeoutMs;
  }

  end(): void {
    this.#cleanUp?.();
  }

  async write(): Promise<string | undefined> {
    for (const binding of this.#volumes.staticBindings) {
      const failure = binding.assumed === undefined ? undefined : await this.#retryOnConflict(() => this.#bind(binding));
      if (failure !== undefined) return failure;
    }
    for (const provision of this.#volumes.dynamicProvisions) {
      const failure = provision.assumed === undefined ? undefined : await this.#retryOnConflict(() => this.#setSelectedNode(provision));
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  async untilBound(): Promise<string | undefined> {
    for (;;) {
      const progress = this.#whyStopped() ?? checkBindings(this.#volumes, { ...this.#context, written: this.#written });
      if (progress === 'bound') return undefined;
      if (progress !== 'waiting') return `binding volumes: ${progress.failed}`;
      await this.#nextChange();
    }
  }

  #whyStopped(): { readonly failed: string } | undefined {
    const { signal } = this.#context.framework;
    if (signal.aborted) return { failed: signal.reason === podGone ? `pod does not exist any more: pod "${this.#context.pod.name}" not found` : cancelled };
    return this.#leftMs() <= 0 ? { failed: 'context deadline exceeded' } : undefined;
  }

  #leftMs(): number {
    return this.#deadline - this.#context.framework.world.clock.monotonic();
  }

  /** Resolves at the next change of an object that affects the binding, on abort, and at the deadline. */
  async #nextChange(atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#cleanUp ??= this.#listen();
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const cancel = this.#context.framework.world.timers.after(Math.min(atMostMs, this.#leftMs()), () => this.#wake());
    await changed;
    cancel();
  }

  #listen(): Cancel {
    const { waiters, framework } = this.#context;
    const onChange = () => this.#wake();
    framework.signal.addEventListener('abort', onChange);
    const stop = waiters.wait(waiterKeysOf(this.#volumes), onChange);
    return () => {
      framework.signal.removeEventListener('abort', onChange);
      stop();
    };
  }

  async #retryOnConflict(attempt: () => Promise<Attempt>): Promise<string | undefined> {
    for (let tries = 1; ; tries++) {
      const stopped = this.#whyStopped();
      if (stopped !== undefined) return `binding volumes: ${stopped.failed}`;
      const before = this.#objects();
      const outcome = await attempt();
      if (outcome === 'done') return undefined;
      if (!outcome.isConflict || tries === maxAttempts) return outcome.failed;
      // The watch event with the version that caused the conflict may not have arrived yet.
      if (this.#objects().every((object, i) => object === before[i])) await this.#nextChange(watchDelayMs);
    }
  }

  /** The PVs and PVCs of the pod, from the cache. */
  #objects(): readonly unknown[] {
    const { assumeCache } = this.#context;
    const { staticBindings, dynamicProvisions } = this.#volumes;
    return [
      ...staticBindings.flatMap(({ volumeName, claim }) => [assumeCache.apiVolume(volumeName), assumeCache.apiClaim(claim.key)]),
      ...dynamicProvisions.map(({ claim }) => assumeCache.apiClaim(claim.key)),
    ];
  }

  async #bind({ volumeName, claim: { key, uid } }: StaticBinding): Promise<Attempt> {
    const { assumeCache, nodeLabels, framework, bindsTogether } = this.#context;
    const [volume, claim] = [assumeCache.apiVolume(volumeName), assumeCache.apiClaim(key)];
    if (volume === undefined) return failedFor(`persistentvolumes "${volumeName}" not found`);
    if (claim?.uid !== uid) return failedFor(`persistentvolumeclaims "${key}" not found`);
    if (volume.claim?.uid === uid && (!bindsTogether || isBound(claim))) return 'done';
    const labels = nodeLabels.labelsOf(this.#volumes.nodeName);
    if (claim.volumeName !== '' || matchVolume(claim, volume, { node: { labels } }) !== 'fits') return failedFor(modified('persistentvolumes', volumeName));
    if (!bindsTogether) return this.#outcome(`pv/${volumeName}`, await framework.client.update(persistentVolumeKind, linkVolume(volume, claim)));
    const pair = await framework.client.bindTogether(boundPair(linkVolume(volume, claim), claim));
    if (pair.ok) this.#written.set(`pvc/${key}`, pair.value.claim.metadata.resourceVersion ?? '0');
    return this.#outcome(`pv/${volumeName}`, pair.ok ? { ok: true, value: pair.value.volume } : pair);
  }

  async #setSelectedNode({ claim: { key, uid, name } }: DynamicProvision): Promise<Attempt> {
    const { nodeName } = this.#volumes;
    const claim = this.#context.assumeCache.apiClaim(key);
    if (claim?.uid !== uid) return failedFor(`persistentvolumeclaims "${name}" not found`);
    if (claim.selectedNode === nodeName) return 'done';
    if (claim.selectedNode !== undefined || claim.volumeName !== '') return failedFor(modified('persistentvolumeclaims', name));
    return this.#outcome(`pvc/${key}`, await this.#context.framework.client.update(persistentVolumeClaimKind, withSelectedNode(claim, nodeName)));
  }

  #outcome(waiterKey: string, result: Result<{ readonly metadata: { readonly resourceVersion?: string } }>): Attempt {
    if (!result.ok) return { failed: result.error.message, isConflict: result.reason === 'conflict' };
    this.#written.set(waiterKey, result.value.metadata.resourceVersion ?? '0');
    return 'done';
  }
}

const cancelled = 'context canceled';

type Attempt = 'done' | { readonly failed: string; readonly isConflict: boolean };

const failedFor = (failed: string): Attempt => ({ failed, isConflict: false });

const podGone: AbortReason = 'pod gone';

/** The API server's message for a conflict. */
const modified = (resource: string, name: string): string =>
  `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`;
