import type { Binding } from '../api/generated/types.ts';
import { podKind } from '../api/kinds/pod/pod.ts';
import type { Client } from '../client/client.ts';
import type { Failure as Refusal } from '../client/result.ts';
import type { World } from '../world/world.ts';
import { patchPodStatus } from './pod-status.ts';
import type { AbortReason, NodeInfo, PodInfo } from './framework.ts';
import type { PodCycle } from './pod-cycle.ts';

/** A pod that is assumed on a node and not bound yet. */
export interface AssumedPod {
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  readonly cycle: PodCycle;
}

export type BindingResult =
  | { readonly type: 'bound' }
  /** The pod is not bound. */
  | { readonly type: 'failed'; readonly message: string }
  /** Another process holds the lease. */
  | { readonly type: 'deposed' };

export interface BindingContext {
  readonly client: Client;
  readonly world: World;
  readonly nodeExists: (name: string) => boolean;
}

/** The binding cycles (PreBind and Bind) of many pods, concurrently. A cycle can be cancelled until Bind starts. */
export class BindingCycles {
  readonly #options: BindingContext;
  readonly #underWay = new Map<string, { readonly abort: AbortController; stage: 'preBind' | 'bind' }>();

  #stopped = false;

  constructor(options: BindingContext) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#underWay.size > 0;
  }

  async run(placement: AssumedPod): Promise<BindingResult> {
    const { uid } = placement.pod;
    const work = { abort: new AbortController(), stage: 'preBind' as 'preBind' | 'bind' };
    this.#underWay.set(uid, work);
    try {
      const failure = await this.#preBind(placement, work.abort.signal);
      if (failure !== undefined) return { type: 'failed', message: failure };
      if (work.abort.signal.aborted) return { type: 'failed', message: 'context canceled' };
      work.stage = 'bind';
      return await this.#bind(placement);
    } finally {
      this.#underWay.delete(uid);
    }
  }

  /** False: Bind has started, or the pod has no binding cycle. */
  cancel(uid: string, reason: AbortReason): boolean {
    const work = this.#underWay.get(uid);
    if (work === undefined || work.stage === 'bind') return false;
    work.abort.abort(reason);
    return true;
  }

  stop(): void {
    this.#stopped = true;
    for (const uid of this.#underWay.keys()) this.cancel(uid, 'stopped');
  }

  async #preBind({ pod, node, cycle: run }: AssumedPod, signal: AbortSignal): Promise<string | undefined> {
    const { client, world } = this.#options;
    const busy = run.plugins.filter(({ cycle: stages }) => stages.preBind !== undefined);
    if (busy.length === 0) return undefined;
    // Only if PreBind takes long, as it does when a volume is provisioned: other pods are bound by then.
    let told: Promise<unknown> | undefined;
    const notice = () => {
      told = patchPodStatus(pod.pod, { nominatedNodeName: node.name }, { client, world });
    };
    const isSlow = busy.some(({ cycle: stages }) => stages.preBindPreFlight?.(node) !== false);
    const cancelNotice = isSlow ? world.timers.after(nominateAfterMs, notice) : () => undefined;
    try {
      for (const { plugin, cycle: stages } of busy) {
        const failure = await stages.preBind?.(node, { client, world, signal });
        if (failure !== undefined)
          return `running PreBind plugin "${plugin.name}": ${signal.reason === preempted ? 'preempted by DefaultPreemption' : failure.message}`;
      }
      return undefined;
    } finally {
      cancelNotice();
      // Otherwise the nomination could be written after the binding.
      await told;
    }
  }

  async #bind({ pod, node }: AssumedPod): Promise<BindingResult> {
    if (!this.#options.nodeExists(node.name)) return { type: 'failed', message: `running Bind plugin "DefaultBinder": node "${node.name}" not found` };
    const { namespace, name, uid } = pod;
    const binding: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid },
      target: { kind: 'Node', name: node.name },
    };
    const result = await this.#options.client.postSubresource(podKind, { namespace, name, subresource: 'binding' }, binding);
    if (result.ok) return { type: 'bound' };
    return result.reason === 'unreachable' && (await this.#wasBound(pod, node.name)) ? { type: 'bound' } : bindingFailure(result);
  }

  /** The response was lost. Until the outcome is known, the pod stays assumed, so that no other pod takes its resources. */
  async #wasBound({ namespace, name, uid }: PodInfo, nodeName: string): Promise<boolean> {
    const { client, world } = this.#options;
    for (;;) {
      const found = await client.get(podKind, { namespace, name });
      if (found.ok) return found.value.metadata.uid === uid && found.value.spec.nodeName === nodeName;
      if (this.#stopped || found.reason !== 'unreachable') return false;
      await new Promise<void>((resolve) => void world.timers.after(pollMs, resolve));
    }
  }
}

function bindingFailure(refusal: Refusal): BindingResult {
  if (refusal.reason === 'deposed') return { type: 'deposed' };
  return { type: 'failed', message: `running Bind plugin "DefaultBinder": ${refusal.error.message}` };
}

const preempted: AbortReason = 'preempted';

const nominateAfterMs = 1_000;
const pollMs = 1_000;
