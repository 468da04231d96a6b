/** Field selectors: `spec.nodeName=n1,status.phase!=Running`. Each kind defines its own fields. */
import { SelectorError } from './label-selector.ts';

export interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** All terms must hold; none select everything. */
export type FieldSelector = readonly FieldTerm[];

/** @throws SelectorError */
export function parseFieldSelector(text: string): FieldSelector {
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text).sort()) {
    if (part === '') continue;
    const found = /^(?<field>[^=!]*(?:![^=!]*)*?)(?<operator>!=|==|=)(?<value>.*)$/s.exec(part)?.groups;
    if (found === undefined) throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`);
    terms.push({ field: found['field'] ?? '', equal: found['operator'] !== '!=', value: unescapeValue(found['value'] ?? '') });
  }
  return terms;
}

export function matchesFields(selector: FieldSelector, read: (field: string) => string): boolean {
  return selector.every((term) => (read(term.field) === term.value) === term.equal);
}

/** The one value that the selector requires of a field, if any. */
export function requiredValue(selector: FieldSelector, field: string): string | undefined {
  return selector.find((term) => term.field === field && term.equal)?.value;
}

export function formatFieldSelector(selector: FieldSelector): string {
  return selector.map((term) => `${term.field}${term.equal ? '=' : '!='}${term.value.replace(/[\\,=]/g, '\\$&')}`).join(',');
}

/** At commas, but not at those behind a backslash. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charAt(at);
    if (c === '\\') at++;
    else if (c === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeValue(escaped: string): string {
  if (!/[\\,=]/.test(escaped)) return escaped;
  let value = '';
  for (let at = 0; at < escaped.length; at++) {
    const c = escaped.charAt(at);
    if (c === ',' || c === '=') throw new SelectorError(`invalid field selector: unescaped character in value: ${c.charCodeAt(0)}`);
    if (c !== '\\') {
      value += c;
      continue;
    }
    const next = escaped.charAt(++at);
    if (next !== '\\' && next !== ',' && next !== '=') throw new SelectorError(`invalid field selector: invalid escape sequence: \\${next}`);
    value += next;
  }
  return value;
}
