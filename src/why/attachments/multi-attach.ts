/** A volume that only one node may have, and another has. */
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
  const held = snapshot.competitors.filter(({ attachment }) => attachment.state !== 'none' && attachment.state !== 'failed');
  const others = listed(held.map((rival) => `node/${rival.node}`));
  const pods = held.flatMap((rival) => usersOn(volume, rival.node, graph));
  const [want] = snapshot.desiredBy;
  const base = {
    code: 'MultiAttach',
    facts: [
      ...(want === undefined ? [] : [kubernetesSays(volume.name, waitingForDetach(volume.name, want.pod, held))]),
      ...attachFacts(at, snapshot),
      ...held.map((rival) => ({ label: `node/${rival.node}`, text: describeNode(graph.node(rival.node), graph) })),
    ],
  };
  const isUnderWay = held.every(({ attachment }) => attachment.state === 'attaching');
  const start = `pv/${volume.name} is needed on node/${node}, but ${isUnderWay ? 'is being attached' : 'is attached'} to ${others}, and its access modes allow one node at a time.`;
  const dead = held.filter((rival) => isUnresponsive(graph.node(rival.node), graph));
  if (dead.length > 0) return { ...base, ...heldByDeadNode(dead, pods, { at, start }) };
  if (pods.length === 0) {
    return {
      ...base,
      verdict: 'waiting',
      summary: `${start} No pod there needs it any more, so it is being detached.`,
      ...afterDetach(held, graph),
    };
  }
  return {
    ...base,
    verdict: pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined) ? 'waiting' : 'stuck',
    summary: `${start} There it is used by ${listed(pods.map(({ metadata }) => `pod/${metadata.name ?? ''}`))}.`,
    fixes: [
      ...endPods(pods, pods[0]?.metadata.namespace ?? ''),
      { text: `run both pods on one node, or use a volume with ReadWriteMany; a Deployment with such a volume needs strategy Recreate`, commands: [] },
    ],
    next: endOf(pods, graph),
  };
}

/** The same condition has had two names. */
const kubernetesSays = (volume: string, message: string): Fact => ({
  label: 'Kubernetes says',
  text: `${message} (older versions: Multi-Attach error for volume "${volume}")`,
});

function afterDetach(held: readonly CompetingAttachment[], graph: ObjectGraph): Pick<Diagnosis, 'next' | 'fixes'> {
  const mountedOn = held.find(({ inUse }) => inUse);
  if (mountedOn !== undefined) return { next: { who: `node/${mountedOn.node}`, does: 'unmounts it; then it is detached' } };
  const [rival] = held;
  if (rival?.attachment.state === 'detaching') {
    const { object, problem } = rival.attachment;
    const next = {
      who: `the attacher of ${object.spec.attacher}`,
      does: problem === undefined ? 'detaches it' : `detaches it; the last try failed: ${problem}`,
    };
    return overdue({ ...next, by: 'at once' }, { since: object.metadata.deletionTimestamp, graph });
  }
  return { next: { who: 'the attach/detach controller', does: 'detaches it, and attaches it here', by: 'at once' } };
}

const describeNode = (node: Node | undefined, graph: ObjectGraph): string =>
  node === undefined
    ? graph.wasRead('nodes')
      ? 'exists no more'
      : 'could not be looked at'
    : isReady(node)
      ? 'ready'
      : 'not ready: nobody knows whether it still writes';

interface MultiAttachText {
  readonly at: VolumeAtNode;
  readonly start: string;
}

/** As Kubernetes does: six minutes after nobody wants the volume there any more, unless an administrator says that the node is off. */
const forceAfterMs = 360_000;

function heldByDeadNode(
  dead: readonly CompetingAttachment[],
  pods: readonly Pod[],
  { at: { graph }, start }: MultiAttachText,
): Pick<Diagnosis, 'verdict' | 'summary' | 'fixes' | 'next'> {
  const names = dead.map(({ node }) => node);
  const deletions = pods.map(({ metadata }) => timeOf(metadata.deletionTimestamp));
  const isLeaving = !deletions.includes(undefined);
  const by = isLeaving && deletions.length > 0 ? Math.max(...deletions.map((time) => time ?? 0)) + forceAfterMs : undefined;
  const taints = names.flatMap((name) =>
    graph.node(name) === undefined ? [] : [kubectl(undefined, 'taint', 'nodes', name, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')],
  );
  const stays = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return {
    verdict: isLeaving ? 'waiting' : 'stuck',
    summary: `${start} ${listed(names.map((name) => `node/${name}`))} does not answer, so nobody knows whether it still writes: the volume is taken from it six minutes after its pods are gone.`,
    fixes: [
      ...(taints.length === 0 ? [] : [{ text: 'if the node is certainly switched off: say so, and the volume is moved at once', commands: taints }]),
      ...stays.slice(0, 3).map(({ metadata }) => ({
        text: `pod/${metadata.name ?? ''} is still assigned to it; it leaves when the node's taint evicts it, or when it is deleted`,
        commands: [kubectl(metadata.namespace, 'delete', 'pod', metadata.name ?? '')],
      })),
    ],
    next:
      by === undefined
        ? { who: 'an administrator', does: 'gets the node back, or declares it out of service' }
        : { who: 'the attach/detach controller', does: 'takes the volume from the node by force', by: rfc3339(by) },
  };
}
