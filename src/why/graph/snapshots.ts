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

export const binderSnapshot = (sight: ObjectGraph): BinderSeen => ({
  mode: 'plain',
  lastEvent: told,
  volume: (name) => sight.volume(name),
  claim: (key) => sight.claim(key),
  ownerOf: (name) => sight.ownerOf(name),
  class: (name) => sight.class(name),
  defaultClass: () => defaultClassOf(sight.classes),
  bestFit: (claim, options) => sight.bestFit(claim, options),
  offeredTo: () => undefined,
  podsToSchedule: (key) =>
    sight
      .podsUsing(key)
      .filter((pod) => (pod.spec.nodeName ?? '') === '' && !hasEnded(pod))
      .map(podToSchedule),
});

export const provisionerSnapshot = (sight: ObjectGraph): ProvisionerSeen => ({
  lastEvent: told,
  volume: (name) => sight.volume(name),
  class: (name) => sight.class(name),
  bestFit: (claim, options) => sight.bestFit(claim, options),
  // What was not looked at is not missed.
  hasNode: (name) => !sight.wasRead('nodes') || sight.node(name) !== undefined,
  driver: (name) => driverInferred(name, sight),
});

export const reclaimerSnapshot = (sight: ObjectGraph): ReclaimerSeen => ({
  lastEvent: told,
  maxRecycles: maxScrubs,
  claim: (key) => sight.claim(key),
  intent: (name) => sight.intentFor(name),
  attachedTo: (name) =>
    sight
      .attachmentsOf(name)
      .map(({ spec }) => spec.nodeName)
      .sort(),
  driver: (name) => driverInferred(name, sight),
  recyclerPod: (name) => sight.pods.find(({ metadata }) => metadata.namespace === recyclerNamespace && metadata.name === recyclerPodName(name)),
  recyclerPodEvents: () => [],
  podsUsing: (key) =>
    sight
      .podsUsing(key)
      .filter((pod) => !hasEnded(pod))
      .map(({ metadata }) => claimKey(metadata.namespace ?? '', metadata.name ?? ''))
      .sort(),
});

/** Which drivers make volumes larger in the control plane itself. */
export const expanderSnapshot =
  (sight: ObjectGraph) =>
  (name: string): DriverCapabilities | undefined =>
    driverInferred(name, sight);

/** As the reclaimer has it unless told otherwise. */
const maxScrubs = 3;

/**
 * Which plugins run inside the control plane cannot be seen from outside. But a claim is marked for one of Kubernetes' own,
 * or a volume carries its name, only if it was there.
 */
function driverInferred(name: string, sight: ObjectGraph): DriverCapabilities | undefined {
  const isThere = isInTree(name) && (sight.claims.some((claim) => claim.provisioner === name) || sight.volumes.some((volume) => volume.provisionedBy === name));
  return isThere ? { name, provisions: true, deletes: true, mountOptions: false, block: false, expands: 'opt-in', attaches: false } : undefined;
}
