/** What each controller would see of the objects, so that its decision can be asked for. */
import type { Seen as ProvisionerSeen } from '../controllers/provisioner/decide.ts';
import type { Seen as ReclaimerSeen } from '../controllers/reclaimer/decide.ts';
import { scrubberName, scrubberNamespace } from '../controllers/reclaimer/scrubber.ts';
import { podToSchedule, type Seen as BinderSeen } from '../controllers/volume-binder/decide.ts';
import { claimKey } from '../domain/volumes/claim.ts';
import type { DriverFacts } from '../domain/volumes/driver-facts.ts';
import { isInTree } from '../domain/volumes/migration.ts';
import { hasEnded } from '../domain/volumes/pods.ts';
import { defaultClassOf } from '../domain/volumes/storage-class.ts';
import type { Sight } from './sight.ts';

/** Nobody was told anything: that is how a decision is made anew, whatever Events there are. */
const told = () => undefined;

export const binderSeen = (sight: Sight): BinderSeen => ({
  mode: 'plain',
  told,
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

export const provisionerSeen = (sight: Sight): ProvisionerSeen => ({
  told,
  volume: (name) => sight.volume(name),
  class: (name) => sight.class(name),
  bestFit: (claim, options) => sight.bestFit(claim, options),
  // What was not looked at is not missed.
  hasNode: (name) => !sight.sees('nodes') || sight.node(name) !== undefined,
  driver: (name) => driverInferred(name, sight),
});

export const reclaimerSeen = (sight: Sight): ReclaimerSeen => ({
  told,
  maxScrubs,
  claim: (key) => sight.claim(key),
  intent: (name) => sight.intentFor(name),
  attachedTo: (name) =>
    sight
      .attachmentsOf(name)
      .map(({ spec }) => spec.nodeName)
      .sort(),
  driver: (name) => driverInferred(name, sight),
  scrubber: (name) => sight.pods.find(({ metadata }) => metadata.namespace === scrubberNamespace && metadata.name === scrubberName(name)),
  scrubberEvents: () => [],
  podsUsing: (key) =>
    sight
      .podsUsing(key)
      .filter((pod) => !hasEnded(pod))
      .map(({ metadata }) => claimKey(metadata.namespace ?? '', metadata.name ?? ''))
      .sort(),
});

/** Which drivers make volumes larger in the control plane itself. */
export const expanderSeen =
  (sight: Sight) =>
  (name: string): DriverFacts | undefined =>
    driverInferred(name, sight);

/** As the reclaimer has it unless told otherwise. */
const maxScrubs = 3;

/**
 * Which plugins run inside the control plane cannot be seen from outside. But a claim is marked for one of Kubernetes' own,
 * or a volume carries its name, only if it was there.
 */
function driverInferred(name: string, sight: Sight): DriverFacts | undefined {
  const isThere = isInTree(name) && (sight.claims.some((claim) => claim.provisioner === name) || sight.volumes.some((volume) => volume.provisionedBy === name));
  return isThere ? { name, provisions: true, deletes: true, mountOptions: false, block: false, expands: 'opt-in', attaches: false } : undefined;
}
