import type { Pod } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { ApiError } from '../../api/status.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source, Trigger } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { changedObject } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Clock } from '../../world/world.ts';
import { isFailure } from '../cloud-provider.ts';
import type { ClusterState } from '../cluster-state.ts';
import { isReady } from '../lifecycle/initialization.ts';
import type { AskCloud, DeletePod, EvictPod, TerminationAction } from './actions.ts';
import { decideTermination, type TerminationSnapshot } from './decide.ts';

export interface TerminationOptions {
  readonly state: ClusterState;
  readonly informers: Informers;
  readonly client: Client;
  readonly events: RecordedEvents;
  readonly clock: Clock;
}

/** An instance may be lost while its node is drained: pods of a node without a kubelet never end. */
const askAgainMs = 10_000;

/** Ends nodes that are deleted: their pods go first, then their volumes, then their instances. */
export function nodeTermination(options: TerminationOptions): Controller<string, TerminationSnapshot, TerminationAction> {
  const { client, events, informers, state } = options;
  const termination = new Termination(options);
  const attachments = informers.cache(volumeAttachmentKind).addIndex(({ spec }) => [spec.nodeName]);
  const claims = informers.cache(persistentVolumeClaimKind);
  const snapshot = (name: string): TerminationSnapshot | undefined => {
    const node = state.nodes.getKey(name);
    if (node?.metadata.deletionTimestamp === undefined) return undefined;
    return {
      node,
      claim: state.claimOf(node),
      pods: state.podsOnNode.get(name),
      attachments: attachments.get(name),
      volumeOfClaim: (key) => claims.getKey(key),
      instance: termination.instanceOf(node.metadata.uid),
      isReady: isReady(node),
      lastEvent: events.lastEvent,
    };
  };
  return defineController<string, TerminationSnapshot, TerminationAction>({
    name: 'node-termination',
    parallelism: 32,
    sources: [
      termination.trigger,
      source(nodeKind, (change) => {
        const { name, uid } = changedObject(change).metadata;
        if (change.after === undefined) termination.forget(uid);
        return [name];
      }),
      source(podKind, (change) => {
        const { nodeName } = changedObject(change).spec;
        return nodeName === undefined ? [] : [nodeName];
      }),
      source(volumeAttachmentKind, (change) => [changedObject(change).spec.nodeName]),
    ],
    snapshot,
    decide: decideTermination,
    writer: new ObjectWriter(client, [untypedKind(nodeKind), untypedKind(nodeClaimKind)]),
    events,
    actions: {
      evict: (action) => termination.evict(action),
      deletePod: (action) => termination.deletePod(action),
      terminateInstance: (action) => termination.terminate(action),
      checkInstance: (action) => termination.check(action),
    },
  });
}

class Termination {
  readonly trigger = new Trigger<string>();
  readonly #options: TerminationOptions;
  /** The last answer, by the uid of the Node. */
  readonly #instances = new Map<string, { readonly answer: TerminationSnapshot['instance']; readonly at: number }>();

  constructor(options: TerminationOptions) {
    this.#options = options;
  }

  instanceOf(uid: string): TerminationSnapshot['instance'] {
    const known = this.#instances.get(uid);
    if (known === undefined) return 'unknown';
    return known.answer === 'there' && this.#options.clock.now() >= known.at + askAgainMs ? 'unknown' : known.answer;
  }

  forget(uid: string): void {
    this.#instances.delete(uid);
  }

  async evict({ object, reason }: EvictPod): Promise<Outcome> {
    const { client, events } = this.#options;
    const { namespace = '', name = '', uid = '' } = object.metadata;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions: { preconditions: { uid } } };
    const answer = await client.postSubresource(podKind, { namespace, name, subresource: 'eviction' }, eviction);
    if (answer.ok) {
      events.record({ type: 'Normal', reason: 'Evicted', message: `Evicted pod: ${reason}`, about: object });
      return 'done';
    }
    // A budget forbids it now, or the pod is gone.
    if (answer.reason === 'notFound' || answer.reason === 'conflict') return 'done';
    return answer.error instanceof ApiError && answer.error.code === 429 ? 'done' : outcomeOf(answer);
  }

  async deletePod({ object, gracePeriodSeconds }: DeletePod): Promise<Outcome> {
    const { namespace, name = '', uid } = object.metadata;
    const options = { gracePeriodSeconds, ...(uid === undefined ? {} : { preconditions: { uid } }) };
    const answer = await this.#options.client.delete<Pod>(podKind, { namespace, name }, options);
    return answer.ok || answer.reason === 'notFound' ? 'done' : outcomeOf(answer);
  }

  async terminate({ object, providerID }: AskCloud): Promise<Outcome> {
    const answer = await this.#options.state.provider.delete(providerID);
    if (isFailure(answer)) return { retry: answer.failed };
    this.#remember(object.metadata, answer);
    return 'done';
  }

  async check({ object, providerID }: AskCloud): Promise<Outcome> {
    const answer = await this.#options.state.provider.get(providerID);
    if (isFailure(answer)) return { retry: answer.failed };
    this.#remember(object.metadata, answer === 'gone' ? 'gone' : 'there');
    return 'done';
  }

  #remember({ uid = '', name = '' }: { readonly uid?: string; readonly name?: string }, answer: TerminationSnapshot['instance']): void {
    const before = this.instanceOf(uid);
    this.#instances.set(uid, { answer, at: this.#options.clock.now() });
    if (before !== answer) this.trigger.fire(name);
  }
}
