import type { PersistentVolumeClaim, ScopedResourceSelectorRequirement } from '../../../api/generated/types.ts';
import { compareQuantities, parseQuantity, type Quantity } from '../../../api/quantity.ts';
import type { Resource } from '../../registry/resources.ts';
import { classOf } from '../persistent-volume-claim-resize.ts';
import { countName, type Evaluator, one } from './evaluator.ts';
import { matchesScopeValue } from './scopes.ts';
import type { Usage } from './usage.ts';

const CLASS_SUFFIX = '.storageclass.storage.k8s.io/';

/** Claims count by number and by what they ask for, in all and for each class. */
export function claimEvaluator(resource: Resource): Evaluator {
  const count = countName(resource);
  const plain: ReadonlySet<string> = new Set([count, 'persistentvolumeclaims', 'requests.storage']);
  return {
    handles: (operation, subresource) => (subresource === '' && operation !== 'delete') || (subresource === 'status' && operation === 'update'),
    covers: (name) => plain.has(name) || name.endsWith(`${CLASS_SUFFIX}persistentvolumeclaims`) || name.endsWith(`${CLASS_SUFFIX}requests.storage`),
    usage: (object) => usageOf(object as PersistentVolumeClaim, count),
    matchesScope: (requirement, object) => matchesClaimScope(requirement, object as PersistentVolumeClaim),
  };
}

function usageOf(claim: PersistentVolumeClaim, count: string): Usage {
  const used = new Map<string, Quantity>([
    [count, one],
    ['persistentvolumeclaims', one],
  ]);
  const className = classOf(claim);
  const storage = storageOf(claim);
  if (storage !== undefined) used.set('requests.storage', storage);
  if (className === '') return used;
  used.set(`${className}${CLASS_SUFFIX}persistentvolumeclaims`, one);
  if (storage !== undefined) used.set(`${className}${CLASS_SUFFIX}requests.storage`, storage);
  return used;
}

/** What is being allocated counts, also after the request for it was lowered again. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec.resources.requests?.['storage'];
  const allocated = status.allocatedResources?.['storage'];
  if (asked === undefined) return allocated === undefined ? undefined : parseQuantity(allocated);
  return parseQuantity(allocated !== undefined && compareQuantities(allocated, asked) > 0 ? allocated : asked);
}

/** A claim that changes its class counts against the quotas of both until it is done. */
function matchesClaimScope(requirement: ScopedResourceSelectorRequirement, { spec, status }: PersistentVolumeClaim): boolean {
  if (requirement.scopeName !== 'VolumeAttributesClass') return false;
  const classes = [spec.volumeAttributesClassName, status.currentVolumeAttributesClassName, status.modifyVolumeStatus?.targetVolumeAttributesClassName];
  const names = classes.filter((name) => name !== undefined && name !== '');
  return names.length === 0 ? matchesScopeValue(requirement, '') : names.some((name) => matchesScopeValue(requirement, name ?? ''));
}
