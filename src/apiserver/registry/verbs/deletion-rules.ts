/** Deletion rules by kind, and propagation policies. Pure. */
import type { Kind } from '../../../api/kind.ts';
import type { DeleteOptions } from '../../objects/options.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

const resourceOf = (kind: Kind): string => (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);

/** Most deletions answer with a Status; these with the removed object. */
const answeredWithObject: ReadonlySet<string> = new Set([
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'storageclasses.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
]);

export const returnsRemovedObject = (kind: Kind): boolean => answeredWithObject.has(resourceOf(kind));

/** batch/v1 Jobs orphan their pods unless the client sets a policy: old clients expect that. */
export const orphansByDefault = (kind: Kind): boolean => resourceOf(kind) === 'jobs.batch';

/** Events have no dependents: the garbage collector would never clear a finalizer of theirs. */
const isNeverOwner = (kind: Kind): boolean => kind.storage.resource === 'events';

/** The finalizers of a deleted object: with `orphan` or `foregroundDeletion` the garbage collector acts before the object goes. */
export function finalizersAfter(kind: Kind, old: readonly string[], options: DeleteOptions): readonly string[] {
  const orphan = wantsOrphans(kind, old, options);
  const foreground = wantsForeground(kind, old, options);
  const others = old.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const wanted = [...others, ...(orphan ? [ORPHAN] : []), ...(foreground ? [FOREGROUND] : [])];
  return sameSet(old, wanted) ? old : wanted;
}

function wantsOrphans(kind: Kind, old: readonly string[], options: DeleteOptions): boolean {
  if (isNeverOwner(kind)) return false;
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan';
  const given = old.find((finalizer) => finalizer === ORPHAN || finalizer === FOREGROUND);
  return given === undefined ? orphansByDefault(kind) : given === ORPHAN;
}

function wantsForeground(kind: Kind, old: readonly string[], options: DeleteOptions): boolean {
  if (isNeverOwner(kind) || options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground';
  return old.find((finalizer) => finalizer === ORPHAN || finalizer === FOREGROUND) === FOREGROUND;
}

/** For namespaces `orphanDependents: false` means foreground. */
export function namespaceFinalizersAfter(old: readonly string[], options: DeleteOptions): readonly string[] {
  const { orphanDependents: orphans, propagationPolicy: policy } = options;
  const orphan = orphans ?? (policy === undefined ? old.includes(ORPHAN) : policy === 'Orphan');
  const foreground = orphans === undefined ? (policy === undefined ? old.includes(FOREGROUND) : policy === 'Foreground') : !orphans;
  const others = old.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const wanted = [...others, ...(orphan ? [ORPHAN] : []), ...(foreground ? [FOREGROUND] : [])];
  return sameSet(old, wanted) ? old : wanted;
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean => {
  const left = new Set(a);
  const right = new Set(b);
  return left.size === right.size && [...left].every((item) => right.has(item));
};
