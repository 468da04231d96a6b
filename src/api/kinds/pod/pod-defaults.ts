import type { Container, Pod, PodSpec, PodStatus, PodTemplateSpec } from '../../generated/types.ts';
import { roundUpResourceList } from '../resource-list.ts';
import { defaultContainer } from './containers/container-defaults.ts';
import { defaultPodResources } from './pod-resources.ts';
import { defaultVolume } from './volumes/pod-volume-defaults.ts';
import { roundUpResources } from './resource-amounts.ts';

const GRACE_PERIOD_SECONDS = 30;
/** Annotations by which init containers were given before they had a field; they are removed, and have no effect. */
const initContainerAnnotations = [
  'pod.alpha.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-container-statuses',
  'pod.beta.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
];

/** Fills in what a pod leaves out: more than in a template, since a pod is meant to run as it is. */
export function defaultPod(pod: Pod): void {
  const { spec, status } = pod;
  dropInitContainerAnnotations(pod.metadata);
  requestWhatIsLimited(spec);
  defaultPodResources(spec);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork === true) for (const container of allButEphemeral(spec)) takeHostPorts(container);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  defaultPodSpec(spec);
  defaultPodStatus(status);
}

export function defaultPodTemplate(template: PodTemplateSpec): void {
  dropInitContainerAnnotations(template.metadata);
  defaultPodSpec(template.spec);
}

function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.terminationGracePeriodSeconds ??= GRACE_PERIOD_SECONDS;
  spec.securityContext ??= {};
  spec.schedulerName ??= 'default-scheduler';
  // Two names of one field; the newer one wins.
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  if (account !== undefined) Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of [...allButEphemeral(spec), ...(spec.ephemeralContainers ?? [])]) defaultContainer(container);
  roundUpResourceList(spec.overhead);
  if (spec.resources) roundUpResources(spec.resources);
}

const allButEphemeral = (spec: PodSpec): Container[] => [...(spec.initContainers ?? []), ...(spec.containers ?? [])];

function dropInitContainerAnnotations(metadata: { annotations?: Record<string, string> }): void {
  const { annotations } = metadata;
  if (annotations === undefined) return;
  for (const key of initContainerAnnotations) delete annotations[key];
  if (Object.keys(annotations).length === 0) delete metadata.annotations;
}

/** A container that limits a resource without requesting it requests as much. */
function requestWhatIsLimited(spec: PodSpec): void {
  for (const { resources } of allButEphemeral(spec)) {
    if (resources.limits !== undefined) resources.requests = { ...resources.limits, ...resources.requests };
  }
}

/** On the node's network a port of a container is a port of the node. */
function takeHostPorts(container: Container): void {
  for (const port of container.ports ?? []) port.hostPort ??= port.containerPort;
}

/** The first address stands alone as well; if the two differ, the one that stands alone is right. */
function defaultPodStatus(status: PodStatus): void {
  const { podIP, podIPs = [] } = status;
  const first = podIPs[0]?.ip;
  if (podIP !== undefined && podIP !== first) status.podIPs = [{ ip: podIP }];
  else if (podIP === undefined && first !== undefined) status.podIP = first;
  for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? []), ...(status.ephemeralContainerStatuses ?? [])]) {
    roundUpResourceList(container.allocatedResources);
    if (container.resources) roundUpResources(container.resources);
  }
  roundUpResourceList(status.allocatedResources);
  if (status.resources) roundUpResources(status.resources);
}
