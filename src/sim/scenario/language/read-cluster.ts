/** The section `cluster` of a scenario. */
import type { StorageClass } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { ebsDriverName } from '../../../drivers/aws-ebs/driver.ts';
import { nodeSettings, NodeSettingsError, defaultNodes } from '../../../cluster/nodes/node-settings.ts';
import { durationOf } from './duration.ts';
import { readCloud, readNodePool, usualNodeClass } from './read-cloud.ts';
import { phrased, readTaint, textsOf } from './read-values.ts';
import { type LocatedYaml } from './located-yaml.ts';
import type { ClusterPlan, DriverPlan, NodePlan } from './scenario.ts';

export interface ReadCluster {
  readonly plan: ClusterPlan;
  /** Objects in a short form: classes, NodePools. */
  readonly classes: readonly { readonly object: KubeObject; readonly written: LocatedYaml }[];
}

export const usualDriver = 'disks.example.com';
const usualTakes = { create: 2000, delete: 1000, attach: 1000, detach: 1000, resize: 1000 } as const;
const mostNodes = 500;

/** @throws ScenarioFileError */
export function readCluster(written: LocatedYaml | undefined, fromCluster: boolean): ReadCluster {
  if (fromCluster) return readAdditions(written);
  const fields =
    written?.fields(['zones', 'region', 'nodes', 'nodesPerZone', 'capacity', 'attachLimit', 'drivers', 'storageClasses', 'cloud', 'nodePools']) ?? {};
  if (fields.cloud !== undefined) return readCloudCluster(fields.cloud, fields);
  if (fields.nodePools !== undefined) throw fields.nodePools.error('nodes are launched by the autoscaler of a cloud: set cloud, too');
  const zones = fields.zones?.items().map((zone) => zone.text()) ?? defaultNodes.zones;
  const region = fields.region?.text() ?? defaultNodes.region;
  const shared = { capacity: textsOf(fields.capacity), attachLimit: fields.attachLimit?.integer(0, 100_000) };
  const drivers = fields.drivers?.items().map(readDriver) ?? [driverOf(usualDriver)];
  const nodes = readNodes({ ...fields, shared, zones });
  checkSettings(written, { zones, region, capacity: shared.capacity, csiDrivers: drivers.map(({ name }) => name) });
  const classes = fields.storageClasses?.items().map((each) => ({ object: readClass(each, drivers), written: each })) ?? [];
  return { plan: { region, nodes, drivers }, classes };
}

/** A cluster whose nodes are the instances of a cloud. */
function readCloudCluster(written: LocatedYaml, fields: Readonly<Partial<Record<string, LocatedYaml>>>): ReadCluster {
  for (const name of ['zones', 'region', 'nodes', 'nodesPerZone', 'capacity', 'attachLimit', 'drivers'])
    if (fields[name] !== undefined) throw fields[name].error(`nodes, zones and drivers are those of the cloud: ${name} cannot be set here`);
  const cloud = readCloud(written);
  const drivers = [driverOf(ebsDriverName)];
  const classes = fields.storageClasses?.items().map((each) => ({ object: readClass(each, drivers), written: each })) ?? [];
  const pools = fields.nodePools?.items().map((each) => ({ object: readNodePool(each), written: each })) ?? [];
  const nodeClass = pools.length === 0 ? [] : [{ object: usualNodeClass, written }];
  return { plan: { region: cloud.region, nodes: [], drivers: [], cloud }, classes: [...classes, ...nodeClass, ...pools] };
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
