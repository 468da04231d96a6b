/** What requests for logs and sessions ask for, read from their query and checked as Kubernetes does. */
import type { Container, Pod } from '../api/generated/types.ts';
import { ApiError, statusErrors } from '../api/status.ts';
import type { AttachOptions, ExecOptions, LogOptions } from './contract.ts';

const isOn = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
};

/** @throws ApiError */
export function attachOptions(query: URLSearchParams): AttachOptions {
  return streamsOf({
    stdin: isOn(query, 'stdin'),
    stdout: !query.has('stdout') || isOn(query, 'stdout'),
    stderr: !query.has('stderr') || isOn(query, 'stderr'),
    tty: isOn(query, 'tty'),
  });
}

/** As API servers ask nodes for them: by other names, and nothing that is not named. @throws ApiError */
export function nodeStreamOptions(query: URLSearchParams): AttachOptions {
  const is = (name: string): boolean => query.get(name) === '1';
  return streamsOf({ stdin: is('input'), stdout: is('output'), stderr: is('error'), tty: is('tty') });
}

function streamsOf(options: AttachOptions): AttachOptions {
  if (!options.stdin && !options.stdout && !options.stderr) throw statusErrors.badRequest('You must specify at least one of stdin, stdout, stderr');
  return { ...options, stderr: options.stderr && !options.tty };
}

/** @throws ApiError */
export function execOptions(query: URLSearchParams): ExecOptions {
  const command = query.getAll('command');
  if (command.length === 0) throw statusErrors.badRequest('you must specify at least 1 command for the container');
  return { ...attachOptions(query), command };
}

/** The container that is meant. @throws ApiError if that is none, or not clear */
export function containerOf({ metadata, spec }: Pod, asked: string): string {
  const regular = spec.containers ?? [];
  const others: readonly Pick<Container, 'name'>[] = [...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const name = metadata.name ?? '';
  if (asked !== '') {
    if ([...regular, ...others].some((each) => each.name === asked)) return asked;
    throw statusErrors.badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only] = regular;
  if (only !== undefined && regular.length === 1) return only.name;
  const names = (list: readonly Pick<Container, 'name'>[]) => `[${list.map((each) => each.name).join(' ')}]`;
  const inits = (spec.initContainers ?? []).length === 0 ? '' : ` or one of the init containers: ${names(spec.initContainers ?? [])}`;
  throw statusErrors.badRequest(`a container name must be specified for pod ${name}, choose one of: ${names(regular)}${inits}`);
}

/** @throws ApiError */
export function logOptions(query: URLSearchParams, { metadata }: Pod, now: number): LogOptions {
  const invalid = (field: string, value: string, why: string): ApiError =>
    statusErrors.invalid({ group: '', kind: 'PodLogOptions' }, metadata.name ?? '', [{ type: 'Invalid', field, value, detail: why }]);
  const count = (name: string, least: number): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '') return undefined;
    if (!/^-?\d{1,18}$/.test(text)) throw statusErrors.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    if (Number(text) < least) throw invalid(name, text, least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0');
    return Number(text);
  };
  const seconds = count('sinceSeconds', 1);
  const time = query.get('sinceTime');
  if (seconds !== undefined && time !== null) throw invalid('', '', 'at most one of `sinceTime` or `sinceSeconds` may be specified');
  const stream = query.get('stream') ?? 'All';
  if (stream !== 'All' && stream !== 'Stdout' && stream !== 'Stderr') throw invalid('stream', stream, 'supported values: "All", "Stderr", "Stdout"');
  return {
    follow: isOn(query, 'follow'),
    previous: isOn(query, 'previous'),
    since: seconds === undefined ? (time === null ? undefined : Date.parse(time)) : now - seconds * 1000,
    timestamps: isOn(query, 'timestamps'),
    tailLines: count('tailLines', 0),
    limitBytes: count('limitBytes', 1),
    stream,
  };
}
