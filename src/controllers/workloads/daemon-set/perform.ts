import type { DaemonSet, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind, type Kind } from '../../../api/kind.ts';
import { controllerRevisionKind } from '../../../api/kinds/apps/controller-revision.ts';
import { daemonSetKind } from '../../../api/kinds/apps/daemon-set.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type Client, refOf, type Result } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import { RecentMap } from '../../../client/recent-map.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { createdPod, deletedPod, failedCreate, failedDelete } from '../../pods/events.ts';
import { performOwnership } from '../../pods/perform-ownership.ts';
import { slowStart } from '../../pods/slow-start.ts';
import type { DaemonSetAction, PodDraft } from './actions.ts';
import { HASH_LABEL } from './daemon-pod.ts';
import type { FailureBackoff } from './failure-backoff.ts';

export interface DaemonSetContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

export class DaemonSetWorker {
  readonly failures = new RecentMap<string, FailureBackoff>(remembered);
  readonly #client: Client;
  readonly #recorder: Pick<EventRecorder, 'record'>;

  constructor({ client, recorder }: DaemonSetContext) {
    this.#client = client;
    this.#recorder = recorder;
  }

  async perform(action: DaemonSetAction): Promise<Outcome> {
    switch (action.do) {
      case 'createPods':
        return await slowStart(action.pods, (pod) => this.#create(pod, action.set));
      case 'deletePods':
        return await slowStart(action.pods, (pod) => this.#delete(pod, action.set), { first: action.pods.length });
      case 'updateStatus':
        return outcomeOf(await this.#client.updateStatus(daemonSetKind, { ...action.set, status: action.status }));
      case 'rememberFailure':
        this.failures.set(action.key, action.backoff);
        return 'done';
      case 'tell':
        this.#recorder.record(action.set, action.report);
        return 'done';
      case 'createRevision':
      case 'renumberRevision':
      case 'deleteRevision':
      case 'relabelPod':
        return await this.#keepHistory(action);
      default:
        return await performOwnership(action, this.#client, kindOf);
    }
  }

  async #keepHistory(action: HistoryAction): Promise<Outcome> {
    switch (action.do) {
      case 'createRevision': {
        const result = await this.#client.create(controllerRevisionKind, action.revision);
        // The namespace is terminating, and the DaemonSet with it.
        return !result.ok && result.reason === 'terminating' ? 'done' : outcomeOf(result);
      }
      case 'renumberRevision':
        return outcomeOf(await this.#client.update(controllerRevisionKind, { ...action.revision, revision: action.number }));
      case 'deleteRevision':
        return doneIfGone(await this.#client.delete(controllerRevisionKind, refOf(action.revision), onlyThis(action.revision)));
      case 'relabelPod': {
        const body = { metadata: { uid: action.pod.metadata.uid, labels: { [HASH_LABEL]: action.hash } } };
        return doneIfGone(await this.#client.patch(podKind, refOf(action.pod), { type: 'merge', body }));
      }
    }
  }

  async #create(pod: PodDraft, set: Stored<DaemonSet>): Promise<Outcome> {
    const result = await this.#client.create(podKind, pod);
    if (result.ok) this.#recorder.record(set, createdPod(result.value.metadata.name));
    if (result.ok || result.reason === 'terminating') return 'done';
    const outcome = outcomeOf(result);
    if (typeof outcome === 'object') this.#recorder.record(set, failedCreate(outcome.retry));
    return outcome;
  }

  async #delete(pod: Stored<Pod>, set: Stored<DaemonSet>): Promise<Outcome> {
    const result = await this.#client.delete(podKind, refOf(pod), onlyThis(pod));
    if (result.ok) this.#recorder.record(set, deletedPod(pod.metadata.name));
    const outcome = doneIfGone(result);
    if (typeof outcome === 'object') this.#recorder.record(set, failedDelete(outcome.retry));
    return outcome;
  }
}

type HistoryAction = Extract<DaemonSetAction, { readonly do: 'createRevision' | 'renumberRevision' | 'deleteRevision' | 'relabelPod' }>;

/** DaemonSets times nodes on which pods failed; beyond, the oldest back-off is forgotten. */
const remembered = 100_000;

const onlyThis = ({ metadata: { uid } }: Stored<KubeObject>) => ({ preconditions: { uid } });

const doneIfGone = (result: Result<unknown>): Outcome => (!result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result));

function kindOf({ kind }: KubeObject): Kind {
  if (kind === podKind.kind) return untypedKind(podKind);
  return kind === controllerRevisionKind.kind ? untypedKind(controllerRevisionKind) : untypedKind(daemonSetKind);
}
