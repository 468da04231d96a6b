/** CSI migration: PVs of in-tree plugins, on nodes whose kubelets have migrated the plugin to its CSI driver. */
import type { CSINode, NodeSelectorRequirement, NodeSelectorTerm, PersistentVolume } from '../../api/generated/types.ts';
import { csiSourceOf, migratedPluginOf } from '../../api/volumes/csi-translation.ts';
import { type NodeTerms, nodeTermsOf } from '../../storage/volumes/topology.ts';
import type { Volume } from '../../storage/volumes/volume.ts';

/** The in-tree plugins with CSI migration, and the zone label of their CSI drivers; '': the usual label. */
const zoneLabels: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/aws-ebs', 'topology.ebs.csi.aws.com/zone'],
  ['kubernetes.io/gce-pd', 'topology.gke.io/zone'],
  ['kubernetes.io/cinder', 'topology.cinder.csi.openstack.org/zone'],
  ['kubernetes.io/azure-disk', ''],
  ['kubernetes.io/portworx-volume', ''],
]);

export const isMigratable = (plugin: string): boolean => zoneLabels.has(plugin);

/** The in-tree plugin of the PV, if it has CSI migration. */
export function migratablePluginOf(volume: Volume): string | undefined {
  const plugin = migratedPluginOf(volume.object);
  return plugin !== undefined && isMigratable(plugin) ? plugin : undefined;
}

const migratedPluginsAnnotation = 'storage.alpha.kubernetes.io/migrated-plugins';

export function migratedPluginsOf({ metadata }: CSINode): ReadonlySet<string> {
  const written = metadata.annotations?.[migratedPluginsAnnotation] ?? '';
  return new Set(written === '' ? [] : written.split(','));
}

const translations = new WeakMap<Volume, NodeTerms | 'untranslatable'>();

/** The PV's node affinity with the labels of the CSI driver. Undefined: no restriction. */
export function translatedNodeTerms(volume: Volume): NodeTerms | undefined | 'untranslatable' {
  const known = translations.get(volume);
  if (known !== undefined) return known;
  if (csiSourceOf(volume.object) === undefined) {
    translations.set(volume, 'untranslatable');
    return 'untranslatable';
  }
  const terms = translatedTerms(volume.object, zoneLabels.get(migratablePluginOf(volume) ?? '') ?? '');
  if (terms === undefined) return undefined;
  const nodes = nodeTermsOf({ nodeSelectorTerms: terms });
  translations.set(volume, nodes);
  return nodes;
}

const zone = 'topology.kubernetes.io/zone';
const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const betaRegion = 'failure-domain.beta.kubernetes.io/region';

/** Zone labels in the node affinity become the driver's; without any, the zones of the PV's labels are added. */
function translatedTerms({ metadata: { labels = {} }, spec }: PersistentVolume, driverZone: string): NodeSelectorTerm[] | undefined {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? undefined;
  if (driverZone === '') return terms === undefined ? undefined : [...terms];
  const requirements = (terms ?? []).flatMap(({ matchExpressions }) => matchExpressions ?? []);
  const asks = (key: string) => requirements.some((each) => each.key === key);
  const isBeta = !asks(zone) && (asks(betaZone) || (!Object.hasOwn(labels, zone) && Object.hasOwn(labels, betaZone)));
  const written = isBeta ? betaZone : zone;
  const hasValues = requirements.some(({ key, values }) => key === written && (values ?? []).length > 0);
  const added = hasValues ? [] : zonesOfLabel(labels[written], driverZone);
  const renamed = (key: string) => (hasValues && key === written ? driverZone : isBeta && key === betaRegion ? region : key);
  if (terms === undefined) return added.length === 0 ? undefined : [{ matchExpressions: added }];
  const targets: readonly NodeSelectorTerm[] = terms.length === 0 && added.length > 0 ? [{}] : terms;
  return targets.map((term) => {
    const matchExpressions = [...(term.matchExpressions ?? []).map((each) => ({ ...each, key: renamed(each.key) })), ...added];
    return matchExpressions.length === 0 ? term : { ...term, matchExpressions };
  });
}

function zonesOfLabel(label: string | undefined, key: string): NodeSelectorRequirement[] {
  const zones = (label ?? '').split('__').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  return zones.length === 0 ? [] : [{ key, operator: 'In', values: [...new Set(zones)].sort() }];
}
