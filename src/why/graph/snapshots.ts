/** What each controller would see of the objects, so that its decision can be asked for. */
import type { ProvisionerSnapshot as ProvisionerSeen } from '../../storage/provisioner/decide.ts';
import type { ReclaimerSnapshot as ReclaimerSeen } from '../../storage/reclaimer/decide.ts';
import { recyclerPodName, recyclerNamespace } from '../../storage/reclaimer/recycler-pod.ts';
import { podToSchedule, type BinderSnapshot as BinderSeen } from '../../storage/binder/decide.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { defaultClassOf } from '../../api/volumes/storage-class.ts';
import type { ObjectGraph } from './object-graph.ts';

/** Nobody was told anything: that is how a decision is made anew, whatever Events there are. */
const told = () => undefined;

export const binderSnapshot = (graph: ObjectGraph): BinderSeen => ({
  mode: 'plain',
  lastEvent: told,
  volume: (name) => graph.volume(name),
  claim: (key) => graph.claim(key),
  ownerOf: (name) => graph.ownerOf(name),
  class: (name) => graph.class(name),
  defaultClass: () => defaultClassOf(graph.classes),
  bestFit: (claim, options) => graph.bestFit(claim, options),
  offeredTo: () => undefined,
  podsToSchedule: (key) =>
    graph
      .podsUsing(key)
      .filter((pod) => (pod.spec.nodeName ?? '') === '' && !hasEnded(pod))
      .map(podToSchedule),
});

export const provisionerSnapshot = (graph: ObjectGraph): ProvisionerSeen => ({
  lastEvent: told,
  volume: (name) => graph.volume(name),
  class: (name) => graph.class(name),
  bestFit: (claim, options) => graph.bestFit(claim, options),
  // What was not looked at is not missed.
  hasNode: (name) => !graph.wasRead('nodes') || graph.node(name) !== undefined,
  driver: (name) => driverInferred(name, graph),
});

export const reclaimerSnapshot = (graph: ObjectGraph): ReclaimerSeen => ({
  lastEvent: told,
  maxRecycles: maxScrubs,
  claim: (key) => graph.claim(key),
  intent: (name) => graph.intentFor(name),
  attachedTo: (name) =>
    graph
      .attachmentsOf(name)
      .map(({ spec }) => spec.nodeName)
      .sort(),
  driver: (name) => driverInferred(name, graph),
  recyclerPod: (name) => graph.pods.find(({ metadata }) => metadata.namespace === recyclerNamespace && metadata.name === recyclerPodName(name)),
  recyclerPodEvents: () => [],
  podsUsing: (key) =>
    graph
      .podsUsing(key)
      .filter((pod) => !hasEnded(pod))
      .map(({ metadata }) => claimKey(metadata.namespace ?? '', metadata.name ?? ''))
      .sort(),
});

/** Which drivers make volumes larger in the control plane itself. */
export const expanderSnapshot =
  (graph: ObjectGraph) =>
  (name: string): DriverCapabilities | undefined =>
    driverInferred(name, graph);

/** As the reclaimer has it unless told otherwise. */
const maxScrubs = 3;

/**
 * Which plugins run inside the control plane cannot be seen from outside. But a claim is marked for one of Kubernetes' own,
 * or a volume carries its name, only if it was there.
 */
function driverInferred(name: string, graph: ObjectGraph): DriverCapabilities | undefined {
  const isThere = isInTree(name) && (graph.claims.some((claim) => claim.provisioner === name) || graph.volumes.some((volume) => volume.provisionedBy === name));
  return isThere ? { name, provisions: true, deletes: true, mountOptions: false, block: false, expands: 'opt-in', attaches: false } : undefined;
}
