import type { Pod } from '../../api/generated/types.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Stored } from '../../api/stored.ts';
import { type Client, type Draft, refOf } from '../../client/client.ts';
import { type Outcome, outcomeOf } from '../../client/controller/loop.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { createdPod, deletedPod, failedCreate, failedDelete } from './events.ts';

export interface PodControlContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

/** Creates and deletes pods, and records the result as an event on their owner (RealPodControl, pkg/controller/controller_utils.go). */
export class PodControl {
  readonly #context: PodControlContext;

  constructor(context: PodControlContext) {
    this.#context = context;
  }

  async create(pod: Draft<Pod>, owner: Stored): Promise<Outcome> {
    const { client, recorder } = this.#context;
    const result = await client.create(podKind, pod);
    if (result.ok) recorder.record(owner, createdPod(result.value.metadata.name));
    // The namespace is terminating, and the owner with it.
    if (result.ok || result.reason === 'terminating') return 'done';
    const outcome = outcomeOf(result);
    if (typeof outcome === 'object') recorder.record(owner, failedCreate(outcome.retry));
    return outcome;
  }

  async delete(pod: Stored<Pod>, owner: Stored): Promise<Outcome> {
    const { client, recorder } = this.#context;
    const { name, uid } = pod.metadata;
    const result = await client.delete(podKind, refOf(pod), { preconditions: { uid } });
    if (result.ok) recorder.record(owner, deletedPod(name));
    if (result.ok || result.reason === 'notFound') return 'done';
    const outcome = outcomeOf(result);
    if (typeof outcome === 'object') recorder.record(owner, failedDelete(outcome.retry));
    return outcome;
  }
}
