/** One volume on one node: the attach/detach controller's decision in sentences. */
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

/** Undefined: the volume is not attachable, its CSIDriver requires no attach, or the attachments were not read. */
export function diagnoseAttach(at: VolumeAtNode): Diagnosis | undefined {
  const snapshot = attachSnapshotOf(at);
  if (snapshot === undefined) return undefined;
  const { reasons } = decide(snapshot, at.graph.now);
  const [reason] = reasons;
  if (reason === undefined) return undefined;
  const explainer = explainers[reason.code] ?? otherReason;
  return explainer(at, snapshot, reason);
}

type AttachExplainer = (at: VolumeAtNode, snapshot: AttachDetachSnapshot, reason: AttachDetachReason) => Diagnosis;

/** By the code of the controller's reason. */
const explainers: Readonly<Record<string, AttachExplainer | undefined>> = {
  Attached: (at, snapshot) => ({
    verdict: 'fine',
    code: 'Attached',
    summary: `pv/${at.volume.name} is attached to node/${at.node}.`,
    facts: attachFacts(at, snapshot),
    next: nothingToDo,
  }),
  AttachedElsewhere: multiAttach,
  AttachFailed: attachFailed,
  Attaching: attaching,
  Detached: (at, snapshot) => ({
    verdict: 'fine',
    code: 'Detached',
    summary: `No pod on node/${at.node} uses pv/${at.volume.name}, and it is not attached there.`,
    facts: attachFacts(at, snapshot),
    next: nothingToDo,
  }),
  Detaching: detaching,
  Unused: unused,
  InUse: mounted,
  NodeGone: nodeGone,
};

function attachFailed(at: VolumeAtNode, snapshot: AttachDetachSnapshot, reason: AttachDetachReason): Diagnosis {
  const { driver } = snapshot.target;
  return {
    verdict: 'stuck',
    code: 'AttachFailed',
    summary: `pv/${at.volume.name} could not be attached to node/${at.node}: ${reason.text.replace(/^it could not be attached: /, '')}.`,
    facts: attachFacts(at, snapshot),
    fixes: [
      { text: `fix what ${driver} reports; its attacher retries by itself. Its log has more`, commands: ['kubectl get pods -A | grep -i csi'] },
      ...driverFixes(at, driver),
    ],
    next: { who: `the attacher of ${driver}`, does: 'retries' },
  };
}

/** A driver that is not registered on the node does not serve it. */
function driverFixes({ node, graph }: VolumeAtNode, driver: string): readonly Fix[] {
  if (!graph.wasRead('csiNodes') || graph.nodesWithDriver(driver).includes(node)) return [];
  return [
    {
      text: `check that the node plugin of ${driver} runs on node/${node}: it is not registered there`,
      commands: [kubectl(undefined, 'get', 'csinode', node, '-o', 'yaml')],
    },
  ];
}

function attaching(at: VolumeAtNode, snapshot: AttachDetachSnapshot, reason: AttachDetachReason): Diagnosis {
  const { driver } = snapshot.target;
  const { attachment } = snapshot;
  const base = {
    verdict: 'waiting' as const,
    code: 'Attaching',
    summary: `pv/${at.volume.name} is being attached to node/${at.node}.`,
    facts: attachFacts(at, snapshot),
  };
  if (attachment.state === 'none') {
    const since = snapshot.desiredBy[0]?.pod.status.startTime ?? snapshot.desiredBy[0]?.pod.metadata.creationTimestamp;
    return { ...base, ...overdue({ who: 'the attach/detach controller', does: 'creates the VolumeAttachment', by: 'at once' }, { since, graph: at.graph }) };
  }
  return {
    ...base,
    fixes: driverFixes(at, driver),
    next: { who: `the attacher of ${driver}`, does: 'attaches it', ...(reason.by === undefined ? {} : { by: rfc3339(reason.by) }) },
  };
}

function detaching(at: VolumeAtNode, snapshot: AttachDetachSnapshot): Diagnosis {
  const { attachment, target } = snapshot;
  const problem = attachment.state === 'detaching' ? attachment.problem : undefined;
  const since = attachment.state === 'detaching' ? attachment.object.metadata.deletionTimestamp : undefined;
  const late = overdue({ who: `the attacher of ${target.driver}`, does: 'detaches it', by: 'at once' }, { since, graph: at.graph });
  return {
    verdict: problem === undefined ? 'waiting' : 'stuck',
    code: 'Detaching',
    summary: `pv/${at.volume.name} is being detached from node/${at.node}${problem === undefined ? '' : `; the last attempt failed: ${problem}`}.`,
    facts: attachFacts(at, snapshot),
    ...late,
    fixes:
      problem === undefined && late.verdict === undefined
        ? []
        : [
            {
              text: `check that the attacher of ${target.driver} runs and can reach its storage; its finalizer keeps the VolumeAttachment until then`,
              commands: ['kubectl get pods -A | grep -i csi'],
            },
          ],
  };
}

function unused(at: VolumeAtNode, snapshot: AttachDetachSnapshot): Diagnosis {
  return {
    verdict: 'waiting',
    code: 'Unused',
    summary: `No pod on node/${at.node} uses pv/${at.volume.name} any more, so it is being detached.`,
    facts: attachFacts(at, snapshot),
    next: { who: 'the attach/detach controller', does: 'detaches it', by: 'at once' },
  };
}

/** No pod uses the volume, but the node lists it in volumesInUse. */
function mounted(at: VolumeAtNode, snapshot: AttachDetachSnapshot): Diagnosis {
  const { node, graph } = at;
  const isUnreachable = isUnresponsive(graph.node(node), graph);
  return {
    verdict: isUnreachable ? 'stuck' : 'waiting',
    code: 'StillMounted',
    summary: `No pod on node/${node} uses pv/${at.volume.name} any more, but the node lists it in volumesInUse${isUnreachable ? ', and is not ready' : ''}.`,
    facts: attachFacts(at, snapshot),
    fixes: isUnreachable
      ? [
          {
            text: 'if the node is certainly switched off: taint it as out of service, and the volume is detached at once; otherwise after six minutes',
            commands: [kubectl(undefined, 'taint', 'nodes', node, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')],
          },
        ]
      : [],
    next: isUnreachable
      ? { who: 'the attach/detach controller', does: 'detaches it by force six minutes after the last pod is gone' }
      : { who: `node/${node}`, does: 'unmounts it' },
  };
}

function nodeGone(at: VolumeAtNode, snapshot: AttachDetachSnapshot): Diagnosis {
  const pods = usersOn(at.volume, at.node, at.graph);
  return {
    verdict: 'stuck',
    code: 'NodeGone',
    summary: `Node ${quoted(at.node)} does not exist any more, but ${listed(pods.map(({ metadata }) => `pod/${metadata.name}`))} is still assigned to it; pv/${at.volume.name} stays attached there until the pod is deleted.`,
    facts: attachFacts(at, snapshot),
    fixes: pods.map(({ metadata }) => ({
      text: `delete pod/${metadata.name} by force: no kubelet will ever confirm its end`,
      commands: [kubectl(metadata.namespace, 'delete', 'pod', metadata.name, '--force', '--grace-period=0')],
    })),
    next: { who: 'you', does: 'delete the pod; then the volume can be attached to another node' },
  };
}

function otherReason(at: VolumeAtNode, snapshot: AttachDetachSnapshot, { code, text, next }: AttachDetachReason): Diagnosis {
  return {
    verdict: next === 'none' || next === 'node' ? 'fine' : 'waiting',
    code,
    summary: `pv/${at.volume.name} on node/${at.node}: ${text}.`,
    facts: attachFacts(at, snapshot),
    next: next === 'none' ? nothingToDo : { who: next === 'node' ? `node/${at.node}` : `the ${next}`, does: 'takes the next step' },
  };
}
