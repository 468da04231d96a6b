/** A container's environment variables, with all references resolved. */
import type { Container, EnvVar, Pod, Service } from '../../api/generated/types.ts';
import { containerResource, metadataField } from '../../api/downward-api.ts';
import type { EnvVariable } from '../runtime.ts';
import type { ConfigLookup } from '../volumes/config-references.ts';

export interface EnvironmentSnapshot {
  readonly pod: Pod;
  readonly container: Container;
  readonly config: ConfigLookup;
  /** Of the pod's namespace, and `kubernetes` of the default one. */
  readonly services: readonly Service[];
  readonly node: { readonly name: string; readonly ip: string; readonly allocatable: Readonly<Record<string, string>> };
  readonly podIps: readonly string[];
}

interface Refusal {
  readonly ok: false;
  /** In the kubelet's words. */
  readonly error: string;
}

export type EnvironmentResult = { readonly ok: true; readonly env: readonly EnvVariable[]; readonly expand: (text: string) => string } | Refusal;

export function environmentOf(snapshot: EnvironmentSnapshot): EnvironmentResult {
  const { container, pod, services } = snapshot;
  const links = new Map(pod.spec.enableServiceLinks === false ? kubernetesOnly(services) : services.flatMap((service) => serviceVariables(service)));
  const result = new Map<string, string>();
  let size = 0;
  const isTooMuch = (name: string, text: string): boolean => {
    size += name.length + text.length;
    result.set(name, text);
    return size > mostText;
  };
  for (const [name, text] of fromConfig(snapshot)) if (isTooMuch(name, text)) return tooMuchText;
  const known = (name: string): string | undefined => result.get(name) ?? links.get(name);
  for (const variable of container.env ?? []) {
    const text = boundedValueOf(variable, snapshot, known);
    if (!text.ok) return text;
    if (text.value !== undefined && isTooMuch(variable.name, text.value)) return tooMuchText;
  }
  // The container's own variables override those of services.
  for (const [name, text] of links) if (!result.has(name)) result.set(name, text);
  const own = (text: string): string => expand(text, (name) => result.get(name));
  const refusal = refusedCommand(container, size, own);
  if (refusal !== undefined) return refusal;
  return { ok: true, env: [...result].map(([name, text]) => ({ name, value: text })), expand: own };
}

function boundedValueOf(variable: EnvVar, snapshot: EnvironmentSnapshot, known: (name: string) => string | undefined): Value {
  try {
    const text = valueOf(variable, snapshot, known);
    if (text.ok && (text.value ?? '').length > longestText) throw new TextTooLong(`longer than ${longestText} bytes`);
    return text;
  } catch (error) {
    if (!(error instanceof TextTooLong)) throw error;
    return { ok: false, error: `environment variable ${variable.name} is ${error.message}: no program can be started with it` };
  }
}

/** `size`: of the variables. */
function refusedCommand({ command = [], args = [] }: Container, size: number, expanded: (text: string) => string): Refusal | undefined {
  let sum = size;
  try {
    for (const word of [...command, ...args]) {
      sum += expanded(word).length;
      if (sum > mostText) return tooMuchText;
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof TextTooLong)) throw error;
    return { ok: false, error: `an argument of the command is ${error.message}: no program can be started with it` };
  }
}

/** Linux starts no program with a longer argument or variable (MAX_ARG_STRLEN), nor with more of them together (three quarters of a stack). */
const longestText = 128 * 1024;
const mostText = 6 * 1024 * 1024;
const tooMuchText: Refusal = {
  ok: false,
  error: `command and environment variables are longer than ${mostText} bytes together: no program can be started with them`,
};

class TextTooLong extends Error {}

/**
 * `$(NAME)` becomes the variable's value if there is one; `$$` is a dollar sign. Bounded: forty variables of two references to the one before would be
 * terabytes. @throws TextTooLong
 */
function expand(text: string, value: (name: string) => string | undefined): string {
  const lastClose = text.lastIndexOf(')');
  let expanded = '';
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    expanded += text.slice(from, at);
    const isReference = text[at + 1] === '(' && at < lastClose;
    const end = isReference ? text.indexOf(')', at) + 1 : at + (text[at + 1] === '$' ? 2 : 1);
    expanded += isReference ? (value(text.slice(at + 2, end - 1)) ?? text.slice(at, end)) : '$';
    if (expanded.length > longestText) break;
    from = end;
  }
  expanded += text.slice(from);
  if (expanded.length > longestText) throw new TextTooLong(`longer than ${longestText} bytes`);
  return expanded;
}

/** A missing object that is not optional was found before (`missingVariable`). */
function* fromConfig({ container, pod, config }: EnvironmentSnapshot): Generator<readonly [string, string]> {
  const key = (name: string | undefined) => `${pod.metadata.namespace ?? ''}/${name ?? ''}`;
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef === undefined ? decoded(config.secret(key(secretRef?.name))?.data) : config.configMap(key(configMapRef.name))?.data;
    for (const [name, text] of Object.entries(data ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) yield [`${prefix}${name}`, text];
  }
}

const decoded = (data: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString()]));

type Value = { readonly ok: true; readonly value: string | undefined } | Refusal;

function valueOf({ value = '', valueFrom }: EnvVar, snapshot: EnvironmentSnapshot, known: (name: string) => string | undefined): Value {
  if (valueFrom === undefined) return { ok: true, value: expand(value, known) };
  const { pod, container, config, node } = snapshot;
  const key = (name: string | undefined) => `${pod.metadata.namespace ?? ''}/${name ?? ''}`;
  if (valueFrom.fieldRef !== undefined) return fieldOf(valueFrom.fieldRef.fieldPath, snapshot);
  if (valueFrom.resourceFieldRef !== undefined) {
    const { containerName = container.name } = valueFrom.resourceFieldRef;
    const named = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])].find(({ name }) => name === containerName) ?? container;
    return containerResource(named, valueFrom.resourceFieldRef, node.allocatable);
  }
  if (valueFrom.configMapKeyRef !== undefined) {
    const { name, key: entry } = valueFrom.configMapKeyRef;
    return { ok: true, value: config.configMap(key(name))?.data?.[entry] };
  }
  if (valueFrom.secretKeyRef !== undefined) {
    const { name, key: entry } = valueFrom.secretKeyRef;
    const encoded = config.secret(key(name))?.data?.[entry];
    return { ok: true, value: encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString() };
  }
  return { ok: true, value: '' };
}

function fieldOf(path: string, snapshot: EnvironmentSnapshot): Value {
  const { pod, node, podIps } = snapshot;
  const own: Readonly<Record<string, string>> = {
    'spec.nodeName': node.name,
    'spec.serviceAccountName': pod.spec.serviceAccountName ?? '',
    'status.hostIP': node.ip,
    'status.hostIPs': node.ip,
    'status.podIP': podIps[0] ?? '',
    'status.podIPs': podIps.join(','),
  };
  return Object.hasOwn(own, path) ? { ok: true, value: own[path] } : metadataField(pod, path);
}

const isKubernetes = ({ metadata }: Service): boolean => metadata.namespace === 'default' && metadata.name === 'kubernetes';

const kubernetesOnly = (services: readonly Service[]): (readonly [string, string])[] =>
  services.filter(isKubernetes).flatMap((service) => serviceVariables(service));

/** WEB_SERVICE_HOST, WEB_SERVICE_PORT, WEB_PORT_80_TCP_ADDR … */
function serviceVariables({ metadata, spec }: Service): readonly (readonly [string, string])[] {
  const { clusterIP: ip = '', ports = [] } = spec ?? {};
  const [first] = ports;
  if (ip === '' || ip === 'None' || first === undefined) return [];
  const name = upper(metadata.name ?? '');
  const all: [string, string][] = [
    [`${name}_SERVICE_HOST`, ip],
    [`${name}_SERVICE_PORT`, String(first.port)],
  ];
  for (const port of ports) if (port.name !== undefined && port.name !== '') all.push([`${name}_SERVICE_PORT_${upper(port.name)}`, String(port.port)]);
  const url = ({ port, protocol = 'TCP' }: (typeof ports)[number]) => `${protocol.toLowerCase()}://${ip}:${port}`;
  all.push([`${name}_PORT`, url(first)]);
  for (const port of ports) {
    const { protocol = 'TCP' } = port;
    const prefix = `${name}_PORT_${port.port}_${protocol}`;
    all.push([prefix, url(port)], [`${prefix}_PROTO`, protocol.toLowerCase()], [`${prefix}_PORT`, String(port.port)], [`${prefix}_ADDR`, ip]);
  }
  return all;
}

const upper = (name: string): string => name.toUpperCase().replaceAll('-', '_');
