import { defaultNodes, type NodeOptions, NodeSettingsError, nodeSettings } from '../cluster/nodes/node-settings.ts';
import { type Flag, type FlagValues, UsageError } from './command.ts';
import { wholeNumber } from './shared-flags.ts';

export const nodeFlags: readonly Flag[] = [
  {
    name: 'nodes',
    value: 'N',
    about: 'how many nodes; more than one are hollow: no process runs on them, everything else is real',
    default: `1 if pods can run on this machine, else ${defaultNodes.count} hollow ones; none with --bare`,
  },
  { name: 'zones', value: 'ZONE,…', about: 'the zones of the nodes, round-robin', default: defaultNodes.zones.join(',') },
  { name: 'region', value: 'REGION', about: 'the region of the zones', default: defaultNodes.region },
  { name: 'node-capacity', value: 'cpu=N,…', about: 'the capacity of each node', default: amounts(defaultNodes.capacity) },
  { name: 'volume-limit', value: 'N', about: 'how many volumes of each CSI driver can be attached to a node', default: 'no limit' },
  {
    name: 'csi-drivers',
    value: 'NAME,…',
    about: 'CSI drivers of hollow nodes: their volumes are provisioned, attached and mounted, without a backend',
    default: defaultNodes.csiDrivers.join(','),
  },
];

/** @throws UsageError */
export function nodeOptions(flags: FlagValues): NodeOptions {
  const zones = listOf(flags.text('zones'));
  const csiDrivers = listOf(flags.text('csi-drivers'));
  const capacity = capacityOf(flags.text('node-capacity'));
  const [count, volumeLimit] = [wholeNumber(flags, 'nodes'), wholeNumber(flags, 'volume-limit')];
  const region = flags.text('region');
  const options: NodeOptions = {
    ...(count === undefined ? {} : { count }),
    ...(zones === undefined ? {} : { zones }),
    ...(region === undefined ? {} : { region }),
    ...(capacity === undefined ? {} : { capacity }),
    ...(volumeLimit === undefined ? {} : { volumeLimit }),
    ...(csiDrivers === undefined ? {} : { csiDrivers }),
  };
  try {
    nodeSettings(options);
    return options;
  } catch (error) {
    if (error instanceof NodeSettingsError) throw new UsageError(error.message);
    throw error;
  }
}

function amounts(capacity: Readonly<Record<string, string>>): string {
  return Object.entries(capacity)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',');
}

const listOf = (text: string | undefined): readonly string[] | undefined => text?.split(',').map((part) => part.trim());

function capacityOf(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return undefined;
  return Object.fromEntries(
    text.split(',').map((part) => {
      const match = /^\s*([^=\s]+)\s*=\s*([^=\s]+)\s*$/.exec(part);
      if (match === null) throw new UsageError(`--node-capacity must be RESOURCE=QUANTITY,…, such as cpu=8,memory=32Gi, not "${part}"`);
      return [match[1] ?? '', match[2] ?? ''];
    }),
  );
}
