/** Claims that request more than their capacity: the expander's decision in sentences. */
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

/** Undefined: the claim has the capacity that it requests. */
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
  /** The driver that expands it inside the control plane. */
  readonly driver: string | undefined;
}

function diagnose(expansion: Expansion, byNode: boolean): Diagnosis {
  const { claim, volume, sizes } = expansion;
  const { conditions = [], allocatedResourceStatuses } = claim.object.status;
  const holds = (type: string) => conditions.find((each) => each.type === type && each.status === 'True');
  const error = holds('ControllerResizeError') ?? holds('NodeResizeError');
  const resizeStatus = allocatedResourceStatuses?.['storage'] ?? '';
  if (error !== undefined || resizeStatus.endsWith('Infeasible')) return failed(expansion, error?.message ?? '');
  if (byNode || holds('FileSystemResizePending') !== undefined || resizeStatus.startsWith('NodeResize')) return onNode(expansion);
  const driver = expansion.driver ?? csiSourceOf(volume.object)?.driver;
  if (driver === undefined) {
    const couldOptIn = volume.object.spec.hostPath !== undefined;
    return {
      verdict: 'stuck',
      code: 'NobodyGrows',
      summary: `The claim is bound and usable with ${sizes.has}, and requests ${sizes.wants}; but no driver expands volumes of this type.`,
      fixes: [...(couldOptIn ? [optIn(volume)] : []), lowerRequest(expansion)],
      next: { who: 'you', does: 'lower the request, or move the data to a larger volume' },
    };
  }
  return {
    verdict: 'waiting',
    code: 'ExternalExpanding',
    summary: `The claim is bound and usable with ${sizes.has}, and its volume is being expanded to ${sizes.wants}.`,
    fixes: [
      {
        text: 'if this takes more than a minute: read the events of the resizer',
        commands: [kubectl(claim.namespace, 'events', '--for', `pvc/${claim.name}`)],
      },
    ],
    next: { who: expansion.driver === undefined ? `the resizer of ${driver}` : driver, does: 'expands the volume; it retries by itself' },
  };
}

/** Kubernetes' host-path plugin cannot expand; Mooring's driver can, if the StorageClass opts in. */
const optIn = ({ className }: Volume): Fix => ({
  text: 'on Mooring, let its driver expand volumes of the StorageClass',
  commands: [kubectl(undefined, 'annotate', 'storageclass', className, `${annotations.expand}=true`)],
});

const lowerRequest = ({ claim, sizes }: Expansion): Fix => ({
  text: `request less, but more than ${sizes.has}: an expansion that failed may be taken back`,
  commands: [kubectl(claim.namespace, 'edit', 'pvc', claim.name)],
});

function failed(expansion: Expansion, message: string): Diagnosis {
  const { has, wants } = expansion.sizes;
  return {
    verdict: 'stuck',
    code: 'GrowthFailed',
    summary: `The claim is bound and usable with ${has}, but its volume could not be expanded to ${wants}${message === '' ? '' : `: ${message}`}.`,
    fixes: [lowerRequest(expansion)],
    next: { who: 'you', does: 'lower the request, or give the storage more room; the expansion is retried' },
  };
}

/** The volume is expanded; its file system is resized on a node that mounts it. */
function onNode({ claim, graph, sizes }: Expansion): Diagnosis {
  const pod = graph.podsUsing(claim.key).find((each) => (each.spec.nodeName ?? '') !== '' && !hasEnded(each));
  const base = {
    code: 'FileSystemResizePending',
    summary: `The volume is expanded to ${sizes.wants}; its file system still has ${sizes.has}, and is resized by a node that mounts it.`,
  };
  if (pod !== undefined)
    return {
      ...base,
      verdict: 'waiting',
      next: { who: `node/${pod.spec.nodeName ?? ''}`, does: `resizes the file system, which pod/${pod.metadata.name} uses` },
    };
  return {
    ...base,
    verdict: 'stuck',
    fixes: [{ text: 'start a pod that uses the claim: the file system is resized when it is mounted', commands: [] }],
    next: { who: 'you', does: 'start a pod that uses the claim' },
  };
}
