/** The downward API: `fieldRef` and `resourceFieldRef`, in volumes and in variables. */
import type { Container, Pod, ResourceFieldSelector } from './generated/types.ts';
import { quoteGo } from './json-reader.ts';
import { quantityMilliValue, quantityValue } from './quantity.ts';

export type FieldValue = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: string };

const value = (text: string | undefined): FieldValue => ({ ok: true, value: text ?? '' });

/** A field of the pod's metadata: 'metadata.name', 'metadata.labels', "metadata.annotations['key']". */
export function metadataField({ metadata }: Pod, path: string): FieldValue {
  const entry = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(path);
  if (entry !== null) return value(metadata[entry[1] === 'labels' ? 'labels' : 'annotations']?.[entry[2] ?? '']);
  switch (path) {
    case 'metadata.name':
      return value(metadata.name);
    case 'metadata.namespace':
      return value(metadata.namespace);
    case 'metadata.uid':
      return value(metadata.uid);
    case 'metadata.labels':
      return value(lines(metadata.labels));
    case 'metadata.annotations':
      return value(lines(metadata.annotations));
    default:
      return { ok: false, error: `unsupported fieldPath: ${path}` };
  }
}

/** `key="value"`, one in a line, sorted. */
const lines = (entries: Readonly<Record<string, string>> = {}): string =>
  Object.keys(entries)
    .sort()
    .map((key) => `${key}=${quoteGo(entries[key] ?? '')}`)
    .join('\n');

/** An amount that a container may use, in units of the divisor, rounded up. An unset limit is the node's allocatable. */
export function resourceField(pod: Pod, reference: ResourceFieldSelector, allocatable: Readonly<Record<string, string>>): FieldValue {
  const { containerName, resource, divisor } = reference;
  const { containers, initContainers = [] } = pod.spec;
  const container = [...(containers ?? []), ...initContainers].find(({ name }) => name === containerName);
  if (container === undefined) return { ok: false, error: `container ${containerName ?? ''} not found` };
  return containerResource(container, { resource, divisor }, allocatable);
}

export function containerResource(
  { resources }: Container,
  { resource, divisor }: Pick<ResourceFieldSelector, 'resource' | 'divisor'>,
  allocatable: Readonly<Record<string, string>>,
): FieldValue {
  const [which = '', name = ''] = resource.split(/\.(.*)/s);
  const isKnown = ['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-');
  if (!isKnown || (which !== 'limits' && which !== 'requests')) return { ok: false, error: `Unsupported container resource : ${resource}` };
  const own = (which === 'limits' ? resources?.limits : resources?.requests)?.[name];
  const isUnset = own === undefined || quantityMilliValue(own) === 0n;
  const amount = (isUnset && which === 'limits' && !name.startsWith('hugepages-') ? allocatable[name] : own) ?? '0';
  const unit = divisor === undefined || divisor === '0' ? '1' : divisor;
  const [total, each] = name === 'cpu' ? [quantityMilliValue(amount), quantityMilliValue(unit)] : [quantityValue(amount), quantityValue(unit)];
  return value(String((total + each - 1n) / each));
}
