import { quantityValue, QuantityError } from '../../api/quantity.ts';
import { labelValueProblems } from '../../api/validation/names.ts';
import { validateResourceName, validateResourceQuantity } from '../../api/validation/resources.ts';
import { validateCsiDriverName } from '../../api/validation/volume-sources.ts';
import { type HollowSettings, maxNodes, maxPods } from '../../node/runtimes/hollow/hosts.ts';

/** The nodes of a cluster: hollow ones, on which nothing runs and everything else is as on real ones. */
export interface NodeOptions {
  /** Three unless said; none in a bare cluster. */
  readonly count?: number;
  /** Nodes are dealt out to them in turn. zone-a, zone-b, zone-c unless said. */
  readonly zones?: readonly string[];
  readonly region?: string;
  /** Of each node, by resource; what is left out has its usual amount. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** How many volumes of each CSI driver a node can have. Absent: any number. */
  readonly volumeLimit?: number;
  /** CSI drivers that the nodes pretend to have: their volumes are provisioned, attached and mounted, and nothing is behind them. */
  readonly csiDrivers?: readonly string[];
}

/** What was asked for cannot be; the message says what would be right. */
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
  check(Number.isInteger(count) && count >= 0 && count <= maxNodes, `the number of nodes is from 0 to ${maxNodes}, not ${count}`);
  for (const zone of zones) check(zone !== '' && labelValueProblems(zone).length === 0, `"${zone}" is no name for a zone: it must do as the value of a label`);
  check(labelValueProblems(region).length === 0, `"${region}" is no name for a region: it must do as the value of a label`);
  for (const [name, amount] of Object.entries(capacity)) checkAmount(name, amount);
  const isLimit = volumeLimit === undefined || (Number.isInteger(volumeLimit) && volumeLimit >= 0 && volumeLimit <= 2 ** 31 - 1);
  check(isLimit, `the number of volumes that a node can have is a whole number, not ${volumeLimit}`);
  for (const driver of drivers) check(validateCsiDriverName(driver, '').length === 0, `"${driver}" is no name for a CSI driver; one is "disk.example.com"`);
  return { count, zones: [...new Set(zones)], region, capacity, volumeLimit, drivers: [...new Set(drivers)] };
}

function checkAmount(name: string, amount: string): void {
  check(validateResourceName(name, '').length === 0, `"${name}" is no resource; one is "cpu", "memory" or "example.com/gpu"`);
  const isAmount = readable(amount) && validateResourceQuantity(name, amount, '').length === 0;
  check(isAmount, `"${amount}" is no amount of ${name}; one is "8" or "32Gi"`);
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
