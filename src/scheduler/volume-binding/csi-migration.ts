/** Volumes of plugins that left Kubernetes' tree, on nodes whose kubelets hand them to the drivers that took over. */
import type { CSINode, NodeSelectorRequirement, NodeSelectorTerm, PersistentVolume } from '../../api/generated/types.ts';
import { csiSourceOf, migratedPluginOf } from '../../api/volumes/csi-translation.ts';
import { type NodeTerms, nodeTermsOf } from '../../storage/volumes/topology.ts';
import type { Volume } from '../../storage/volumes/volume.ts';

/** The plugins that the scheduler takes for migrated, and the label by which their drivers call a zone; '' if they keep the usual one. */
const zoneLabels: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/aws-ebs', 'topology.ebs.csi.aws.com/zone'],
  ['kubernetes.io/gce-pd', 'topology.gke.io/zone'],
  ['kubernetes.io/cinder', 'topology.cinder.csi.openstack.org/zone'],
  ['kubernetes.io/azure-disk', ''],
  ['kubernetes.io/portworx-volume', ''],
]);

export const isMigratable = (plugin: string): boolean => zoneLabels.has(plugin);

/** The plugin of the volume, if nodes may differ in what they make of it. */
export function migratablePluginOf(volume: Volume): string | undefined {
  const plugin = migratedPluginOf(volume.object);
  return plugin !== undefined && isMigratable(plugin) ? plugin : undefined;
}

const migratedPluginsAnnotation = 'storage.alpha.kubernetes.io/migrated-plugins';

/** The plugins that a node has handed over. */
export function migratedPluginsOf({ metadata }: CSINode): ReadonlySet<string> {
  const written = metadata.annotations?.[migratedPluginsAnnotation] ?? '';
  return new Set(written === '' ? [] : written.split(','));
}

const translations = new WeakMap<Volume, NodeTerms | 'untranslatable'>();

/** Which nodes reach the volume once its driver looks after it. Undefined: all. */
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

/** Zones of the node affinity are called as the driver calls them; if there are none, those of the labels are taken. */
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
