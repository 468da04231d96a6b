import type { ObjectMeta } from '../../generated/types.ts';
import type { Column } from '../../kind.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';

/** An answer of `moor why` (docs/EXTENSIONS.md): computed for each request, and not stored. */
interface Explanation {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  status: { readonly verdict: string; readonly state: string; readonly summary: string };
}

export const explanationKind = {
  group: 'mooring.dev',
  version: 'v1',
  kind: 'Explanation',
  plural: 'explanations',
  singular: 'explanation',
  namespaced: true,
} as const;

const text = (name: string, value: (status: Explanation['status']) => string): Column => textColumn<Explanation>(name, ({ status }) => value(status)) as Column;

export const explanationColumns: readonly Column[] = [
  nameColumn,
  text('Verdict', ({ verdict }) => verdict),
  text('State', ({ state }) => state),
  ageColumn,
  text('Why', ({ summary }) => summary),
];
