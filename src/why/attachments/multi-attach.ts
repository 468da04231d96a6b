/** A volume that may be attached to one node only, and is attached to another. */
import type { Stored } from '../../api/stored.ts';
import type { Node, Pod } from '../../api/generated/types.ts';
import { waitingForDetach } from '../../storage/attach-detach/messages.ts';
import { isReady, type CompetingAttachment, type AttachDetachSnapshot } from '../../storage/attach-detach/snapshot.ts';
import { attachFacts, isUnresponsive, type VolumeAtNode, usersOn } from './attach-snapshot.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Fact, Diagnosis } from '../explanation/explanation.ts';
import { endOf, endPods } from '../volumes/terminating.ts';
import { overdue } from '../graph/overdue.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { rfc3339, timeOf } from '../explanation/timestamps.ts';
import { listed } from '../explanation/words.ts';

export function multiAttach(at: VolumeAtNode, snapshot: AttachDetachSnapshot): Diagnosis {
  const { volume, node, graph } = at;
  const attached = snapshot.competitors.filter(({ attachment }) => attachment.state !== 'none' && attachment.state !== 'failed');
  const others = listed(attached.map((other) => `node/${other.node}`));
  const pods = attached.flatMap((other) => usersOn(volume, other.node, graph));
  const [want] = snapshot.desiredBy;
  const base = {
    code: 'MultiAttach',
    facts: [
      ...(want === undefined ? [] : [eventFact(volume.name, waitingForDetach(volume.name, want.pod, attached))]),
      ...attachFacts(at, snapshot),
      ...attached.map((other) => ({ label: `node/${other.node}`, text: describeNode(graph.node(other.node), graph) })),
    ],
  };
  const isUnderWay = attached.every(({ attachment }) => attachment.state === 'attaching');
  const start = `pv/${volume.name} has to be attached to node/${node}, but ${isUnderWay ? 'is being attached' : 'is attached'} to ${others}, and its access modes allow one node at a time.`;
  const dead = attached.filter((other) => isUnresponsive(graph.node(other.node), graph));
  if (dead.length > 0) return { ...base, ...attachedToDeadNode(dead, pods, { graph, start }) };
  if (pods.length === 0) {
    return {
      ...base,
      verdict: 'waiting',
      summary: `${start} No pod there uses it any more, so it is being detached.`,
      ...afterDetach(attached, graph),
    };
  }
  return {
    ...base,
    verdict: pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined) ? 'waiting' : 'stuck',
    summary: `${start} On that node, ${listed(pods.map(({ metadata }) => `pod/${metadata.name}`))} ${pods.length === 1 ? 'uses' : 'use'} it.`,
    fixes: [
      ...endPods(pods, pods[0]?.metadata.namespace ?? ''),
      { text: `run both pods on one node, or use a volume with ReadWriteMany; a Deployment with such a volume needs strategy Recreate`, commands: [] },
    ],
    next: endOf(pods, graph),
  };
}

/** Kubernetes before v1.36.4 reports the same condition as a Multi-Attach error. */
const eventFact = (volume: string, message: string): Fact => ({
  label: 'event',
  text: `${message} (before v1.36.4: Multi-Attach error for volume "${volume}")`,
});

function afterDetach(attached: readonly CompetingAttachment[], graph: ObjectGraph): Pick<Diagnosis, 'next' | 'fixes'> {
  const mountedOn = attached.find(({ inUse }) => inUse);
  if (mountedOn !== undefined) return { next: { who: `node/${mountedOn.node}`, does: 'unmounts it; then it is detached' } };
  const [other] = attached;
  if (other?.attachment.state === 'detaching') {
    const { object, problem } = other.attachment;
    const next = {
      who: `the attacher of ${object.spec.attacher}`,
      does: problem === undefined ? 'detaches it' : `detaches it; the last attempt failed: ${problem}`,
    };
    return overdue({ ...next, by: 'at once' }, { since: object.metadata.deletionTimestamp, graph });
  }
  return { next: { who: 'the attach/detach controller', does: 'detaches it, and attaches it to the new node', by: 'at once' } };
}

const describeNode = (node: Stored<Node> | undefined, graph: ObjectGraph): string =>
  node === undefined ? (graph.wasRead('nodes') ? 'does not exist any more' : 'could not be read') : isReady(node) ? 'ready' : 'not ready: it may still write';

/** maxWaitForUnmountDuration of Kubernetes' attach/detach controller, unless the node is tainted as out of service. */
const forceAfterMs = 360_000;

function attachedToDeadNode(
  dead: readonly CompetingAttachment[],
  pods: readonly Stored<Pod>[],
  { graph, start }: { readonly graph: ObjectGraph; readonly start: string },
): Pick<Diagnosis, 'verdict' | 'summary' | 'fixes' | 'next'> {
  const names = dead.map(({ node }) => node);
  const deletions = pods.map(({ metadata }) => timeOf(metadata.deletionTimestamp));
  const areTerminating = !deletions.includes(undefined);
  const by = areTerminating && deletions.length > 0 ? Math.max(...deletions.map((time) => time ?? 0)) + forceAfterMs : undefined;
  const taints = names.flatMap((name) =>
    graph.node(name) === undefined ? [] : [kubectl(undefined, 'taint', 'nodes', name, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')],
  );
  const stays = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return {
    verdict: areTerminating ? 'waiting' : 'stuck',
    summary: `${start} ${listed(names.map((name) => `node/${name}`))} is not ready and may still write: the volume is detached by force six minutes after its pods are gone.`,
    fixes: [
      ...(taints.length === 0
        ? []
        : [{ text: 'if the node is certainly switched off: taint it as out of service, and the volume is moved at once', commands: taints }]),
      ...stays.slice(0, 3).map(({ metadata }) => ({
        text: `pod/${metadata.name} is still assigned to that node; it goes when the node's taint evicts it, or when it is deleted`,
        commands: [kubectl(metadata.namespace, 'delete', 'pod', metadata.name)],
      })),
    ],
    next:
      by === undefined
        ? { who: 'an administrator', does: 'restores the node, or taints it as out of service' }
        : { who: 'the attach/detach controller', does: 'detaches the volume by force', by: rfc3339(by) },
  };
}
