/**
 * Makes the plan of a pod come true on the server, and waits until it has.
 *
 * Where the server can, volume and claim are bound in one transaction, and there is nothing to wait for. Elsewhere the volume is
 * pointed at the claim, and the binder does the rest. For a volume that is still to be made, the node is noted on the claim; whoever
 * makes it takes the note away again if that fails.
 *
 * A crash between any two steps leaves what Kubernetes leaves: volumes that point at their claims, which the binder finishes, and
 * claims with a node, for which the pod is found to fit on that node only. Nothing is taken back on the server.
 */
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { claimBoundTo, linkClaim, linkVolume, volumeInPhase } from '../../storage/volumes/edits.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import type { Result } from '../../client/client.ts';
import type { Cancel } from '../../world/world.ts';
import type { AbortReason, PreBindContext, PodInfo } from '../framework.ts';
import { withRetry } from '../retry.ts';
import type { ObjectWaiters } from './object-waiters.ts';
import {
  waiterKeysOf,
  type PodVolumes,
  type StaticBinding,
  type DynamicProvision,
  type BindingCheckSnapshot,
  checkBindings,
  withSelectedNode,
} from './pod-volumes.ts';
import { isBound } from './pod-claims.ts';

export interface BindPodVolumesContext extends Omit<BindingCheckSnapshot, 'written'> {
  readonly waiters: ObjectWaiters;
  readonly preBind: PreBindContext;
  readonly pod: PodInfo;
  /** Volume and claim are bound in one transaction. */
  readonly bindsTogether: boolean;
  readonly timeoutMs: number;
}

export type BoundClaim = Pick<Claim, 'key' | 'uid' | 'name'>;

/**
 * Asks the server whether claims are bound, and the same as when they were looked at. What is known of them may be old, and until the pod has a node nothing
 * protects them: it could be sent to a node for a claim that was deleted and made anew. Nobody chooses a node for the new one then, and the pod waits for ever.
 */
export async function confirmClaims(claims: readonly BoundClaim[], hands: PreBindContext): Promise<string | undefined> {
  const { signal } = hands;
  const calledOff = new Promise<readonly string[]>((resolve) => signal.addEventListener('abort', () => resolve([cancelled]), { once: true }));
  const answers = await Promise.race([calledOff, Promise.all(claims.map((claim) => whyClaimChanged(claim, hands)))]);
  return signal.aborted ? cancelled : answers.find((why) => why !== undefined);
}

async function whyClaimChanged({ key, uid, name }: BoundClaim, { client, world }: PreBindContext): Promise<string | undefined> {
  const found = await withRetry(() => client.get(persistentVolumeClaimKind, { namespace: key.slice(0, key.indexOf('/')), name }), world);
  if (!found.ok) return found.error.message;
  const { metadata, spec } = found.value;
  const isSame = metadata.uid === uid && metadata.deletionTimestamp === undefined && (spec.volumeName ?? '') !== '';
  return isSame ? undefined : modified('persistentvolumeclaims', name);
}

/** Undefined: the pod has its volumes. Else why not, in Kubernetes' words. */
export async function bindPodVolumes(plan: PodVolumes, options: BindPodVolumesContext): Promise<string | undefined> {
  const work = new PodVolumesBinding(plan, options);
  try {
    return (await work.write()) ?? (await work.untilBound());
  } finally {
    work.end();
  }
}

/** Objects may change while the pod waits for its turn; if they still fit each other, the same is written to what they are now. */
const maxAttempts = 8;
/** How long news may take that the server has told somebody else. */
const watchDelayMs = 1000;

class PodVolumesBinding {
  readonly #volumes: PodVolumes;
  readonly #options: BindPodVolumesContext;
  readonly #written = new Map<string, string>();
  readonly #deadline: number;
  /** Undoes what was set up for waiting: most have nothing to wait for. */
  #cleanUp: Cancel | undefined;
  #wake: () => void = () => undefined;

  constructor(plan: PodVolumes, options: BindPodVolumesContext) {
    this.#volumes = plan;
    this.#options = options;
    this.#deadline = options.preBind.world.clock.monotonic() + options.timeoutMs;
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
      const progress = this.#whyStopped() ?? checkBindings(this.#volumes, { ...this.#options, written: this.#written });
      if (progress === 'bound') return undefined;
      if (progress !== 'waiting') return `binding volumes: ${progress.failed}`;
      await this.#nextChange();
    }
  }

  #whyStopped(): { readonly failed: string } | undefined {
    const { signal } = this.#options.preBind;
    if (signal.aborted) return { failed: signal.reason === podGone ? `pod does not exist any more: pod "${this.#options.pod.name}" not found` : cancelled };
    return this.#leftMs() <= 0 ? { failed: 'context deadline exceeded' } : undefined;
  }

  #leftMs(): number {
    return this.#deadline - this.#options.preBind.world.clock.monotonic();
  }

  /** Resolves at the next change of anything that the plan depends on, and when time is up. */
  async #nextChange(atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#cleanUp ??= this.#listen();
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const cancel = this.#options.preBind.world.timers.after(Math.min(atMostMs, this.#leftMs()), () => this.#wake());
    await changed;
    cancel();
  }

  #listen(): Cancel {
    const { waiters: bells, preBind: hands } = this.#options;
    const onChange = () => this.#wake();
    hands.signal.addEventListener('abort', onChange);
    const stop = bells.wait(waiterKeysOf(this.#volumes), onChange);
    return () => {
      hands.signal.removeEventListener('abort', onChange);
      stop();
    };
  }

  async #retryOnConflict(attempt: () => Promise<Attempt>): Promise<string | undefined> {
    for (let tries = 1; ; tries++) {
      const over = this.#whyStopped();
      if (over !== undefined) return `binding volumes: ${over.failed}`;
      const before = this.#objects();
      const outcome = await attempt();
      if (outcome === 'done') return undefined;
      if (!outcome.isConflict || tries === maxAttempts) return outcome.failed;
      // Whatever the server knows already should be known here before long, if it is not yet.
      if (this.#objects().every((object, i) => object === before[i])) await this.#nextChange(watchDelayMs);
    }
  }

  /** What the plan is about, as it is known now. */
  #objects(): readonly unknown[] {
    const { assumeCache: book } = this.#options;
    const { staticBindings: bindings, dynamicProvisions: provisions } = this.#volumes;
    return [
      ...bindings.flatMap(({ volumeName, claim }) => [book.apiVolume(volumeName), book.apiClaim(claim.key)]),
      ...provisions.map(({ claim }) => book.apiClaim(claim.key)),
    ];
  }

  async #bind({ volumeName, claim: { key, uid } }: StaticBinding): Promise<Attempt> {
    const { assumeCache: book, nodeLabels: nodes, preBind: hands, bindsTogether } = this.#options;
    const [volume, claim] = [book.apiVolume(volumeName), book.apiClaim(key)];
    if (volume === undefined) return failedFor(`persistentvolumes "${volumeName}" not found`);
    if (claim?.uid !== uid) return failedFor(`persistentvolumeclaims "${key}" not found`);
    if (volume.claim?.uid === uid && (!bindsTogether || isBound(claim))) return 'done';
    const labels = nodes.labelsOf(this.#volumes.nodeName);
    if (claim.volumeName !== '' || matchVolume(claim, volume, { node: { labels } }) !== 'fits') return failedFor(modified('persistentvolumes', volumeName));
    if (!bindsTogether) return this.#outcome(`pv/${volumeName}`, await hands.client.update(persistentVolumeKind, linkVolume(volume, claim)));
    const pair = await hands.client.bindTogether(boundPair(volume, claim));
    if (pair.ok) this.#written.set(`pvc/${key}`, pair.value.claim.metadata.resourceVersion ?? '0');
    return this.#outcome(`pv/${volumeName}`, pair.ok ? { ok: true, value: pair.value.volume } : pair);
  }

  async #setSelectedNode({ claim: { key, uid, name } }: DynamicProvision): Promise<Attempt> {
    const { nodeName } = this.#volumes;
    const claim = this.#options.assumeCache.apiClaim(key);
    if (claim?.uid !== uid) return failedFor(`persistentvolumeclaims "${name}" not found`);
    if (claim.selectedNode === nodeName) return 'done';
    if (claim.selectedNode !== undefined || claim.volumeName !== '') return failedFor(modified('persistentvolumeclaims', name));
    return this.#outcome(`pvc/${key}`, await this.#options.preBind.client.update(persistentVolumeClaimKind, withSelectedNode(claim, nodeName)));
  }

  #outcome(bell: string, result: Result<{ readonly metadata: { readonly resourceVersion?: string } }>): Attempt {
    if (!result.ok) return { failed: result.error.message, isConflict: result.reason === 'conflict' };
    this.#written.set(bell, result.value.metadata.resourceVersion ?? '0');
    return 'done';
  }
}

const cancelled = 'context canceled';

type Attempt = 'done' | { readonly failed: string; readonly isConflict: boolean };

const failedFor = (failed: string): Attempt => ({ failed, isConflict: false });

const podGone: AbortReason = 'pod gone';

/** What the server says if it refuses a write for the same reason. */
const modified = (resource: string, name: string): string =>
  `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`;

/** As the binder leaves them. */
function boundPair(volume: Volume, claim: Claim) {
  const bound = volumeInPhase(linkVolume(volume, claim), 'Bound');
  return { volume: bound, claim: claimBoundTo(linkClaim(claim, volume.name), bound) };
}
