import type { Pod, PriorityClass } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Resources } from '../../objects/resources.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import { admissionForbidden } from '../forbidden.ts';

/** The fields that a pod gets from its PriorityClass. */
interface Priority {
  readonly className: string;
  readonly value: number;
  readonly preemptionPolicy: string | undefined;
}

const none: Priority = { className: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' };

/** The system classes, which exist before their PriorityClass objects do. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

/** A pod's priority is that of its PriorityClass; there is at most one globalDefault. */
export function priority(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  const classes = resources.require('scheduling.k8s.io/v1', 'priorityclasses');

  const defaultClass = async (): Promise<Stored<PriorityClass> | undefined> => {
    const all = await reader.list<PriorityClass>(classes, '');
    return all.filter((one) => one.globalDefault === true).sort((a, b) => a.value - b.value)[0];
  };

  const resolve = async (request: AdmissionRequest, className: string): Promise<Priority> => {
    const found = className === '' ? await defaultClass() : await reader.get<PriorityClass>(classes, '', className);
    if (found !== undefined) return { className: found.metadata.name, value: found.value, preemptionPolicy: found.preemptionPolicy };
    if (className === '') return none;
    const system = systemClasses.get(className);
    if (system === undefined) throw admissionForbidden(request, `no PriorityClass with name ${className} was found`);
    return { className, value: system, preemptionPolicy: 'PreemptLowerPriority' };
  };

  return {
    name: 'Priority',
    handles: (operation, resource, subresource) =>
      operation !== 'delete' && subresource === '' && (isResource(resource, '', 'pods') || isResource(resource, 'scheduling.k8s.io', 'priorityclasses')),
    mutate: async (request) => {
      if (!isResource(request.resource, '', 'pods')) return;
      const pod = request.object as Pod;
      if (request.old === undefined) setPriority(request, pod, await resolve(request, pod.spec.priorityClassName ?? ''));
      else keepPriority(pod, request.old as Pod);
    },
    validate: async (request) => {
      if (!isResource(request.resource, 'scheduling.k8s.io', 'priorityclasses')) return;
      if ((request.object as PriorityClass).globalDefault !== true) return;
      const other = await defaultClass();
      if (other === undefined || (request.operation === 'update' && other.metadata.name === request.object.metadata.name)) return;
      throw admissionForbidden(request, `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`);
    },
  };
}

function setPriority(request: AdmissionRequest, { spec }: Pod, { className, value, preemptionPolicy }: Priority): void {
  if (className !== '') spec.priorityClassName = className;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw admissionForbidden(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  if (preemptionPolicy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw admissionForbidden(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = preemptionPolicy;
}

function keepPriority({ spec }: Pod, { spec: old }: Pod): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) spec.preemptionPolicy = old.preemptionPolicy;
}
