import type { PersistentVolume } from '../../api/generated/types.ts';
import type { Labels } from '../../api/selectors/label-selector.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import { classOfClaim, nameOfClass, waitsForConsumer } from '../../api/volumes/storage-class.ts';
import {
  type ClusterEvent,
  type ClusterSnapshot,
  type CyclePlugin,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type Rejection,
  rejection,
  type RejectionReason,
} from '../framework.ts';
import { claimMissing } from '../volume-binding/pod-claims.ts';

const name = 'VolumeZone';

/** VolumeZone: the zone and region labels of PVs, from before PVs had a node affinity. */
export const volumeZone: Plugin = {
  name,
  preFilter: (pod, snapshot) => {
    const zones = zonesOfPod(pod, snapshot);
    if ('code' in zones) return zones;
    return zones.length === 0 ? 'skip' : new Zones(zones);
  },
  queueingHints: { events: ['storageClass', 'claim', 'volume', 'node'], hint: queueingHint },
};

const topologyLabels = [
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
] as const;

const successors: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};

interface VolumeZones {
  readonly volumeName: string;
  readonly label: string;
  readonly values: ReadonlySet<string>;
}

/** Ephemeral claims are not checked, as in Kubernetes. */
function zonesOfPod(pod: PodInfo, { views }: ClusterSnapshot): readonly VolumeZones[] | Rejection {
  const zones: VolumeZones[] = [];
  for (const { persistentVolumeClaim } of pod.pod.spec.volumes ?? []) {
    if (persistentVolumeClaim === undefined) continue;
    const { claimName } = persistentVolumeClaim;
    if (claimName === '') return refused({ text: 'PersistentVolumeClaim had no name', rule: 'claimMissing' });
    const claim = views.claim.getKey(claimKey(pod.namespace, claimName));
    if (claim === undefined) return refused(claimMissing(claimName));
    const volumeName = claim.spec.volumeName ?? '';
    if (volumeName === '') {
      const reason = whyUnbound(nameOfClass(classOfClaim(claim)), views);
      if (reason !== undefined) return refused(reason);
      continue;
    }
    const volume = views.volume.getKey(volumeName);
    if (volume === undefined) return refused({ text: `persistentvolume "${volumeName}" not found`, rule: 'volumeMissing' });
    zones.push(...zonesOf(volume));
  }
  return zones;
}

const refused = (reason: RejectionReason): Rejection => rejection('unresolvable', name, reason);

function whyUnbound(className: string, views: ClusterSnapshot['views']): RejectionReason | undefined {
  if (className === '') return { text: 'PersistentVolumeClaim had no pv name and storageClass name', rule: 'claimUnbound' };
  const storageClass = views.storageClass.getKey(className);
  if (storageClass === undefined) return { text: `storageclass.storage.k8s.io "${className}" not found`, rule: 'classMissing' };
  return waitsForConsumer(storageClass) ? undefined : { text: 'PersistentVolume had no name', rule: 'claimUnbound' };
}

function zonesOf({ metadata: { name: volumeName = '', labels = {} } }: PersistentVolume): readonly VolumeZones[] {
  return topologyLabels.flatMap((label) => {
    if (!Object.hasOwn(labels, label)) return [];
    const values = (labels[label] ?? '').split('__').map((value) => value.trim());
    // A malformed label is ignored.
    return values.includes('') ? [] : [{ volumeName, label, values: new Set(values) }];
  });
}

class Zones implements CyclePlugin {
  readonly #zones: readonly VolumeZones[];
  readonly #conflict: Rejection;

  constructor(zones: readonly VolumeZones[]) {
    this.#zones = zones;
    this.#conflict = rejection('unresolvable', name, { text: 'node(s) had no available volume zone', rule: 'volumeZone', detail: () => detailOf(zones) });
  }

  filter({ labels }: NodeInfo): Rejection | undefined {
    // A node without such labels passes: the cluster has one zone.
    if (labels === undefined || !topologyLabels.some((label) => Object.hasOwn(labels, label))) return undefined;
    return this.#zones.every((zones) => isWithin(labels, zones)) ? undefined : this.#conflict;
  }
}

function isWithin(labels: Labels, { label, values }: VolumeZones): boolean {
  const known = Object.hasOwn(labels, label) ? label : (successors[label] ?? label);
  return Object.hasOwn(labels, known) && values.has(labels[known] ?? '');
}

function detailOf(zones: readonly VolumeZones[]) {
  const shown = zones.map(({ volumeName, label, values }) => `volume "${volumeName}" is in ${label}=${[...values].join(' or ')}`);
  const [first] = zones;
  return { found: `is in another zone: ${shown.join(', ')}`, wanted: "the volumes' zone", object: `pv/${first?.volumeName ?? ''}` };
}

function queueingHint(pod: PodInfo, change: ClusterEvent): boolean {
  switch (change.resource) {
    case 'storageClass':
      // The binding mode is immutable, but a class may be deleted and created again.
      return waitsForConsumer(change.after) && !waitsForConsumer(change.before);
    case 'claim': {
      const { namespace = '', name: claimName = '' } = change.after?.metadata ?? {};
      return change.after !== undefined && pod.namedClaims.includes(claimKey(namespace, claimName));
    }
    case 'volume':
      return change.after !== undefined && (change.before === undefined || shown(change.before) !== shown(change.after));
    case 'node':
      return change.after !== undefined && (change.before === undefined || shown(change.before) !== shown(change.after));
    default:
      return false;
  }
}

/** The topology labels, as text. */
const shown = ({ metadata: { labels = {} } }: { readonly metadata: { readonly labels?: Labels } }): string =>
  topologyLabels.map((label) => (Object.hasOwn(labels, label) ? `=${labels[label] ?? ''}` : '')).join();
