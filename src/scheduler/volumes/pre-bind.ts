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
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import type { Claim } from '../../domain/volumes/claim.ts';
import { claimBoundTo, linkClaim, linkVolume, volumeInPhase } from '../../domain/volumes/edits.ts';
import { matchVolume } from '../../domain/volumes/match.ts';
import type { Volume } from '../../domain/volumes/volume.ts';
import type { Result } from '../../machinery/client.ts';
import type { Cancel } from '../../world/world.ts';
import type { AbortReason, Hands, PodInfo } from '../framework.ts';
import { patiently } from '../patiently.ts';
import type { Bells } from './bells.ts';
import { bellsOf, type Plan, type PlannedBinding, type PlannedProvision, type PlanSight, progressOf, withSelectedNode } from './plan.ts';
import { isBound } from './pod-claims.ts';

export interface PreBindOptions extends Omit<PlanSight, 'written'> {
  readonly bells: Bells;
  readonly hands: Hands;
  readonly pod: PodInfo;
  /** Volume and claim are bound in one transaction. */
  readonly bindsTogether: boolean;
  readonly timeoutMs: number;
}

export type ClaimToConfirm = Pick<Claim, 'key' | 'uid' | 'name'>;

/**
 * Asks the server whether claims are bound, and the same as when they were looked at. What is known of them may be old, and until the pod has a node nothing
 * protects them: it could be sent to a node for a claim that was deleted and made anew. Nobody chooses a node for the new one then, and the pod waits for ever.
 */
export async function confirm(claims: readonly ClaimToConfirm[], hands: Hands): Promise<string | undefined> {
  const { signal } = hands;
  const calledOff = new Promise<readonly string[]>((resolve) => signal.addEventListener('abort', () => resolve([cancelled]), { once: true }));
  const answers = await Promise.race([calledOff, Promise.all(claims.map((claim) => whyOther(claim, hands)))]);
  return signal.aborted ? cancelled : answers.find((why) => why !== undefined);
}

async function whyOther({ key, uid, name }: ClaimToConfirm, { client, world }: Hands): Promise<string | undefined> {
  const found = await patiently(() => client.get(persistentVolumeClaimKind, { namespace: key.slice(0, key.indexOf('/')), name }), world);
  if (!found.ok) return found.error.message;
  const { metadata, spec } = found.value;
  const isSame = metadata.uid === uid && metadata.deletionTimestamp === undefined && (spec.volumeName ?? '') !== '';
  return isSame ? undefined : modified('persistentvolumeclaims', name);
}

/** Undefined: the pod has its volumes. Else why not, in Kubernetes' words. */
export async function preBind(plan: Plan, options: PreBindOptions): Promise<string | undefined> {
  const work = new PreBind(plan, options);
  try {
    return (await work.write()) ?? (await work.untilBound());
  } finally {
    work.end();
  }
}

/** Objects may change while the pod waits for its turn; if they still fit each other, the same is written to what they are now. */
const mostTries = 8;
/** How long news may take that the server has told somebody else. */
const newsMs = 1000;

class PreBind {
  readonly #plan: Plan;
  readonly #options: PreBindOptions;
  readonly #written = new Map<string, string>();
  readonly #deadline: number;
  /** Undoes what was set up for waiting: most have nothing to wait for. */
  #cleanUp: Cancel | undefined;
  #wake: () => void = () => undefined;

  constructor(plan: Plan, options: PreBindOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#deadline = options.hands.world.clock.monotonic() + options.timeoutMs;
  }

  end(): void {
    this.#cleanUp?.();
  }

  async write(): Promise<string | undefined> {
    for (const binding of this.#plan.bindings) {
      const failure = binding.assumed === undefined ? undefined : await this.#repeatedly(() => this.#bind(binding));
      if (failure !== undefined) return failure;
    }
    for (const provision of this.#plan.provisions) {
      const failure = provision.assumed === undefined ? undefined : await this.#repeatedly(() => this.#noteNode(provision));
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  async untilBound(): Promise<string | undefined> {
    for (;;) {
      const progress = this.#whyOver() ?? progressOf(this.#plan, { ...this.#options, written: this.#written });
      if (progress === 'bound') return undefined;
      if (progress !== 'waiting') return `binding volumes: ${progress.failed}`;
      await this.#change();
    }
  }

  #whyOver(): { readonly failed: string } | undefined {
    const { signal } = this.#options.hands;
    if (signal.aborted) return { failed: signal.reason === podGone ? `pod does not exist any more: pod "${this.#options.pod.name}" not found` : cancelled };
    return this.#leftMs() <= 0 ? { failed: 'context deadline exceeded' } : undefined;
  }

  #leftMs(): number {
    return this.#deadline - this.#options.hands.world.clock.monotonic();
  }

  /** Resolves at the next change of anything that the plan depends on, and when time is up. */
  async #change(atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#cleanUp ??= this.#listen();
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const cancel = this.#options.hands.world.timers.after(Math.min(atMostMs, this.#leftMs()), () => this.#wake());
    await changed;
    cancel();
  }

  #listen(): Cancel {
    const { bells, hands } = this.#options;
    const onChange = () => this.#wake();
    hands.signal.addEventListener('abort', onChange);
    const stop = bells.listen(bellsOf(this.#plan), onChange);
    return () => {
      hands.signal.removeEventListener('abort', onChange);
      stop();
    };
  }

  async #repeatedly(attempt: () => Promise<Attempt>): Promise<string | undefined> {
    for (let tries = 1; ; tries++) {
      const over = this.#whyOver();
      if (over !== undefined) return `binding volumes: ${over.failed}`;
      const before = this.#objects();
      const outcome = await attempt();
      if (outcome === 'done') return undefined;
      if (!outcome.isConflict || tries === mostTries) return outcome.failed;
      // Whatever the server knows already should be known here before long, if it is not yet.
      if (this.#objects().every((object, i) => object === before[i])) await this.#change(newsMs);
    }
  }

  /** What the plan is about, as it is known now. */
  #objects(): readonly unknown[] {
    const { book } = this.#options;
    const { bindings, provisions } = this.#plan;
    return [
      ...bindings.flatMap(({ volumeName, claim }) => [book.seenVolume(volumeName), book.seenClaim(claim.key)]),
      ...provisions.map(({ claim }) => book.seenClaim(claim.key)),
    ];
  }

  async #bind({ volumeName, claim: { key, uid } }: PlannedBinding): Promise<Attempt> {
    const { book, nodes, hands, bindsTogether } = this.#options;
    const [volume, claim] = [book.seenVolume(volumeName), book.seenClaim(key)];
    if (volume === undefined) return failedFor(`persistentvolumes "${volumeName}" not found`);
    if (claim?.uid !== uid) return failedFor(`persistentvolumeclaims "${key}" not found`);
    if (volume.claim?.uid === uid && (!bindsTogether || isBound(claim))) return 'done';
    const labels = nodes.labelsOf(this.#plan.nodeName);
    if (claim.volumeName !== '' || matchVolume(claim, volume, { node: { labels } }) !== 'fits') return failedFor(modified('persistentvolumes', volumeName));
    if (!bindsTogether) return this.#outcome(`pv/${volumeName}`, await hands.client.update(persistentVolumeKind, linkVolume(volume, claim)));
    const pair = await hands.client.bindTogether(boundPair(volume, claim));
    if (pair.ok) this.#written.set(`pvc/${key}`, pair.value.claim.metadata.resourceVersion ?? '0');
    return this.#outcome(`pv/${volumeName}`, pair.ok ? { ok: true, value: pair.value.volume } : pair);
  }

  async #noteNode({ claim: { key, uid, name } }: PlannedProvision): Promise<Attempt> {
    const { nodeName } = this.#plan;
    const claim = this.#options.book.seenClaim(key);
    if (claim?.uid !== uid) return failedFor(`persistentvolumeclaims "${name}" not found`);
    if (claim.selectedNode === nodeName) return 'done';
    if (claim.selectedNode !== undefined || claim.volumeName !== '') return failedFor(modified('persistentvolumeclaims', name));
    return this.#outcome(`pvc/${key}`, await this.#options.hands.client.update(persistentVolumeClaimKind, withSelectedNode(claim, nodeName)));
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
