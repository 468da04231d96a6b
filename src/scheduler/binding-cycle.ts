import type { Binding } from '../api/generated/types.ts';
import { podKind } from '../api/kinds/pod/pod.ts';
import type { Client } from '../client/client.ts';
import type { Failure } from '../client/result.ts';
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
  readonly #context: BindingContext;
  readonly #running = new Map<string, { readonly abort: AbortController; phase: 'preBind' | 'bind' }>();
  #stopped = false;

  constructor(context: BindingContext) {
    this.#context = context;
  }

  get busy(): boolean {
    return this.#running.size > 0;
  }

  async run(assumed: AssumedPod): Promise<BindingResult> {
    const { uid } = assumed.pod;
    const running = { abort: new AbortController(), phase: 'preBind' as 'preBind' | 'bind' };
    this.#running.set(uid, running);
    try {
      const failure = await this.#preBind(assumed, running.abort.signal);
      if (failure !== undefined) return { type: 'failed', message: failure };
      if (running.abort.signal.aborted) return { type: 'failed', message: 'context canceled' };
      running.phase = 'bind';
      return await this.#bind(assumed);
    } finally {
      this.#running.delete(uid);
    }
  }

  /** False: Bind has started, or the pod has no binding cycle. */
  cancel(uid: string, reason: AbortReason): boolean {
    const running = this.#running.get(uid);
    if (running === undefined || running.phase === 'bind') return false;
    running.abort.abort(reason);
    return true;
  }

  stop(): void {
    this.#stopped = true;
    for (const uid of this.#running.keys()) this.cancel(uid, 'stopped');
  }

  async #preBind({ pod, node, cycle }: AssumedPod, signal: AbortSignal): Promise<string | undefined> {
    const { client, world } = this.#context;
    const preBinding = cycle.plugins.filter(({ cycle: pluginCycle }) => pluginCycle.preBind !== undefined);
    if (preBinding.length === 0) return undefined;
    // Only if PreBind takes long, as it does when a volume is provisioned: other pods are bound by then.
    let nomination: Promise<unknown> | undefined;
    const nominate = () => {
      nomination = patchPodStatus(pod.pod, { nominatedNodeName: node.name }, { client, world });
    };
    const isSlow = preBinding.some(({ cycle: pluginCycle }) => pluginCycle.preBindPreFlight?.(node) !== false);
    const cancelNomination = isSlow ? world.timers.after(nominateAfterMs, nominate) : () => undefined;
    try {
      for (const { plugin, cycle: pluginCycle } of preBinding) {
        const failure = await pluginCycle.preBind?.(node, { client, world, signal });
        if (failure !== undefined)
          return `running PreBind plugin "${plugin.name}": ${signal.reason === preempted ? 'preempted by DefaultPreemption' : failure.message}`;
      }
      return undefined;
    } finally {
      cancelNomination();
      // Otherwise the nomination could be written after the binding.
      await nomination;
    }
  }

  async #bind({ pod, node }: AssumedPod): Promise<BindingResult> {
    if (!this.#context.nodeExists(node.name)) return { type: 'failed', message: `running Bind plugin "DefaultBinder": node "${node.name}" not found` };
    const { namespace, name, uid } = pod;
    const binding: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid },
      target: { kind: 'Node', name: node.name },
    };
    const result = await this.#context.client.postSubresource(podKind, { namespace, name, subresource: 'binding' }, binding);
    if (result.ok) return { type: 'bound' };
    return result.reason === 'unreachable' && (await this.#wasBound(pod, node.name)) ? { type: 'bound' } : bindingFailure(result);
  }

  /** The response was lost. Until the outcome is known, the pod stays assumed, so that no other pod takes its resources. */
  async #wasBound({ namespace, name, uid }: PodInfo, nodeName: string): Promise<boolean> {
    const { client, world } = this.#context;
    for (;;) {
      const found = await client.get(podKind, { namespace, name });
      if (found.ok) return found.value.metadata.uid === uid && found.value.spec.nodeName === nodeName;
      if (this.#stopped || found.reason !== 'unreachable') return false;
      await new Promise<void>((resolve) => void world.timers.after(pollMs, resolve));
    }
  }
}

function bindingFailure(failure: Failure): BindingResult {
  if (failure.reason === 'deposed') return { type: 'deposed' };
  return { type: 'failed', message: `running Bind plugin "DefaultBinder": ${failure.error.message}` };
}

const preempted: AbortReason = 'preempted';

const nominateAfterMs = 1_000;
const pollMs = 1_000;
