/**
 * The paths of printer columns, selectable fields and scales: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels.example\.com/x`.
 * A path that cannot be read is undefined.
 */
import { isJsonObject } from '../json.ts';

export type JsonPath = readonly Step[];

type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'filter'; readonly path: JsonPath; readonly operator: string; readonly value: unknown };

export function parseJsonPath(text: string): JsonPath | undefined {
  const steps: Step[] = [];
  let rest = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  rest = rest.replace(/^[$@]/, '');
  while (rest !== '') {
    const found = fieldAt(rest) ?? bracketAt(rest);
    if (found === undefined) return undefined;
    steps.push(found.step);
    rest = rest.slice(found.length);
  }
  return steps;
}

interface Parsed {
  readonly step: Step;
  readonly length: number;
}

function fieldAt(text: string): Parsed | undefined {
  const match = /^\.((?:\\.|[^.[\]\\])+)/.exec(text);
  if (match === null) return undefined;
  const name = (match[1] ?? '').replaceAll(/\\(.)/g, '$1');
  return { step: name === '*' ? { type: 'all' } : { type: 'field', name }, length: match[0].length };
}

function bracketAt(text: string): Parsed | undefined {
  const dot = text.startsWith('.[') ? 1 : 0;
  const rest = text.slice(dot);
  const index = /^\[(-?\d+)\]/.exec(rest);
  if (index !== null) return { step: { type: 'index', index: Number(index[1]) }, length: dot + index[0].length };
  const all = /^\[\*?\]/.exec(rest);
  if (all !== null) return { step: { type: 'all' }, length: dot + all[0].length };
  const name = /^\[(?:'([^']*)'|"([^"]*)")\]/.exec(rest);
  if (name !== null) return { step: { type: 'field', name: name[1] ?? name[2] ?? '' }, length: dot + name[0].length };
  const filter = /^\[\?\(\s*@((?:\\.|[^=!<>\s\\)])*)\s*(?:(==|!=|<=|>=|<|>)\s*('[^']*'|"[^"]*"|[^)\s]+)\s*)?\)\]/.exec(rest);
  const path = filter === null ? undefined : parseJsonPath(filter[1] ?? '');
  if (filter === null || path === undefined) return undefined;
  return { step: { type: 'filter', path, operator: filter[2] ?? '', value: literal(filter[3] ?? '') }, length: dot + filter[0].length };
}

function literal(text: string): unknown {
  if (/^['"]/.test(text)) return text.slice(1, -1);
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d/.test(text) ? Number(text) : text;
}

/** All values at the path. */
export function findAll(value: unknown, path: JsonPath): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const step of path) found = found.flatMap((one) => take(one, step));
  return found;
}

/** The first value, which is all that columns and selectors use. */
export const findFirst = (value: unknown, path: JsonPath): unknown => findAll(value, path)[0];

function take(value: unknown, step: Step): readonly unknown[] {
  switch (step.type) {
    case 'field':
      return isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index': {
      const item: unknown = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'all':
      return Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(findAll(item, step.path), step)) : [];
  }
}

function passes(found: readonly unknown[], { operator, value }: { operator: string; value: unknown }): boolean {
  const [first] = found;
  if (operator === '' || found.length === 0) return operator === '' && found.length > 0;
  if (operator === '==') return first === value;
  if (operator === '!=') return first !== value;
  if (typeof first !== typeof value) return false;
  const [a, b] = [first as number | string, value as number | string];
  return operator === '<' ? a < b : operator === '<=' ? a <= b : operator === '>' ? a > b : a >= b;
}
