/** Claims that ask for more than they have: what the expander decides about them, told for people. */
import { decide } from '../../storage/expander/decide.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { showAmount, storageAmount } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Fix, Diagnosis } from '../explanation/explanation.ts';
import { expanderSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { describeVolume } from '../explanation/words.ts';

/** Undefined: it has what it asks for. */
export function diagnoseExpansion(claim: Claim, volume: Volume, graph: ObjectGraph): Diagnosis | undefined {
  const storageClass = graph.class(volume.className);
  const snapshot = { claim: claim.object, volume: volume.object, storageClass, driver: expanderSnapshot(graph), lastRequest: undefined, attempt: undefined };
  const [reason] = decide(snapshot, graph.now).reasons;
  if (reason === undefined || reason.code === 'LargeEnough' || reason.code === 'NotBound') return undefined;
  const { status } = claim.object;
  const sizes: Sizes = { has: showAmount(storageAmount(status.capacity)), wants: showAmount(claim.request) };
  const diagnosis = diagnose({ claim, volume, graph, sizes, driver: reason.driver }, reason.next === 'node');
  return { facts: [{ label: 'volume', text: `pv/${volume.name}: ${describeVolume(volume)}` }], ...diagnosis };
}

interface Sizes {
  readonly has: string;
  readonly wants: string;
}

interface Expansion {
  readonly claim: Claim;
  readonly volume: Volume;
  readonly graph: ObjectGraph;
  readonly sizes: Sizes;
  /** That makes it larger in the control plane itself. */
  readonly driver: string | undefined;
}

function diagnose(growth: Expansion, byNode: boolean): Diagnosis {
  const { claim, volume, sizes } = growth;
  const { conditions = [], allocatedResourceStatuses } = claim.object.status;
  const holds = (type: string) => conditions.find((each) => each.type === type && each.status === 'True');
  const error = holds('ControllerResizeError') ?? holds('NodeResizeError');
  const stage = allocatedResourceStatuses?.['storage'] ?? '';
  if (error !== undefined || stage.endsWith('Infeasible')) return failed(growth, error?.message ?? '');
  if (byNode || holds('FileSystemResizePending') !== undefined || stage.startsWith('NodeResize')) return onNode(growth);
  const driver = growth.driver ?? csiSourceOf(volume.object)?.driver;
  if (driver === undefined) {
    const couldOptIn = volume.object.spec.hostPath !== undefined;
    return {
      verdict: 'stuck',
      code: 'NobodyGrows',
      summary: `It is bound and usable with ${sizes.has}, and asks for ${sizes.wants}; but nobody grows volumes of its kind.`,
      fixes: [...(couldOptIn ? [optIn(volume)] : []), lowerRequest(growth)],
      next: { who: 'you', does: 'lower the request, or move the data to a larger volume' },
    };
  }
  return {
    verdict: 'waiting',
    code: 'ExternalExpanding',
    summary: `It is bound and usable with ${sizes.has}, and is being grown to ${sizes.wants}.`,
    fixes: [
      { text: 'if this takes more than a minute: see what the resizer says', commands: [kubectl(claim.namespace, 'events', '--for', `pvc/${claim.name}`)] },
    ],
    next: { who: growth.driver === undefined ? `the resizer of ${driver}` : driver, does: 'grows the volume; it tries again by itself if that fails' },
  };
}

/** Kubernetes' plugin cannot; Mooring's driver can, if it is told. */
const optIn = ({ className }: Volume): Fix => ({
  text: 'on Mooring, let its driver make volumes of the class larger',
  commands: [kubectl(undefined, 'annotate', 'storageclass', className, `${annotations.expand}=true`)],
});

const lowerRequest = ({ claim, sizes }: Expansion): Fix => ({
  text: `ask for less, but for more than ${sizes.has}: a growth that did not happen may be taken back`,
  commands: [kubectl(claim.namespace, 'edit', 'pvc', claim.name)],
});

function failed(growth: Expansion, message: string): Diagnosis {
  const { has, wants } = growth.sizes;
  return {
    verdict: 'stuck',
    code: 'GrowthFailed',
    summary: `It is bound and usable with ${has}, but could not be grown to ${wants}${message === '' ? '' : `: ${message}`}.`,
    fixes: [lowerRequest(growth)],
    next: { who: 'you', does: 'lower the request, or give the storage room; it is tried again by itself' },
  };
}

/** The volume is larger; its file system grows where it is mounted. */
function onNode({ claim, graph, sizes }: Expansion): Diagnosis {
  const pod = graph.podsUsing(claim.key).find((each) => (each.spec.nodeName ?? '') !== '' && !hasEnded(each));
  const base = {
    code: 'FileSystemResizePending',
    summary: `The volume has grown to ${sizes.wants}; its file system, which still has ${sizes.has}, is grown by a node that mounts it.`,
  };
  if (pod !== undefined)
    return {
      ...base,
      verdict: 'waiting',
      next: { who: `node/${pod.spec.nodeName ?? ''}`, does: `grows the file system, which pod/${pod.metadata.name ?? ''} uses` },
    };
  return {
    ...base,
    verdict: 'stuck',
    fixes: [{ text: 'start a pod that uses the claim: its file system grows as it is mounted', commands: [] }],
    next: { who: 'you', does: 'start a pod that uses it' },
  };
}
