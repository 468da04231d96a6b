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

export type EnvironmentResult =
  | { readonly ok: true; readonly env: readonly EnvVariable[]; readonly expand: (text: string) => string }
  /** In the kubelet's words. */
  | { readonly ok: false; readonly error: string };

export function environmentOf(snapshot: EnvironmentSnapshot): EnvironmentResult {
  const { container, pod, services } = snapshot;
  const links = new Map(pod.spec.enableServiceLinks === false ? kubernetesOnly(services) : services.flatMap((service) => serviceVariables(service)));
  const result = new Map<string, string>();
  for (const [name, text] of fromConfig(snapshot)) result.set(name, text);
  const known = (name: string): string | undefined => result.get(name) ?? links.get(name);
  for (const variable of container.env ?? []) {
    const text = valueOf(variable, snapshot, known);
    if (!text.ok) return text;
    if (text.value !== undefined) result.set(variable.name, text.value);
  }
  // The container's own variables override those of services.
  for (const [name, text] of links) if (!result.has(name)) result.set(name, text);
  return { ok: true, env: [...result].map(([name, text]) => ({ name, value: text })), expand: (text) => expand(text, (name) => result.get(name)) };
}

/** `$(NAME)` becomes the variable's value if there is one; `$$` is a dollar sign. */
export function expand(text: string, value: (name: string) => string | undefined): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) => (name === undefined ? '$' : (value(name) ?? whole)));
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

type Value = { readonly ok: true; readonly value: string | undefined } | { readonly ok: false; readonly error: string };

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
    return { ok: true, value: decoded(config.secret(key(name))?.data)[entry] };
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
