import type { Event } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { nameOf } from './object-name.ts';

/** Reasons of events that repeat what the objects show, or do not concern storage. */
const noise = new Set(
  `Scheduled Pulling Pulled Created Started Killing SuccessfulCreate SuccessfulDelete SuccessfulAttachVolume LeaderElection ScalingReplicaSet
  Starting RegisteredNode RemovingNode DeletingNode NodeReady NodeNotReady NodeHasSufficientMemory NodeHasNoDiskPressure NodeHasSufficientPID
  NodeAllocatableEnforced NodeSchedulable NodeNotSchedulable Provisioning ProvisioningSucceeded ExternalProvisioning NoPods`.split(/\s+/),
);

/** An Event as a line of a timeline. */
export interface DescribedEvent {
  readonly type: 'warning' | 'event';
  readonly who: string;
  readonly about: string;
  readonly what: string;
}

/** Undefined: the objects show the same, or it does not concern storage. */
export function describeEvent(event: Event): DescribedEvent | undefined {
  const { type = '', reason = '', message = '', involvedObject, source, reportingComponent } = event;
  if (type !== 'Warning' && noise.has(reason)) return undefined;
  const { kind = '', name = '', namespace = '' } = involvedObject;
  const about = nameOf({ kind, metadata: { name, namespace } } satisfies Pick<KubeObject, 'kind' | 'metadata'>);
  const component = source?.component ?? '';
  const who = component === 'kubelet' ? (source?.host ?? component) : shortComponent(component === '' ? (reportingComponent ?? '') : component);
  return { type: type === 'Warning' ? 'warning' : 'event', who, about, what: `${reason}: ${message}` };
}

const components: Readonly<Record<string, string>> = { 'default-scheduler': 'scheduler', 'persistentvolume-controller': 'pv-controller' };
const shortComponent = (component: string): string => components[component] ?? component.replace(/-controller$/, '');
