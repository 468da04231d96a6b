import { quantityValue, QuantityError } from '../../api/quantity.ts';
import { labelValueProblems } from '../../api/validation/names.ts';
import { validateResourceName, validateResourceQuantity } from '../../api/validation/resources.ts';
import { validateCsiDriverName } from '../../api/validation/volume-sources.ts';
import { type HollowSettings, maxNodes, maxPods } from '../../node/runtimes/hollow/hosts.ts';

/** The hollow nodes of a cluster: no process runs on them, and everything else is as on real nodes. */
export interface NodeOptions {
  /** Default: three; none in a bare cluster. */
  readonly count?: number;
  /** Nodes are assigned to them round-robin. Default: zone-a, zone-b, zone-c. */
  readonly zones?: readonly string[];
  readonly region?: string;
  /** Of each node, by resource; the others have their defaults. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** How many volumes of each CSI driver can be attached to a node. Default: no limit. */
  readonly volumeLimit?: number;
  /** CSI drivers without a backend: their volumes are provisioned, attached and mounted as any other. */
  readonly csiDrivers?: readonly string[];
}

/** The options are not valid; the message says what would be. */
export class NodeSettingsError extends Error {}

export const defaultNodes = {
  count: 3,
  zones: ['zone-a', 'zone-b', 'zone-c'],
  region: 'local',
  capacity: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: '110' },
  csiDrivers: ['hollow.csi.mooring.dev'],
} as const;

/** @throws NodeSettingsError */
export function nodeSettings(options: NodeOptions = {}, bare = false): HollowSettings {
  const { count = bare ? 0 : defaultNodes.count, zones = defaultNodes.zones, region = defaultNodes.region, volumeLimit } = options;
  const capacity = { ...defaultNodes.capacity, ...options.capacity };
  const drivers = options.csiDrivers ?? defaultNodes.csiDrivers;
  check(Number.isInteger(count) && count >= 0 && count <= maxNodes, `the number of nodes must be from 0 to ${maxNodes}, not ${count}`);
  for (const zone of zones) check(zone !== '' && labelValueProblems(zone).length === 0, `"${zone}" is not a valid zone: it must be a valid label value`);
  check(labelValueProblems(region).length === 0, `"${region}" is not a valid region: it must be a valid label value`);
  for (const [name, amount] of Object.entries(capacity)) checkAmount(name, amount);
  const isLimit = volumeLimit === undefined || (Number.isInteger(volumeLimit) && volumeLimit >= 0 && volumeLimit <= 2 ** 31 - 1);
  check(isLimit, `the volume limit of a node must be a whole number, not ${volumeLimit}`);
  for (const driver of drivers) check(validateCsiDriverName(driver, '').length === 0, `"${driver}" is not a valid CSI driver name, such as "disk.example.com"`);
  return { count, zones: [...new Set(zones)], region, capacity, volumeLimit, drivers: [...new Set(drivers)] };
}

function checkAmount(name: string, amount: string): void {
  check(validateResourceName(name, '').length === 0, `"${name}" is not a valid resource name, such as "cpu", "memory" or "example.com/gpu"`);
  const isAmount = readable(amount) && validateResourceQuantity(name, amount, '').length === 0;
  check(isAmount, `"${amount}" is not a valid quantity of ${name}, such as "8" or "32Gi"`);
  if (name === 'pods') check(quantityValue(amount) <= BigInt(maxPods), `a node has at most ${maxPods} pods, not ${amount}`);
}

function readable(amount: string): boolean {
  try {
    quantityValue(amount);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

function check(isRight: boolean, otherwise: string): void {
  if (!isRight) throw new NodeSettingsError(otherwise);
}
