import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { parseQuantity, quantityValue } from '../api/quantity.ts';
import { type SecretName, secretNames, type TestOptions } from '../csi-test/options.ts';
import { type Flag, type FlagValues, UsageError } from './command.ts';

export const csiTestFlags: readonly Flag[] = [
  { name: 'endpoint', value: 'unix:///PATH', about: 'where the driver listens', default: '{endpoint} of a driver that this command starts' },
  { name: 'controller-endpoint', value: 'unix:///PATH', about: 'where its controller service listens, if that is another socket' },
  { name: 'second-endpoint', value: 'unix:///PATH', about: 'the node service of a second node, which runs already' },
  { name: 'nodes', value: 'N', about: '2 starts DRIVER ARGS twice, with another {node} and {endpoint}: both must share their volumes', default: '1' },
  { name: 'access-type', value: 'TYPE', about: 'of the volumes: mount or block', oneOf: ['mount', 'block'], default: 'mount' },
  { name: 'volume-size', value: 'SIZE', about: 'of the volumes', default: '1Mi' },
  { name: 'parameters', value: 'FILE', about: 'YAML or JSON: the parameters of CreateVolume' },
  { name: 'mutable-parameters', value: 'FILE', about: 'YAML or JSON: those of ControllerModifyVolume' },
  { name: 'secrets', value: 'FILE', about: "YAML or JSON: secrets by call, in csi-sanity's format (CreateVolumeSecret: {user: admin})" },
  { name: 'watch', value: 'DIR,DIR', about: 'folders of the driver: files, mounts and loop devices that stay there have leaked', default: '{dir}' },
  { name: 'timeout', value: 'SECONDS', about: 'for each call, and until an interrupted call that is repeated has to succeed', default: '15' },
  { name: 'volumes', value: 'N', about: 'how many volumes are used at the same time', default: '8' },
  { name: 'pods', value: 'N', about: 'how many pods use one volume at the same time', default: '4' },
  { name: 'sequences', value: 'N', about: 'how many random sequences of calls', default: '10' },
  { name: 'seed', value: 'N', about: 'all random choices follow from it', default: '1' },
  { name: 'sequence', value: 'STEPS', about: 'only this sequence, as a failure prints it' },
  { name: 'focus', value: 'PATTERN', about: 'only cases whose name or part matches the regular expression' },
  { name: 'output', short: 'o', value: 'FORMAT', about: 'the format of the report: text, json or junit', oneOf: ['text', 'json', 'junit'], default: 'text' },
  { name: 'report', value: 'FILE', about: 'write the report there; standard output has the text' },
];

export interface CsiTestSettings {
  readonly drivers: readonly { readonly endpoint: string; readonly controllerEndpoint?: string; readonly command?: readonly string[] }[];
  /** Whether the driver's data lies in {dir}. */
  readonly usesDataDir: boolean;
  readonly options: TestOptions;
  readonly format: 'text' | 'json' | 'junit';
  readonly report?: string;
  readonly focus?: RegExp;
  readonly sequence?: string;
  /** This command line with other flags for the choice of cases. */
  readonly commandLine: (choice: readonly string[]) => string;
}

export async function readSettings(flags: FlagValues, workDir: string): Promise<CsiTestSettings> {
  const format = flags.text('output') ?? 'text';
  const [report, sequence] = [flags.text('report'), flags.text('sequence')];
  const focus = focusOf(flags.text('focus'));
  return {
    drivers: driversOf(flags, workDir),
    usesDataDir: flags.arguments.some((each) => each.includes('{dir}')),
    options: {
      volumeSize: sizeOf(flags.text('volume-size') ?? '1Mi'),
      accessType: flags.text('access-type') === 'block' ? 'block' : 'mount',
      parameters: await mapIn(flags, 'parameters'),
      mutableParameters: await mapIn(flags, 'mutable-parameters'),
      secrets: await secretsIn(flags),
      timeoutMs: numberOf(flags, 'timeout', { fallback: 15, least: 0.1, most: 3600 }) * 1000,
      seed: numberOf(flags, 'seed', { fallback: 1, least: 0, most: 2 ** 32 - 1 }),
      workDir,
      watched: watchedOf(flags, workDir),
      volumes: numberOf(flags, 'volumes', { fallback: 8, least: 1, most: 1000 }),
      pods: numberOf(flags, 'pods', { fallback: 4, least: 1, most: 100 }),
      sequences: numberOf(flags, 'sequences', { fallback: 10, least: 0, most: 100_000 }),
    },
    format: format === 'json' || format === 'junit' ? format : 'text',
    ...(report === undefined ? {} : { report }),
    ...(focus === undefined ? {} : { focus }),
    ...(sequence === undefined ? {} : { sequence }),
    commandLine: (choice) => commandLineOf(flags, choice),
  };
}

function driversOf(flags: FlagValues, workDir: string): CsiTestSettings['drivers'] {
  const [endpoint, controller, second] = ['endpoint', 'controller-endpoint', 'second-endpoint'].map((name) => endpointOf(name, flags.text(name)));
  const nodes = numberOf(flags, 'nodes', { fallback: 1, least: 1, most: 2 });
  const [program] = flags.arguments;
  if (program === undefined && endpoint === undefined) throw new UsageError('name the driver: -- DRIVER ARGS, or --endpoint unix:///PATH');
  if (program === undefined && nodes > 1) throw new UsageError('--nodes 2 needs -- DRIVER ARGS; a second node that runs already is --second-endpoint');
  if (nodes > 1 && !flags.arguments.some((each) => each.includes('{node}'))) throw new UsageError('--nodes 2 needs {node} in ARGS: two nodes have two names');
  const split = controller === undefined ? {} : { controllerEndpoint: controller };
  const started = Array.from({ length: nodes }, (_, index) => {
    const own = index === 0 && endpoint !== undefined ? endpoint : `unix://${workDir}/csi${index}.sock`;
    const command = flags.arguments.map((each) => replaced(each, { endpoint: own, workDir, node: `node-${index + 1}` }));
    return { endpoint: own, ...split, ...(program === undefined ? {} : { command }) };
  });
  return second === undefined ? started : [...started, { endpoint: second, ...split }];
}

const replaced = (text: string, { endpoint, workDir, node }: { endpoint: string; workDir: string; node: string }): string =>
  text
    .replaceAll('{endpoint}', endpoint)
    .replaceAll('{socket}', endpoint.slice('unix://'.length))
    .replaceAll('{dir}', path.join(workDir, 'data'))
    .replaceAll('{node}', node);

function endpointOf(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const socket = /^(?:unix:(?:\/\/)?)?(\/.+)$/.exec(text)?.[1];
  if (socket === undefined) throw new UsageError(`--${flag} must be a unix socket such as unix:///run/csi.sock, not "${text}"`);
  return `unix://${socket}`;
}

function watchedOf(flags: FlagValues, workDir: string): readonly string[] {
  const given = flags.text('watch');
  return given === undefined ? [path.join(workDir, 'data')] : given.split(',').map((each) => path.resolve(replaced(each, { endpoint: '', workDir, node: '' })));
}

function focusOf(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(`--focus must be a regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function sizeOf(text: string): bigint {
  let size: bigint;
  try {
    size = quantityValue(parseQuantity(text));
  } catch {
    throw new UsageError(`--volume-size must be a quantity such as 1Gi, not "${text}"`);
  }
  if (size <= 0n) throw new UsageError(`--volume-size must be positive, not "${text}"`);
  return size;
}

function numberOf(flags: FlagValues, name: string, { fallback, least, most }: { fallback: number; least: number; most: number }): number {
  const text = flags.text(name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!(value >= least && value <= most) || (least >= 1 && !Number.isInteger(value)))
    throw new UsageError(`--${name} must be a number from ${least} to ${most}, not "${text}"`);
  return value;
}

async function fileOf(flags: FlagValues, flag: string): Promise<unknown> {
  const file = flags.text(flag);
  if (file === undefined) return {};
  try {
    return parse(await readFile(file, 'utf8')) ?? {};
  } catch (error) {
    throw new UsageError(`--${flag} ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function mapIn(flags: FlagValues, flag: string): Promise<Readonly<Record<string, string>>> {
  return textMap(await fileOf(flags, flag), `--${flag}`);
}

function textMap(value: unknown, where: string): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UsageError(`${where} must be a map of strings`);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: readonly [string, unknown]) => {
      if (typeof each !== 'string' && typeof each !== 'number' && typeof each !== 'boolean') throw new UsageError(`${where}: ${key} must be a string`);
      return [key, String(each)];
    }),
  );
}

async function secretsIn(flags: FlagValues): Promise<TestOptions['secrets']> {
  const given = await fileOf(flags, 'secrets');
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new UsageError('--secrets must be a map of maps: CreateVolumeSecret: {user: admin}');
  const isName = (name: string): name is SecretName => secretNames.some((each) => each === name);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]: readonly [string, unknown]) => {
      if (!isName(name)) throw new UsageError(`--secrets: there are no ${name}, only ${secretNames.join(', ')}`);
      return [name, textMap(value, `--secrets: ${name}`)];
    }),
  );
}

/** The flags that choose cases are replaced, and all others kept. */
function commandLineOf(flags: FlagValues, choice: readonly string[]): string {
  const replacedFlags = new Set(['focus', 'seed', 'sequence', 'sequences', 'output', 'report']);
  const kept = csiTestFlags.flatMap(({ name }) => {
    const value = flags.text(name);
    return value === undefined || replacedFlags.has(name) ? [] : [`--${name}`, value];
  });
  const program = flags.arguments.length === 0 ? [] : ['--', ...flags.arguments];
  return ['moor', 'csi', 'test', ...kept, ...choice, ...program].map(quoted).join(' ');
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
