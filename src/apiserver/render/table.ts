import { causeMessage, invalid } from '../../api/field-error.ts';
import type { Column, Kind, RowCondition } from '../../api/kind.ts';
import { plainColumns } from '../../api/printer-columns.ts';
import { explanationColumns, explanationKind } from '../../api/kinds/mooring/explanation.ts';
import { scaleColumns } from '../../api/kinds/apps/scale-columns.ts';
import type { KubeObject } from '../../api/object.ts';
import { statusErrors } from '../../api/status.ts';
import type { ListMeta, ObjectRevision } from '../api.ts';
import type { Target } from './accept.ts';
import { listMetadata } from './list.ts';
import { partialMetadata } from './metadata-only.ts';
import { apiVersionOfTarget } from './targets.ts';

/** What each row carries besides its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  readonly as: Target;
  readonly includeObject: IncludeObject;
  /** Milliseconds since 1970, for ages. */
  readonly now: number;
  /** A watch sends the columns with its first event only. */
  readonly headers: boolean;
}

/** @throws ApiError 400 for an includeObject that does not exist. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  const error = invalid('includeObject', value, "must be 'Metadata', 'Object', 'None', or empty");
  throw statusErrors.badRequest(`Unable to convert to Table as requested: ${error.field}: ${causeMessage(error)}`);
}

export const tableOfList = (kind: Kind, items: readonly ObjectRevision[], list: { metadata: ListMeta; options: TableOptions }): string =>
  table(kind, items, { metadata: listMetadata(list.metadata), options: list.options });

export const tableOfObject = (kind: Kind, item: ObjectRevision, options: TableOptions): string =>
  table(kind, [item], { metadata: { resourceVersion: item.object.metadata.resourceVersion }, options });

const columnsOfPlain: Readonly<Record<string, readonly Column[] | undefined>> = {
  Scale: scaleColumns,
  [explanationKind.kind]: explanationColumns,
  [`${explanationKind.kind}List`]: explanationColumns,
};

/** What is answered without being stored. Most of it (a TokenRequest) shows its name and when it was made. */
export function tableOfPlain(object: KubeObject, options: TableOptions): string {
  const { resourceVersion } = object.metadata;
  const objects = 'items' in object ? (object.items as readonly KubeObject[]) : [object];
  const items = objects.map((each): TableItem => ({ object: each, json: () => Buffer.from(JSON.stringify(each)) }));
  return table({ columns: columnsOfPlain[object.kind] ?? plainColumns }, items, {
    metadata: resourceVersion === undefined ? {} : { resourceVersion },
    options,
  });
}

/** A stored object, or one that is only answered. */
interface TableItem {
  readonly object: KubeObject;
  json(): Uint8Array;
}

interface Rows {
  readonly columns: readonly Column[];
  readonly rowConditions?: (object: KubeObject) => readonly RowCondition[];
}

/** Written as text: rows that include whole objects reuse the bytes that these already have. */
function table(rows: Rows, items: readonly TableItem[], { metadata, options }: { metadata: object; options: TableOptions }): string {
  const definitions = options.headers ? JSON.stringify(rows.columns.map(definition)) : 'null';
  const head = `{"kind":"Table","apiVersion":"${apiVersionOfTarget(options.as)}","metadata":${JSON.stringify(metadata)}`;
  return `${head},"columnDefinitions":${definitions},"rows":[${items.map((item) => row(rows, item, options)).join(',')}]}`;
}

const definition = ({ name, type, format, description = '', priority }: Column): object => ({ name, type, format, description, priority });

function row(rows: Rows, item: TableItem, options: TableOptions): string {
  const cells = JSON.stringify(rows.columns.map((column) => column.cell(item.object, options.now)));
  const conditions = rows.rowConditions?.(item.object) ?? [];
  const said = conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`;
  return `{"cells":${cells}${said},"object":${included(item, options)}}`;
}

/** The bookmark that ends a watch's initial state is known by its annotation: clients that asked for no objects get it too. */
const endsInitialState = (object: KubeObject): boolean => object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';

function included(item: TableItem, { includeObject, as }: TableOptions): string {
  switch (includeObject) {
    case 'None':
      return endsInitialState(item.object) ? JSON.stringify(partialMetadata(item.object, as)) : 'null';
    case 'Metadata':
      return JSON.stringify(partialMetadata(item.object, as));
    case 'Object':
      return Buffer.from(item.json()).toString();
  }
}
