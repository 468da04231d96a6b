import type { LabelSelector } from '../generated/types.ts';
import { validateLabelSelector } from './labels.ts';
import { entry } from './field-rules.ts';

type Labels = Readonly<Record<string, string>>;

interface Requirement {
  readonly key: string;
  readonly text: string;
  readonly matches: (value: string | undefined) => boolean;
}

/** A selector made of label selectors: `app=web,tier in (a,b),!old`. Nothing if it cannot be one. */
interface ReadSelector {
  /** Whether any labels match; a selector that is not there at all matches none. */
  readonly isAbsent: boolean;
  readonly requirements: readonly Requirement[];
}

function readSelector(selector: LabelSelector | null | undefined): ReadSelector | undefined {
  if (selector === undefined || selector === null) return { isAbsent: true, requirements: [] };
  if (validateLabelSelector(selector, '').length > 0) return undefined;
  const equalities = Object.entries(selector.matchLabels ?? {}).map(([key, wanted]) => ({
    key,
    text: `${key}=${wanted}`,
    matches: (value: string | undefined) => value === wanted,
  }));
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => readExpression(key, operator, values));
  const requirements = [...equalities, ...expressions].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return { isAbsent: false, requirements };
}

function readExpression(key: string, operator: string, values: readonly string[]): Requirement {
  const list = `(${[...values].sort().join(',')})`;
  switch (operator) {
    case 'In':
      return { key, text: `${key} in ${list}`, matches: (value) => value !== undefined && values.includes(value) };
    case 'NotIn':
      return { key, text: `${key} notin ${list}`, matches: (value) => value === undefined || !values.includes(value) };
    case 'Exists':
      return { key, text: key, matches: (value) => value !== undefined };
    default:
      return { key, text: `!${key}`, matches: (value) => value === undefined };
  }
}

/** Whether labels match; nothing if the selector is not a valid one. */
export function selects(selector: LabelSelector | null | undefined, labels: Labels | undefined): boolean | undefined {
  const read = readSelector(selector);
  return read && !read.isAbsent && read.requirements.every(({ key, matches }) => matches(entry(labels, key)));
}

/** The selector as one line; nothing if it is not a valid one. */
export function showSelector(selector: LabelSelector | null | undefined): string | undefined {
  return readSelector(selector)
    ?.requirements.map(({ text }) => text)
    .join(',');
}

export const isValidSelector = (selector: LabelSelector | null | undefined): boolean => readSelector(selector) !== undefined;

export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length + matchExpressions.length === 0;

/** As tables show it. */
export function selectorCell(selector: LabelSelector | null | undefined): string {
  const text = showSelector(selector);
  return text === undefined ? '<error>' : text === '' ? '<none>' : text;
}
