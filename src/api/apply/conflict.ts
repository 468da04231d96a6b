import { quoteGo } from '../json.ts';
import { ApiError } from '../status.ts';
import { type FieldSet, pathsOf } from './field-set.ts';
import type { Owner } from './managed-entries.ts';
import { type PathElement, pathText } from './path-element.ts';

/** A field with another value that another manager owns. */
export interface Conflict {
  /** Conflicts are sorted by the owner's id. */
  readonly id: string;
  readonly owner: Owner;
  readonly path: readonly PathElement[];
}

export function conflictsOf(taken: ReadonlyMap<string, { readonly owner: Owner; readonly set: FieldSet }>): Conflict[] {
  const byOwner = [...taken].sort(([a], [b]) => (a < b ? -1 : 1));
  return byOwner.flatMap(([id, { owner, set }]) => [...pathsOf(set)].map((path) => ({ id, owner, path })));
}

export function conflictError(conflicts: readonly Conflict[]): ApiError {
  const causes = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: pathText(path),
  }));
  return new ApiError(409, 'Conflict', conflictMessage(conflicts), { causes });
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${ownerText(first.owner)}: ${pathText(first.path)}`;
  }
  const lines: string[] = [];
  let before: string | undefined;
  for (const { id, owner, path } of conflicts) {
    if (id !== before) lines.push(`conflicts with ${ownerText(owner)}:`);
    lines.push(`- ${pathText(path)}`);
    before = id;
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function ownerText({ manager, operation, version, subresource }: Owner): string {
  const name = subresource === '' ? quoteGo(manager) : `${quoteGo(manager)} with subresource ${quoteGo(subresource)}`;
  return operation === 'Update' ? `${name} using ${version}` : name;
}
