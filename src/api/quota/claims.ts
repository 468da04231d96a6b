import type { PersistentVolumeClaim, ScopedResourceSelectorRequirement } from '../generated/types.ts';
import { compareQuantities, parseQuantity, type Quantity, quantityOf, quantityValue } from '../quantity.ts';
import { classOfClaim, nameOfClass } from '../volumes/storage-class.ts';
import { countName, type Evaluator } from './evaluator.ts';
import { matchesScopeValue } from './scopes.ts';
import { one, type Usage } from './usage.ts';

const count = countName({ group: '', plural: 'persistentvolumeclaims' });
const plain: ReadonlySet<string> = new Set([count, 'persistentvolumeclaims', 'requests.storage']);
const ofClass = '.storageclass.storage.k8s.io/';

/** Claims count by number and by request, in total and per class. */
export const claimEvaluator: Evaluator = {
  covers: (name) => plain.has(name) || name.endsWith(`${ofClass}persistentvolumeclaims`) || name.endsWith(`${ofClass}requests.storage`),
  usage: (object) => usageOf(object as PersistentVolumeClaim),
  matchesScope: (requirement, object) => matchesClaimScope(requirement, object as PersistentVolumeClaim),
  scopeChanged: (before, after) => attributesClasses(before as PersistentVolumeClaim).join() !== attributesClasses(after as PersistentVolumeClaim).join(),
};

function usageOf(claim: PersistentVolumeClaim): Usage {
  const used = new Map<string, Quantity>([
    [count, one],
    ['persistentvolumeclaims', one],
  ]);
  const className = nameOfClass(classOfClaim(claim));
  const storage = storageOf(claim);
  if (storage !== undefined) used.set('requests.storage', storage);
  if (className === '') return used;
  used.set(`${className}${ofClass}persistentvolumeclaims`, one);
  if (storage !== undefined) used.set(`${className}${ofClass}requests.storage`, storage);
  return used;
}

/** Allocated resources count, also after the request was lowered again. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec.resources.requests?.['storage'];
  if (asked === undefined) return undefined;
  const request = wholeBytes(parseQuantity(asked));
  const allocated = status.allocatedResources?.['storage'];
  return allocated !== undefined && compareQuantities(allocated, request) > 0 ? wholeBytes(parseQuantity(allocated)) : request;
}

/** Rounded up to whole bytes: a quota has no 107374182400m. */
function wholeBytes(amount: Quantity): Quantity {
  if (amount.exponent >= 0) return amount;
  const rounded = quantityOf(quantityValue(amount), amount.format);
  return compareQuantities(rounded, amount) === 0 ? amount : rounded;
}

/** A claim that changes its attributes class counts against the quotas of both until it is done. */
function matchesClaimScope(requirement: ScopedResourceSelectorRequirement, claim: PersistentVolumeClaim): boolean {
  if (requirement.scopeName !== 'VolumeAttributesClass') return false;
  const classes = attributesClasses(claim);
  return classes.length === 0 ? matchesScopeValue(requirement, '') : classes.some((name) => matchesScopeValue(requirement, name));
}

function attributesClasses({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const named = [spec.volumeAttributesClassName, status.currentVolumeAttributesClassName, status.modifyVolumeStatus?.targetVolumeAttributesClassName];
  return [...new Set(named.flatMap((name) => (name === undefined || name === '' ? [] : name)))].sort();
}
