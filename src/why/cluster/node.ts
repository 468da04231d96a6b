import type { Node } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { kubectl } from '../explanation/commands.ts';
import { type Diagnosis, explanationOf, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import { listed, plural, someOf } from '../explanation/words.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

export function explainNode(node: Stored<Node>, graph: ObjectGraph): ObjectExplanation {
  const { name } = node.metadata;
  const ready = readyOf(node);
  const isCordoned = node.spec.unschedulable === true;
  const state = `${ready?.status === 'True' ? 'Ready' : 'NotReady'}${isCordoned ? ',SchedulingDisabled' : ''}`;
  const diagnosis = diagnose(node);
  return explanationOf(
    { kind: 'node', name },
    { state, since: ready?.lastTransitionTime ?? node.metadata.creationTimestamp },
    { ...diagnosis, facts: [...factsOf(node, graph), ...(diagnosis.facts ?? [])] },
  );
}

const readyOf = ({ status }: Stored<Node>) => status.conditions?.find(({ type }) => type === 'Ready');

function factsOf({ metadata: { name }, spec }: Stored<Node>, graph: ObjectGraph) {
  const pods = graph.placed.filter((pod) => pod.spec.nodeName === name);
  const drivers = graph.csiNode(name)?.spec.drivers?.map((driver) => driver.name) ?? [];
  const attached = graph.attachments.filter((attachment) => attachment.spec.nodeName === name).length;
  const taints = (spec.taints ?? []).map(({ key, value, effect }) => `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`);
  return [
    { label: 'pods', text: `${pods.length}` },
    { label: 'attached', text: plural(attached, 'volume') },
    { label: 'CSI drivers', text: drivers.length === 0 ? 'none' : someOf(drivers) },
    ...(taints.length === 0 ? [] : [{ label: 'taints', text: someOf(taints) }]),
  ];
}

function diagnose(node: Stored<Node>): Diagnosis {
  const { name } = node.metadata;
  const ready = readyOf(node);
  if (ready?.status !== 'True') return notReady(name, ready);
  const pressures = (node.status.conditions ?? []).filter(({ type, status }) => type !== 'Ready' && status === 'True').map(({ type }) => type);
  if (pressures.length > 0) {
    return {
      verdict: 'stuck',
      code: 'NodePressure',
      summary: `The node is ready, but reports ${listed(pressures)}: it takes no new pods, and may evict some.`,
      fixes: [{ text: 'free what it lacks; its conditions say more', commands: [kubectl(undefined, 'describe', 'node', name)] }],
      next: { who: 'an administrator', does: 'frees what the node lacks; then it reports that by itself' },
    };
  }
  if (node.spec.unschedulable === true) {
    return {
      verdict: 'waiting',
      code: 'Cordoned',
      summary: 'The node is ready, and cordoned: it gets no new pods; those that it has stay.',
      fixes: [{ text: 'let it have pods again', commands: [kubectl(undefined, 'uncordon', name)] }],
      next: { who: 'an administrator', does: 'uncordons it' },
    };
  }
  return { verdict: 'fine', code: 'Ready', summary: 'The node is ready.', next: nothingToDo };
}

/** Unknown: its agent is silent. False: the agent itself says so. */
function notReady(name: string, ready: ReturnType<typeof readyOf>): Diagnosis {
  const isSilent = ready === undefined || ready.status === 'Unknown';
  return {
    verdict: 'stuck',
    code: isSilent ? 'NodeSilent' : 'NodeNotReady',
    summary: isSilent
      ? 'The agent of the node does not report: the node is off, cut off, or its agent does not run. It may still run pods and write to its volumes, so these are detached by force only six minutes after its pods are gone.'
      : `The agent of the node reports that it is not ready: ${ready.message ?? ready.reason ?? ''}.`,
    fixes: [
      { text: isSilent ? 'start the node or its agent' : 'correct what it reports', commands: [kubectl(undefined, 'describe', 'node', name)] },
      ...(isSilent
        ? [
            {
              text: 'if it is certainly switched off: taint it as out of service, and its pods and volumes move at once',
              commands: [kubectl(undefined, 'taint', 'nodes', name, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')],
            },
          ]
        : []),
    ],
    next: { who: 'an administrator', does: isSilent ? 'starts it' : 'corrects that' },
  };
}
