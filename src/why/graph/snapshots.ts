/** The snapshots of the storage controllers, made from an object graph, so that `moor why` can ask for their decisions. */
import type { ProvisionerSnapshot } from '../../storage/provisioner/decide.ts';
import type { ReclaimerSnapshot } from '../../storage/reclaimer/decide.ts';
import { recyclerPodName, recyclerNamespace } from '../../storage/reclaimer/recycler-pod.ts';
import { podToSchedule, type BinderSnapshot } from '../../storage/binder/decide.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { defaultClassOf } from '../../api/volumes/storage-class.ts';
import type { ObjectGraph } from './object-graph.ts';

/** No event was recorded yet, so that a decision does not depend on Events. */
const lastEvent = () => undefined;

export const binderSnapshot = (graph: ObjectGraph): BinderSnapshot => ({
  mode: 'plain',
  lastEvent,
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

export const provisionerSnapshot = (graph: ObjectGraph): ProvisionerSnapshot => ({
  lastEvent,
  volume: (name) => graph.volume(name),
  class: (name) => graph.class(name),
  bestFit: (claim, options) => graph.bestFit(claim, options),
  // A node is missing only if the nodes were read.
  hasNode: (name) => !graph.wasRead('nodes') || graph.node(name) !== undefined,
  driver: (name) => driverInferred(name, graph),
});

export const reclaimerSnapshot = (graph: ObjectGraph): ReclaimerSnapshot => ({
  lastEvent,
  maxRecycles,
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
  hasNodes: () => graph.nodes.length > 0,
  podsUsing: (key) =>
    graph
      .podsUsing(key)
      .filter((pod) => !hasEnded(pod))
      .map(({ metadata }) => claimKey(metadata.namespace ?? '', metadata.name))
      .sort(),
});

/** The drivers that expand volumes inside the control plane. */
export const expanderSnapshot =
  (graph: ObjectGraph) =>
  (name: string): DriverCapabilities | undefined =>
    driverInferred(name, graph);

/** The reclaimer's default. */
const maxRecycles = 3;

/**
 * The in-tree plugins of the control plane have no API object. But a claim or volume is annotated with the name of one only if that plugin
 * ran.
 */
function driverInferred(name: string, graph: ObjectGraph): DriverCapabilities | undefined {
  const isThere = isInTree(name) && (graph.claims.some((claim) => claim.provisioner === name) || graph.volumes.some((volume) => volume.provisionedBy === name));
  return isThere ? { name, provisions: true, deletes: true, mountOptions: false, block: false, expands: 'opt-in', attaches: false } : undefined;
}
