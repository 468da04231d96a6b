import type { Column } from '../kind.ts';
import { age } from '../printer-columns.ts';
import { nameColumn } from '../printer-columns.ts';
import type { DefinitionVersion, PrinterColumn } from './definition.ts';
import { findFirst, parseJsonPath } from './json-path.ts';

const usual: readonly PrinterColumn[] = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];

/** additionalPrinterColumns. */
export function columnsOf({ additionalPrinterColumns }: DefinitionVersion): readonly Column[] {
  const own = additionalPrinterColumns ?? [];
  return [nameColumn, ...(own.length === 0 ? usual : own).map(columnOf)];
}

function columnOf({ name, type, format = '', priority = 0, jsonPath, description = '' }: PrinterColumn): Column {
  const path = parseJsonPath(jsonPath);
  return {
    name,
    type: type as Column['type'],
    format,
    priority,
    description,
    cell: (object, now) => (path === undefined ? null : cellOf(type, findFirst(object, path), now)),
  };
}

function cellOf(type: string, value: unknown, now: number): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? (Number.isNaN(Date.parse(value)) ? '<invalid>' : age(value, now)) : null;
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}
