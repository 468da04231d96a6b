import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../../generated/types.ts';
import { isZeroQuantity } from '../../quantity.ts';
import { qualifiedName } from '../../validation/field-rules.ts';

/** What a pod may learn of itself, by where it may learn it. */
export const volumeFieldPaths = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
export const environmentFieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const knownFieldPaths = new Set([...volumeFieldPaths, ...environmentFieldPaths, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase']);

export function validateFieldSelector({ apiVersion = '', fieldPath }: ObjectFieldSelector, paths: readonly string[], field: string): FieldError[] {
  if (apiVersion === '') return [required(`${field}.apiVersion`)];
  if (fieldPath === '') return [required(`${field}.fieldPath`)];
  const converted = convertFieldPath(apiVersion, fieldPath);
  if (converted.type === 'failed') return [invalid(`${field}.fieldPath`, fieldPath, `error converting fieldPath: ${converted.why}`)];
  const { path, subscript } = splitSubscript(converted.path);
  if (subscript === undefined) return paths.includes(path) ? [] : [notSupported(`${field}.fieldPath`, path, paths)];
  // Keys of annotations may have capitals where those of labels may not.
  return qualifiedName(path === 'metadata.annotations' ? subscript.toLowerCase() : subscript, field);
}

type Converted = { readonly type: 'ok'; readonly path: string } | { readonly type: 'failed'; readonly why: string };

function convertFieldPath(apiVersion: string, fieldPath: string): Converted {
  if (apiVersion !== 'v1') return { type: 'failed', why: `unsupported pod version: ${apiVersion}` };
  const { path, subscript } = splitSubscript(fieldPath);
  if (subscript !== undefined) {
    const isMap = path === 'metadata.annotations' || path === 'metadata.labels';
    return isMap ? { type: 'ok', path: fieldPath } : { type: 'failed', why: `field label does not support subscript: ${fieldPath}` };
  }
  // The oldest clients know the node as the host.
  if (fieldPath === 'spec.host') return { type: 'ok', path: 'spec.nodeName' };
  return knownFieldPaths.has(fieldPath) ? { type: 'ok', path: fieldPath } : { type: 'failed', why: `field label not supported: ${fieldPath}` };
}

/** "metadata.labels['app']" → metadata.labels, app */
function splitSubscript(fieldPath: string): { path: string; subscript?: string } {
  const start = fieldPath.indexOf("['");
  if (!fieldPath.endsWith("']") || start <= 0 || start + 2 > fieldPath.length - 2) return { path: fieldPath };
  return { path: fieldPath.slice(0, start), subscript: fieldPath.slice(start + 2, -2) };
}

const resourcePaths = ['limits.cpu', 'limits.ephemeral-storage', 'limits.memory', 'requests.cpu', 'requests.ephemeral-storage', 'requests.memory'];
const isHugePagesPath = (path: string): boolean => path.startsWith('limits.hugepages-') || path.startsWith('requests.hugepages-');

/** In a volume the container must be named; in its own environment a container means itself. */
export function validateResourceFieldSelector(selector: ResourceFieldSelector, field: string, { inVolume }: { inVolume: boolean }): FieldError[] {
  const errors: FieldError[] = [];
  if (inVolume && (selector.containerName ?? '') === '') errors.push(required(`${field}.containerName`));
  else if (selector.resource === '') errors.push(required(`${field}.resource`));
  else if (!resourcePaths.includes(selector.resource) && !isHugePagesPath(selector.resource)) {
    errors.push(notSupported(`${field}.resource`, selector.resource, resourcePaths));
  }
  return [...errors, ...validateDivisor(selector, `${field}.divisor`)];
}

const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

function validateDivisor({ resource, divisor }: ResourceFieldSelector, field: string): FieldError[] {
  if (isZeroQuantity(divisor)) return [];
  const bytes = (what: string): FieldError[] =>
    byteDivisors.includes(divisor)
      ? []
      : [invalid(field, resource, `only divisor's values ${byteDivisors.join(', ')} are supported with the ${what} resource`)];
  if (isHugePagesPath(resource)) return bytes('hugepages');
  if (!resourcePaths.includes(resource)) return [];
  switch (resource.slice(resource.indexOf('.') + 1)) {
    case 'cpu':
      return divisor === '1' || divisor === '1m' ? [] : [invalid(field, resource, "only divisor's values 1m and 1 are supported with the cpu resource")];
    case 'memory':
      return bytes('memory');
    case 'ephemeral-storage':
      return bytes('local ephemeral storage');
    default:
      return [];
  }
}
