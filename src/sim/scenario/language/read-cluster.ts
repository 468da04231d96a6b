/** The section `cluster` of a scenario. */
import type { StorageClass, Taint } from '../../../api/generated/types.ts';
import { nodeSettings, NodeSettingsError, defaultNodes } from '../../../cluster/nodes/node-settings.ts';
import { durationOf, scriptSteps } from './script-step.ts';
import { type LocatedYaml } from './located-yaml.ts';
import { PhraseError } from './phrase.ts';
import type { ClusterPlan, DriverPlan, NodePlan } from './scenario.ts';

export interface ReadCluster {
  readonly plan: ClusterPlan;
  readonly classes: readonly { readonly object: StorageClass; readonly written: LocatedYaml }[];
}

export const usualDriver = 'disks.example.com';
const usualTakes = { create: 2000, delete: 1000, attach: 1000, detach: 1000, resize: 1000 } as const;
const mostNodes = 500;

/** @throws ScenarioFileError */
export function readCluster(written: LocatedYaml | undefined, fromCluster: boolean): ReadCluster {
  if (fromCluster) return readAdditions(written);
  const fields = written?.fields(['zones', 'region', 'nodes', 'nodesPerZone', 'capacity', 'attachLimit', 'drivers', 'storageClasses']) ?? {};
  const zones = fields.zones?.items().map((zone) => zone.text()) ?? defaultNodes.zones;
  const region = fields.region?.text() ?? defaultNodes.region;
  const shared = { capacity: textsOf(fields.capacity), attachLimit: fields.attachLimit?.integer(0, 100_000) };
  const drivers = fields.drivers?.items().map(readDriver) ?? [driverOf(usualDriver)];
  const nodes = readNodes({ ...fields, shared, zones });
  checkSettings(written, { zones, region, capacity: shared.capacity, csiDrivers: drivers.map(({ name }) => name) });
  const classes = fields.storageClasses?.items().map((each) => ({ object: readClass(each, drivers), written: each })) ?? [];
  return { plan: { region, nodes, drivers }, classes };
}

/** Additions to a cluster that has nodes, zones and drivers already. */
function readAdditions(written: LocatedYaml | undefined): ReadCluster {
  const [excess] = written?.entries().filter(([field]) => field !== 'drivers' && field !== 'storageClasses') ?? [];
  if (excess !== undefined)
    throw excess[1].error('with --from-cluster, nodes and zones are those of that cluster; only drivers and storageClasses can be set here');
  const fields = written?.fields(['drivers', 'storageClasses']) ?? {};
  const drivers = fields.drivers?.items().map(readDriver) ?? [];
  const classes = fields.storageClasses?.items().map((each) => ({ object: readClass(each, drivers), written: each })) ?? [];
  return { plan: { region: '', nodes: [], drivers }, classes };
}

/** Checks by the rules of `moor up`. */
function checkSettings(written: LocatedYaml | undefined, settings: Parameters<typeof nodeSettings>[0]): void {
  try {
    nodeSettings({ count: 1, ...settings });
  } catch (error) {
    if (!(error instanceof NodeSettingsError) || written === undefined) throw error;
    throw written.error(error.message);
  }
}

interface NodesWritten {
  readonly nodes?: LocatedYaml;
  readonly nodesPerZone?: LocatedYaml;
  readonly shared: Pick<NodePlan, 'capacity' | 'attachLimit'>;
  readonly zones: readonly string[];
}

function readNodes({ nodes, nodesPerZone, shared, zones }: NodesWritten): readonly NodePlan[] {
  if (nodes !== undefined && nodesPerZone !== undefined) throw nodesPerZone.error('nodes gives the number already: use one of the two');
  if (nodes?.isList === true) return named(nodes.items(), { shared, zones });
  const count = nodes?.integer(0, mostNodes) ?? (nodesPerZone?.integer(0, mostNodes) ?? 1) * Math.max(zones.length, 1);
  return Array.from({ length: count }, (_, i) => ({ name: `node-${i + 1}`, zone: zones[i % zones.length] ?? '', labels: {}, taints: [], ...shared }));
}

function named(items: readonly LocatedYaml[], { shared, zones }: Pick<NodesWritten, 'shared' | 'zones'>): readonly NodePlan[] {
  const names = new Set<string>();
  return items.map((item, i) => {
    const fields = item.fields(['name', 'zone', 'labels', 'capacity', 'taints', 'attachLimit']);
    const name = fields.name?.text() ?? `node-${i + 1}`;
    if (names.has(name)) throw (fields.name ?? item).error(`there are two nodes "${name}"`);
    names.add(name);
    return {
      name,
      zone: fields.zone?.text() ?? zones[i % zones.length] ?? '',
      labels: textsOf(fields.labels),
      capacity: { ...shared.capacity, ...textsOf(fields.capacity) },
      taints: fields.taints?.items().map(readTaint) ?? [],
      attachLimit: fields.attachLimit?.integer(0, 100_000) ?? shared.attachLimit,
    };
  });
}

/** As kubectl taint takes them: 'key=value:Effect'. */
function readTaint(written: LocatedYaml): Taint {
  const made = phrased(written, () => scriptSteps.read(`taint node ${written.text()}`));
  if (made.type !== 'taint') throw written.error('this is no taint');
  return made.taint;
}

function textsOf(written: LocatedYaml | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(written?.entries().map(([key, value]) => [key, value.text()]) ?? []);
}

export function driverOf(name: string): DriverPlan {
  return { name, takes: usualTakes, zonal: true, attaches: true };
}

function readDriver(written: LocatedYaml): DriverPlan {
  if (!written.isMap) return driverOf(written.text());
  const { name, zonal, attaches, ...calls } = written.fields(['name', 'zonal', 'attaches', 'create', 'delete', 'attach', 'detach', 'resize']);
  if (name === undefined) throw written.error('the name is missing; one is disks.example.com');
  const takes = Object.fromEntries(Object.entries(calls).map(([call, time]) => [call, phrased(time, () => durationOf(time.text()))]));
  return { name: name.text(), takes: { ...usualTakes, ...takes }, zonal: zonal?.boolean() ?? true, attaches: attaches?.boolean() ?? true };
}

/** @throws ScenarioFileError for an invalid phrase */
export function phrased<T>(written: LocatedYaml, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PhraseError)) throw error;
    throw written.error(error.message);
  }
}

const zoneLabel = 'topology.kubernetes.io/zone';

/** The usual fields; a StorageClass among the objects can have all of them. */
function readClass(written: LocatedYaml, drivers: readonly DriverPlan[]): StorageClass {
  const fields = written.fields(['name', 'driver', 'binding', 'reclaim', 'expand', 'default', 'zones']);
  if (fields.name === undefined) throw written.error('the name is missing');
  const oneOf = <T extends string>(field: LocatedYaml | undefined, allowed: readonly T[]): T | undefined => {
    const value = field?.text();
    const found = allowed.find((each) => each === value);
    if (field !== undefined && found === undefined) throw field.error(`it is one of ${allowed.join(', ')}, not "${value}"`);
    return found;
  };
  const zones = fields.zones?.items().map((zone) => zone.text());
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: fields.name.text(),
      ...(fields.default?.boolean() === true ? { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } : {}),
    },
    provisioner: fields.driver?.text() ?? drivers[0]?.name ?? usualDriver,
    reclaimPolicy: oneOf(fields.reclaim, ['Delete', 'Retain']) ?? 'Delete',
    volumeBindingMode: oneOf(fields.binding, ['Immediate', 'WaitForFirstConsumer']) ?? 'WaitForFirstConsumer',
    ...(fields.expand === undefined ? {} : { allowVolumeExpansion: fields.expand.boolean() }),
    ...(zones === undefined ? {} : { allowedTopologies: [{ matchLabelExpressions: [{ key: zoneLabel, values: zones }] }] }),
  };
}
