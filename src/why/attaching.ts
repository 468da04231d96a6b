/** One volume on one node: is it attached, and if not, what keeps it? The attach/detach controller's decision, told for people. */
import type { Node, Pod } from '../api/generated/types.ts';
import type { Reason } from '../controllers/attach-detach/actions.ts';
import { type Attachable, attachableOf, uniqueNameOf } from '../controllers/attach-detach/attachable.ts';
import { decide } from '../controllers/attach-detach/decide.ts';
import { waitingForDetach } from '../controllers/attach-detach/messages.ts';
import { isReady, type Rival, readAttachment, readNode, type Situation } from '../controllers/attach-detach/situation.ts';
import { hasEnded } from '../domain/volumes/pods.ts';
import type { Volume } from '../domain/volumes/volume.ts';
import { kubectl } from './commands.ts';
import { type Fact, type Fix, nobody, type Story } from './explanation.ts';
import { endOf, endPods } from './going.ts';
import { overdue } from './overdue.ts';
import type { Sight } from './sight.ts';
import { rfc3339, timeOf } from './since.ts';
import { listed, quoted, someOf } from './words.ts';

export interface Spot {
  readonly volume: Volume;
  readonly node: string;
  readonly sight: Sight;
}

/** Undefined: volumes of its kind need no attaching, their driver wants none, or nobody looked. */
export function attachStory(spot: Spot): Story | undefined {
  const situation = situationOf(spot);
  if (situation === undefined) return undefined;
  const { reasons } = decide(situation, spot.sight.now);
  const [reason] = reasons;
  if (reason === undefined) return undefined;
  const teller = tellers[reason.code];
  return teller === undefined ? plainly(spot, situation, reason) : teller(spot, situation, reason);
}

type Teller = (spot: Spot, situation: Situation, reason: Reason) => Story;

/** By the codes of the controller's reasons. */
const tellers: Readonly<Record<string, Teller | undefined>> = {
  Attached: (spot, situation) => ({
    verdict: 'fine',
    code: 'Attached',
    summary: `pv/${spot.volume.name} is attached to node/${spot.node}.`,
    facts: factsOf(spot, situation),
    next: nobody,
  }),
  AttachedElsewhere: multiAttach,
  AttachFailed: attachFailed,
  Attaching: attaching,
  Detached: (spot, situation) => ({
    verdict: 'fine',
    code: 'Detached',
    summary: `No pod on node/${spot.node} needs pv/${spot.volume.name}, and it is not attached there.`,
    facts: factsOf(spot, situation),
    next: nobody,
  }),
  Detaching: detaching,
  Unused: unused,
  InUse: mounted,
  NodeGone: nodeGone,
};

function situationOf({ volume, node, sight }: Spot): Situation | undefined {
  const attachable = attachableOf(volume.object);
  if (attachable === undefined || !sight.sees('attachments') || sight.csiDriver(attachable.driver)?.spec.attachRequired === false) return undefined;
  const attachment = sight.attachmentsOf(volume.name).find(({ spec }) => spec.nodeName === node);
  const users = usersOn(volume, node, sight);
  const claim = volume.claim === undefined ? undefined : sight.claim(volume.claim.key);
  const isBound = claim !== undefined && claim.uid === volume.claim?.uid && claim.volumeName === volume.name;
  return {
    pair: { id: attachment?.metadata.name ?? '', ...attachable, node, uniqueName: uniqueNameOf(attachable) },
    attachRequired: true,
    wants: isBound ? users.map((pod) => ({ pod, volume: volume.object })) : [],
    users: users.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`),
    node: nodeState(sight, node, attachable),
    attachment: readAttachment(attachment),
    rivals: attachable.exclusive ? rivalsOf({ volume, node, sight }, attachable) : [],
    unwantedSince: undefined,
    told: new Map(),
  };
}

function nodeState(sight: Sight, name: string, attachable: Attachable): Situation['node'] {
  const node = sight.node(name);
  if (node !== undefined) return readNode(node, uniqueNameOf(attachable), true);
  // A node that could not be looked at is taken for one that is in order.
  if (!sight.sees('nodes')) return { state: 'known', managed: true, ready: true, outOfService: false, listed: true, inUse: false, heardSince: true };
  return { state: 'gone', wasInUse: false };
}

const usersOn = ({ claim }: Volume, node: string, sight: Sight): readonly Pod[] =>
  claim === undefined ? [] : sight.podsUsing(claim.key).filter((pod) => pod.spec.nodeName === node && !hasEnded(pod));

function rivalsOf({ volume, node, sight }: Spot, attachable: Attachable): readonly Rival[] {
  return sight.attachmentsOf(volume.name).flatMap((attachment) => {
    const there = attachment.spec.nodeName;
    if (there === node) return [];
    const pods = usersOn(volume, there, sight).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
    const inUse = sight.node(there)?.status.volumesInUse?.includes(uniqueNameOf(attachable)) ?? false;
    return [{ node: there, attachment: readAttachment(attachment), pods, inUse }];
  });
}

function factsOf({ volume, sight }: Spot, { pair, users }: Situation): readonly Fact[] {
  const attachments = sight.attachmentsOf(volume.name).map(({ spec, status, metadata }) => {
    const how = metadata.deletionTimestamp !== undefined ? 'being detached' : status.attached ? 'attached' : 'not attached yet';
    return `node/${spec.nodeName} (${how})`;
  });
  return [
    { label: 'driver', text: pair.driver },
    { label: 'attachments', text: attachments.length === 0 ? 'none' : someOf(attachments) },
    ...(users.length === 0 ? [] : [{ label: 'wanted by', text: someOf(users.map((key) => `pod ${key}`)) }]),
  ];
}

/** Only one node may have it, and another has. */
function multiAttach(spot: Spot, situation: Situation): Story {
  const { volume, node, sight } = spot;
  const held = situation.rivals.filter(({ attachment }) => attachment.state !== 'none' && attachment.state !== 'failed');
  const others = listed(held.map((rival) => `node/${rival.node}`));
  const pods = held.flatMap((rival) => usersOn(volume, rival.node, sight));
  const [want] = situation.wants;
  const kubernetes =
    want === undefined
      ? ''
      : ` Kubernetes' event for it: ${quoted(waitingForDetach(volume.name, want.pod, held))} (before v1.36: "Multi-Attach error for volume …").`;
  const base = {
    code: 'MultiAttach',
    facts: [...factsOf(spot, situation), ...held.map((rival) => ({ label: `node/${rival.node}`, text: describeNode(sight.node(rival.node), sight) }))],
  };
  const start = `pv/${volume.name} is needed on node/${node}, but is attached to ${others}, and its access modes allow one node at a time.`;
  const dead = held.filter((rival) => isDead(sight.node(rival.node), sight));
  if (dead.length > 0) return { ...base, ...heldByDeadNode(dead, pods, { spot, start: `${start}${kubernetes}` }) };
  if (pods.length === 0) {
    return {
      ...base,
      verdict: 'waiting',
      summary: `${start} No pod there needs it any more, so it is being detached.${kubernetes}`,
      ...afterDetach(held, sight),
    };
  }
  return {
    ...base,
    verdict: pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined) ? 'waiting' : 'stuck',
    summary: `${start} There it is used by ${listed(pods.map(({ metadata }) => `pod/${metadata.name ?? ''}`))}.${kubernetes}`,
    fixes: [
      ...endPods(pods, pods[0]?.metadata.namespace ?? ''),
      { text: `run both pods on one node, or use a volume with ReadWriteMany; a Deployment with such a volume needs strategy Recreate`, commands: [] },
    ],
    next: endOf(pods, sight),
  };
}

function afterDetach(held: readonly Rival[], sight: Sight): Pick<Story, 'next' | 'fixes'> {
  const mountedOn = held.find(({ inUse }) => inUse);
  if (mountedOn !== undefined) return { next: { who: `node/${mountedOn.node}`, does: 'unmounts it; then it is detached' } };
  const [rival] = held;
  if (rival?.attachment.state === 'detaching') {
    const { object, problem } = rival.attachment;
    const next = {
      who: `the attacher of ${object.spec.attacher}`,
      does: problem === undefined ? 'detaches it' : `detaches it; the last try failed: ${problem}`,
    };
    return overdue({ ...next, by: 'at once' }, { since: object.metadata.deletionTimestamp, sight });
  }
  return { next: { who: 'the attach/detach controller', does: 'detaches it, and attaches it here', by: 'at once' } };
}

const isDead = (node: Node | undefined, sight: Sight): boolean => sight.sees('nodes') && (node === undefined || !isReady(node));

const describeNode = (node: Node | undefined, sight: Sight): string =>
  node === undefined
    ? sight.sees('nodes')
      ? 'exists no more'
      : 'could not be looked at'
    : isReady(node)
      ? 'ready'
      : 'not ready: nobody knows whether it still writes';

interface Told {
  readonly spot: Spot;
  readonly start: string;
}

/** As Kubernetes does: six minutes after nobody wants the volume there any more, unless an administrator says that the node is off. */
const forceAfterMs = 360_000;

function heldByDeadNode(dead: readonly Rival[], pods: readonly Pod[], { spot: { sight }, start }: Told): Pick<Story, 'verdict' | 'summary' | 'fixes' | 'next'> {
  const names = dead.map(({ node }) => node);
  const deletions = pods.map(({ metadata }) => timeOf(metadata.deletionTimestamp));
  const isLeaving = !deletions.includes(undefined);
  const by = isLeaving && deletions.length > 0 ? Math.max(...deletions.map((time) => time ?? 0)) + forceAfterMs : undefined;
  const taints = names.flatMap((name) =>
    sight.node(name) === undefined ? [] : [kubectl(undefined, 'taint', 'nodes', name, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')],
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

function attachFailed(spot: Spot, situation: Situation, reason: Reason): Story {
  const { driver } = situation.pair;
  return {
    verdict: 'stuck',
    code: 'AttachFailed',
    summary: `pv/${spot.volume.name} could not be attached to node/${spot.node}: ${reason.text.replace(/^it could not be attached: /, '')}.`,
    facts: factsOf(spot, situation),
    fixes: [
      { text: `remove what ${driver} complains of; its attacher tries again by itself. Its log says more`, commands: ['kubectl get pods -A | grep -i csi'] },
      ...driverFixes(spot, driver),
    ],
    next: { who: `the attacher of ${driver}`, does: 'tries again' },
  };
}

/** A driver that has not registered on the node will not serve it. */
function driverFixes({ node, sight }: Spot, driver: string): readonly Fix[] {
  if (!sight.sees('csiNodes') || sight.nodesWithDriver(driver).includes(node)) return [];
  return [
    {
      text: `${driver} has not registered on node/${node}: see that its node plugin runs there`,
      commands: [kubectl(undefined, 'get', 'csinode', node, '-o', 'yaml')],
    },
  ];
}

function attaching(spot: Spot, situation: Situation, reason: Reason): Story {
  const { driver } = situation.pair;
  const { attachment } = situation;
  const base = {
    verdict: 'waiting' as const,
    code: 'Attaching',
    summary: `pv/${spot.volume.name} is being attached to node/${spot.node}.`,
    facts: factsOf(spot, situation),
  };
  if (attachment.state === 'none') {
    const since = situation.wants[0]?.pod.status.startTime ?? situation.wants[0]?.pod.metadata.creationTimestamp;
    return { ...base, ...overdue({ who: 'the attach/detach controller', does: 'asks for the attachment', by: 'at once' }, { since, sight: spot.sight }) };
  }
  return {
    ...base,
    fixes: driverFixes(spot, driver),
    next: { who: `the attacher of ${driver}`, does: 'attaches it', ...(reason.by === undefined ? {} : { by: rfc3339(reason.by) }) },
  };
}

function detaching(spot: Spot, situation: Situation): Story {
  const { attachment, pair } = situation;
  const problem = attachment.state === 'detaching' ? attachment.problem : undefined;
  const since = attachment.state === 'detaching' ? attachment.object.metadata.deletionTimestamp : undefined;
  const late = overdue({ who: `the attacher of ${pair.driver}`, does: 'detaches it', by: 'at once' }, { since, sight: spot.sight });
  return {
    verdict: problem === undefined ? 'waiting' : 'stuck',
    code: 'Detaching',
    summary: `pv/${spot.volume.name} is being detached from node/${spot.node}${problem === undefined ? '' : `; the last try failed: ${problem}`}.`,
    facts: factsOf(spot, situation),
    ...late,
    fixes:
      problem === undefined && late.verdict === undefined
        ? []
        : [
            {
              text: `see that the attacher of ${pair.driver} runs and can reach its storage; its finalizer keeps the attachment until then`,
              commands: ['kubectl get pods -A | grep -i csi'],
            },
          ],
  };
}

function unused(spot: Spot, situation: Situation): Story {
  return {
    verdict: 'waiting',
    code: 'Unused',
    summary: `No pod on node/${spot.node} needs pv/${spot.volume.name} any more, so it is being detached.`,
    facts: factsOf(spot, situation),
    next: { who: 'the attach/detach controller', does: 'detaches it', by: 'at once' },
  };
}

/** Nobody needs it, but the node says that it is mounted. */
function mounted(spot: Spot, situation: Situation): Story {
  const { node, sight } = spot;
  const isSilent = isDead(sight.node(node), sight);
  return {
    verdict: isSilent ? 'stuck' : 'waiting',
    code: 'StillMounted',
    summary: `No pod on node/${node} needs pv/${spot.volume.name} any more, but the node says that it is still mounted${isSilent ? ', and has not been heard of since' : ''}.`,
    facts: factsOf(spot, situation),
    fixes: isSilent
      ? [
          {
            text: 'if the node is certainly switched off: say so, and the volume is detached at once; otherwise it is after six minutes',
            commands: [kubectl(undefined, 'taint', 'nodes', node, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')],
          },
        ]
      : [],
    next: isSilent
      ? { who: 'the attach/detach controller', does: 'detaches it six minutes after the last pod went' }
      : { who: `node/${node}`, does: 'unmounts it' },
  };
}

function nodeGone(spot: Spot, situation: Situation): Story {
  const pods = usersOn(spot.volume, spot.node, spot.sight);
  return {
    verdict: 'stuck',
    code: 'NodeGone',
    summary: `Node ${quoted(spot.node)} exists no more, but ${listed(pods.map(({ metadata }) => `pod/${metadata.name ?? ''}`))} is still assigned to it; pv/${spot.volume.name} stays there until the pod is gone.`,
    facts: factsOf(spot, situation),
    fixes: pods.map(({ metadata }) => ({
      text: `delete pod/${metadata.name ?? ''}: no node will ever confirm its end`,
      commands: [kubectl(metadata.namespace, 'delete', 'pod', metadata.name ?? '', '--force', '--grace-period=0')],
    })),
    next: { who: 'you', does: 'delete the pod; then the volume is free for another node' },
  };
}

function plainly(spot: Spot, situation: Situation, { code, text, next }: Reason): Story {
  return {
    verdict: next === 'nobody' || next === 'node' ? 'fine' : 'waiting',
    code,
    summary: `pv/${spot.volume.name} on node/${spot.node}: ${text}.`,
    facts: factsOf(spot, situation),
    next: next === 'nobody' ? nobody : { who: next === 'node' ? `node/${spot.node}` : `the ${next}`, does: 'has the next move' },
  };
}
