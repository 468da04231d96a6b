import { type Flag, type FlagValues, UsageError } from './command.ts';
import { type NodeOptions, NodeSettingsError, nodeSettings, defaultNodes } from '../cluster/nodes/node-settings.ts';

export const nodeFlags: readonly Flag[] = [
  {
    name: 'nodes',
    value: 'N',
    about: 'how many nodes; more than one are hollow: nothing runs on them, everything else is real',
    default: `1 on which pods run, else ${defaultNodes.count} hollow ones; with --bare none`,
  },
  { name: 'zones', value: 'ZONE,…', about: 'where they are, in turn', default: defaultNodes.zones.join(',') },
  { name: 'region', value: 'REGION', about: 'where the zones are', default: defaultNodes.region },
  { name: 'node-capacity', value: 'cpu=N,…', about: 'what each node has of which resource', default: amounts(defaultNodes.capacity) },
  { name: 'volume-limit', value: 'N', about: 'how many volumes of each CSI driver a node can have', default: 'any number' },
  {
    name: 'csi-drivers',
    value: 'NAME,…',
    about: 'drivers that the nodes pretend to have: their volumes are provisioned, attached and mounted, and nothing is behind them',
    default: defaultNodes.csiDrivers.join(','),
  },
];

/** @throws UsageError */
export function nodeOptions(flags: FlagValues): NodeOptions {
  const zones = listOf(flags.text('zones'));
  const csiDrivers = listOf(flags.text('csi-drivers'));
  const capacity = capacityOf(flags.text('node-capacity'));
  const [count, volumeLimit] = [numberOf(flags, 'nodes'), numberOf(flags, 'volume-limit')];
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

function numberOf(flags: FlagValues, name: string): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} wants a whole number, not "${text}"`);
  return Number(text);
}

function capacityOf(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return undefined;
  return Object.fromEntries(
    text.split(',').map((part) => {
      const match = /^\s*([^=\s]+)\s*=\s*([^=\s]+)\s*$/.exec(part);
      if (match === null) throw new UsageError(`--node-capacity wants RESOURCE=AMOUNT,…, such as cpu=8,memory=32Gi, not "${part}"`);
      return [match[1] ?? '', match[2] ?? ''];
    }),
  );
}
