import type { Job, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind, type Kind } from '../../../api/kind.ts';
import { jobKind } from '../../../api/kinds/batch/job.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type Client, refOf } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { createdPod, deletedPod, failedCreate, failedDelete } from '../../pods/events.ts';
import { performOwnership } from '../../pods/perform-ownership.ts';
import { slowStart } from '../../pods/slow-start.ts';
import type { JobAction, PodDraft } from './actions.ts';
import type { Backoff } from './backoff.ts';
import { TRACKING_FINALIZER } from './tracked-pod.ts';

export interface JobContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

export class JobWorker {
  /** By the uid of a Job. */
  readonly failures = new Map<string, Backoff>();
  readonly #client: Client;
  readonly #recorder: Pick<EventRecorder, 'record'>;
  readonly #writer: ObjectWriter;

  constructor({ client, recorder }: JobContext) {
    this.#client = client;
    this.#recorder = recorder;
    this.#writer = new ObjectWriter(client, [untypedKind(jobKind)]);
  }

  async perform(action: JobAction): Promise<Outcome> {
    switch (action.do) {
      case 'createPods':
        return await slowStart(action.pods, (pod) => this.#create(pod, action.job));
      case 'deletePods':
        return await allAtOnce(action.pods, (pod) => this.#delete(pod, action.job));
      case 'dropPods':
        return await allAtOnce(action.pods, (pod) => this.#deleteTracked(pod, action.job));
      case 'releasePods':
        return await allAtOnce(action.pods, (pod) => releasePod(pod, this.#client));
      case 'updateStatus':
        return await this.#writer.perform(action);
      case 'rememberFailures':
        this.failures.set(action.job.metadata.uid, action.backoff);
        return 'done';
      case 'tell':
        this.#recorder.record(action.job, action.report);
        return 'done';
      default:
        return await performOwnership(action, this.#client, kindOf);
    }
  }

  async #create(pod: PodDraft, job: Stored<Job>): Promise<Outcome> {
    const result = await this.#client.create(podKind, pod);
    if (result.ok) {
      this.#recorder.record(job, createdPod(result.value.metadata.name));
      return 'done';
    }
    // The namespace is terminating, and the Job with it.
    if (result.reason === 'terminating') return 'done';
    const outcome = outcomeOf(result);
    if (typeof outcome === 'object') this.#recorder.record(job, failedCreate(outcome.retry));
    return outcome;
  }

  async #delete(pod: Stored<Pod>, job: Stored<Job>): Promise<Outcome> {
    const { name, uid } = pod.metadata;
    const result = await this.#client.delete(podKind, refOf(pod), { preconditions: { uid } });
    if (result.ok) this.#recorder.record(job, deletedPod(name));
    if (result.ok || result.reason === 'notFound') return 'done';
    const outcome = outcomeOf(result);
    if (typeof outcome === 'object') this.#recorder.record(job, failedDelete(outcome.retry));
    return outcome;
  }

  /** The finalizer is removed first, so that the pod is not counted. After a crash in between the pod is still surplus. */
  async #deleteTracked(pod: Stored<Pod>, job: Stored<Job>): Promise<Outcome> {
    const released = await releasePod(pod, this.#client);
    return released === 'done' ? await this.#delete(pod, job) : released;
  }
}

const allAtOnce = (pods: readonly Stored<Pod>[], perform: (pod: Stored<Pod>) => Promise<Outcome>): Promise<Outcome> =>
  slowStart(pods, perform, { first: pods.length });

/** The uid in the patch protects a new pod of the same name. */
export async function releasePod(pod: Stored<Pod>, client: Client): Promise<Outcome> {
  const metadata = { uid: pod.metadata.uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] };
  const result = await client.patch(podKind, refOf(pod), { type: 'strategic', body: { metadata } });
  if (result.ok || result.reason === 'notFound') return 'done';
  // Another pod has that name: the cache will show it.
  return result.reason === 'invalid' ? 'conflict' : outcomeOf(result);
}

const kindOf = ({ kind }: KubeObject): Kind => (kind === podKind.kind ? untypedKind(podKind) : untypedKind(jobKind));
