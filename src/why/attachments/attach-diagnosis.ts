/** One volume on one node: is it attached, and if not, what keeps it? The attach/detach controller's decision, told for people. */
import type { AttachDetachReason } from '../../storage/attach-detach/actions.ts';
import { decide } from '../../storage/attach-detach/decide.ts';
import type { AttachDetachSnapshot } from '../../storage/attach-detach/snapshot.ts';
import { attachFacts, isUnresponsive, attachSnapshotOf, type VolumeAtNode, usersOn } from './attach-snapshot.ts';
import { kubectl } from '../explanation/commands.ts';
import { type Fix, nothingToDo, type Diagnosis } from '../explanation/explanation.ts';
import { multiAttach } from './multi-attach.ts';
import { overdue } from '../graph/overdue.ts';
import { rfc3339 } from '../explanation/timestamps.ts';
import { listed, quoted } from '../explanation/words.ts';

/** Undefined: volumes of its kind need no attaching, their driver wants none, or nobody looked. */
export function diagnoseAttach(spot: VolumeAtNode): Diagnosis | undefined {
  const situation = attachSnapshotOf(spot);
  if (situation === undefined) return undefined;
  const { reasons } = decide(situation, spot.graph.now);
  const [reason] = reasons;
  if (reason === undefined) return undefined;
  const teller = explainers[reason.code];
  return teller === undefined ? otherReason(spot, situation, reason) : teller(spot, situation, reason);
}

type AttachExplainer = (spot: VolumeAtNode, situation: AttachDetachSnapshot, reason: AttachDetachReason) => Diagnosis;

/** By the codes of the controller's reasons. */
const explainers: Readonly<Record<string, AttachExplainer | undefined>> = {
  Attached: (spot, situation) => ({
    verdict: 'fine',
    code: 'Attached',
    summary: `pv/${spot.volume.name} is attached to node/${spot.node}.`,
    facts: attachFacts(spot, situation),
    next: nothingToDo,
  }),
  AttachedElsewhere: multiAttach,
  AttachFailed: attachFailed,
  Attaching: attaching,
  Detached: (spot, situation) => ({
    verdict: 'fine',
    code: 'Detached',
    summary: `No pod on node/${spot.node} needs pv/${spot.volume.name}, and it is not attached there.`,
    facts: attachFacts(spot, situation),
    next: nothingToDo,
  }),
  Detaching: detaching,
  Unused: unused,
  InUse: mounted,
  NodeGone: nodeGone,
};

function attachFailed(spot: VolumeAtNode, situation: AttachDetachSnapshot, reason: AttachDetachReason): Diagnosis {
  const { driver } = situation.target;
  return {
    verdict: 'stuck',
    code: 'AttachFailed',
    summary: `pv/${spot.volume.name} could not be attached to node/${spot.node}: ${reason.text.replace(/^it could not be attached: /, '')}.`,
    facts: attachFacts(spot, situation),
    fixes: [
      { text: `remove what ${driver} complains of; its attacher tries again by itself. Its log says more`, commands: ['kubectl get pods -A | grep -i csi'] },
      ...driverFixes(spot, driver),
    ],
    next: { who: `the attacher of ${driver}`, does: 'tries again' },
  };
}

/** A driver that has not registered on the node will not serve it. */
function driverFixes({ node, graph: sight }: VolumeAtNode, driver: string): readonly Fix[] {
  if (!sight.wasRead('csiNodes') || sight.nodesWithDriver(driver).includes(node)) return [];
  return [
    {
      text: `see that the node plugin of ${driver} runs on node/${node}: it has not registered there`,
      commands: [kubectl(undefined, 'get', 'csinode', node, '-o', 'yaml')],
    },
  ];
}

function attaching(spot: VolumeAtNode, situation: AttachDetachSnapshot, reason: AttachDetachReason): Diagnosis {
  const { driver } = situation.target;
  const { attachment } = situation;
  const base = {
    verdict: 'waiting' as const,
    code: 'Attaching',
    summary: `pv/${spot.volume.name} is being attached to node/${spot.node}.`,
    facts: attachFacts(spot, situation),
  };
  if (attachment.state === 'none') {
    const since = situation.desiredBy[0]?.pod.status.startTime ?? situation.desiredBy[0]?.pod.metadata.creationTimestamp;
    return { ...base, ...overdue({ who: 'the attach/detach controller', does: 'asks for the attachment', by: 'at once' }, { since, sight: spot.graph }) };
  }
  return {
    ...base,
    fixes: driverFixes(spot, driver),
    next: { who: `the attacher of ${driver}`, does: 'attaches it', ...(reason.by === undefined ? {} : { by: rfc3339(reason.by) }) },
  };
}

function detaching(spot: VolumeAtNode, situation: AttachDetachSnapshot): Diagnosis {
  const { attachment, target: pair } = situation;
  const problem = attachment.state === 'detaching' ? attachment.problem : undefined;
  const since = attachment.state === 'detaching' ? attachment.object.metadata.deletionTimestamp : undefined;
  const late = overdue({ who: `the attacher of ${pair.driver}`, does: 'detaches it', by: 'at once' }, { since, sight: spot.graph });
  return {
    verdict: problem === undefined ? 'waiting' : 'stuck',
    code: 'Detaching',
    summary: `pv/${spot.volume.name} is being detached from node/${spot.node}${problem === undefined ? '' : `; the last try failed: ${problem}`}.`,
    facts: attachFacts(spot, situation),
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

function unused(spot: VolumeAtNode, situation: AttachDetachSnapshot): Diagnosis {
  return {
    verdict: 'waiting',
    code: 'Unused',
    summary: `No pod on node/${spot.node} needs pv/${spot.volume.name} any more, so it is being detached.`,
    facts: attachFacts(spot, situation),
    next: { who: 'the attach/detach controller', does: 'detaches it', by: 'at once' },
  };
}

/** Nobody needs it, but the node says that it is mounted. */
function mounted(spot: VolumeAtNode, situation: AttachDetachSnapshot): Diagnosis {
  const { node, graph: sight } = spot;
  const isSilent = isUnresponsive(sight.node(node), sight);
  return {
    verdict: isSilent ? 'stuck' : 'waiting',
    code: 'StillMounted',
    summary: `No pod on node/${node} needs pv/${spot.volume.name} any more, but the node says that it is still mounted${isSilent ? ', and has not been heard of since' : ''}.`,
    facts: attachFacts(spot, situation),
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

function nodeGone(spot: VolumeAtNode, situation: AttachDetachSnapshot): Diagnosis {
  const pods = usersOn(spot.volume, spot.node, spot.graph);
  return {
    verdict: 'stuck',
    code: 'NodeGone',
    summary: `Node ${quoted(spot.node)} exists no more, but ${listed(pods.map(({ metadata }) => `pod/${metadata.name ?? ''}`))} is still assigned to it; pv/${spot.volume.name} stays there until the pod is gone.`,
    facts: attachFacts(spot, situation),
    fixes: pods.map(({ metadata }) => ({
      text: `delete pod/${metadata.name ?? ''}: no node will ever confirm its end`,
      commands: [kubectl(metadata.namespace, 'delete', 'pod', metadata.name ?? '', '--force', '--grace-period=0')],
    })),
    next: { who: 'you', does: 'delete the pod; then the volume is free for another node' },
  };
}

function otherReason(spot: VolumeAtNode, situation: AttachDetachSnapshot, { code, text, next }: AttachDetachReason): Diagnosis {
  return {
    verdict: next === 'none' || next === 'node' ? 'fine' : 'waiting',
    code,
    summary: `pv/${spot.volume.name} on node/${spot.node}: ${text}.`,
    facts: attachFacts(spot, situation),
    next: next === 'none' ? nothingToDo : { who: next === 'node' ? `node/${spot.node}` : `the ${next}`, does: 'has the next move' },
  };
}
