/** One volume on one node: is it attached, and if not, what keeps it? The attach/detach controller's decision, told for people. */
import type { Reason } from '../controllers/attach-detach/actions.ts';
import { decide } from '../controllers/attach-detach/decide.ts';
import type { Situation } from '../controllers/attach-detach/situation.ts';
import { factsOf, isDead, situationOf, type Spot, usersOn } from './attach-situation.ts';
import { kubectl } from './commands.ts';
import { type Fix, nobody, type Story } from './explanation.ts';
import { multiAttach } from './multi-attach.ts';
import { overdue } from './overdue.ts';
import { rfc3339 } from './since.ts';
import { listed, quoted } from './words.ts';

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
      text: `see that the node plugin of ${driver} runs on node/${node}: it has not registered there`,
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
