/** Filters, ids and pages of the Describe actions. */
import { CloudError } from '../engine/errors.ts';
import type { Tags } from '../engine/records.ts';
import type { Parameters } from './parameters.ts';

/** The values of a record that a filter of the name compares. */
export type Filters<T> = Readonly<Record<string, (record: T) => readonly (string | undefined)[]>>;

/** Of all filters of a request together, and the length of each. */
const [mostFilterValues, longestFilterValue] = [200, 255];

/** Which records the filters of a request let through. `tagsOf`: filters tag:KEY and tag-key exist. @throws CloudError */
export function filterOf<T>(parameters: Parameters, filters: Filters<T>, tagsOf?: (record: T) => Tags): (record: T) => boolean {
  let count = 0;
  const tests = parameters.structures('Filter').map((filter) => {
    const name = filter.requiredText('Name');
    const values = filter.texts('Value') ?? [];
    count += values.length;
    if (count > mostFilterValues)
      throw new CloudError('FilterLimitExceeded', `The maximum number of filter values specified on a single call is ${mostFilterValues}`);
    if (values.some((value) => value.length > longestFilterValue))
      throw new CloudError('InvalidParameterValue', `A value of the filter ${name} has more than ${longestFilterValue} characters`);
    const read = readerOf(name, filters, tagsOf);
    if (read === undefined) throw new CloudError('InvalidParameterValue', `The filter '${name}' is invalid`);
    const patterns = values.map(patternOf);
    return (record: T) => read(record).some((value) => value !== undefined && patterns.some((matches) => matches(value)));
  });
  return (record) => tests.every((passes) => passes(record));
}

function readerOf<T>(name: string, filters: Filters<T>, tagsOf?: (record: T) => Tags): ((record: T) => readonly (string | undefined)[]) | undefined {
  if (tagsOf !== undefined && name.startsWith('tag:')) {
    const key = name.slice('tag:'.length);
    return (record) => (Object.hasOwn(tagsOf(record), key) ? [tagsOf(record)[key]] : []);
  }
  if (tagsOf !== undefined && name === 'tag-key') return (record) => Object.keys(tagsOf(record));
  return Object.hasOwn(filters, name) ? filters[name] : undefined;
}

/** '*' is any text, '?' any character; a backslash takes their meaning away. It takes at most as many steps as the product of both lengths. */
function patternOf(pattern: string): (value: string) => boolean {
  if (!/[*?\\]/.test(pattern)) return (value) => value === pattern;
  const tokens = [...pattern.matchAll(/\\([*?\\])|([\s\S])/gu)].map(([, plain, other]) => ({ text: plain ?? other ?? '', isPlain: plain !== undefined }));
  return (value) => {
    const characters = Array.from(value);
    let [at, token, star, retry] = [0, 0, -1, 0];
    while (at < characters.length) {
      const { text, isPlain } = tokens[token] ?? { text: '', isPlain: true };
      if (!isPlain && text === '*') [star, retry, token] = [token, at, token + 1];
      else if (token < tokens.length && ((!isPlain && text === '?') || text === characters[at])) [at, token] = [at + 1, token + 1];
      else if (star >= 0) [retry, at, token] = [retry + 1, retry + 1, star + 1];
      else return false;
    }
    return tokens.slice(token).every(({ text, isPlain }) => !isPlain && text === '*');
  };
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken: string | undefined;
}

export interface PageOptions {
  readonly least?: number;
  readonly most?: number;
  /** The parameter with the ids, which exclude pages. */
  readonly ids?: string;
}

/** Reads which page a request asks for. A token names the last record that was shown. @throws CloudError */
export function pageOf(
  parameters: Parameters,
  { least = 5, most = 1000, ids }: PageOptions = {},
): <T>(records: readonly T[], idOf: (record: T) => string) => Page<T> {
  const size = parameters.number('MaxResults');
  const token = parameters.text('NextToken');
  if (size !== undefined && size < least)
    throw new CloudError('InvalidParameterValue', `Value ( ${size} ) for parameter maxResults is invalid. Expecting a value greater than ${least}.`);
  if (ids !== undefined && size !== undefined && parameters.has(ids))
    throw new CloudError('InvalidParameterCombination', `The parameter ${ids} cannot be used with the parameter maxResults`);
  const after = token === undefined || token === '' ? undefined : lastOf(token);
  return (records, idOf) => {
    const ordered = [...records].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    const from = after === undefined ? 0 : ordered.findIndex((record) => idOf(record) > after);
    const items = from < 0 ? [] : ordered.slice(from, from + Math.min(size ?? most, most));
    const last = items.at(-1);
    const isMore = from >= 0 && from + items.length < ordered.length;
    return { items, nextToken: isMore && last !== undefined ? `${prefix}${btoa(idOf(last))}` : undefined };
  };
}

const prefix = 'eyJ';

function lastOf(token: string): string {
  try {
    if (token.startsWith(prefix)) return atob(token.slice(prefix.length));
  } catch {
    // Not base64.
  }
  throw new CloudError('InvalidNextToken', `The token '${token}' is invalid`);
}

/** The records of these ids. @throws CloudError that names those that do not exist */
export function pick<T>(records: ReadonlyMap<string, T>, ids: readonly string[] | undefined, refuse: (missing: readonly string[]) => CloudError): readonly T[] {
  if (ids === undefined) return [...records.values()];
  const missing = ids.filter((id) => !records.has(id));
  if (missing.length > 0) throw refuse(missing);
  return [...new Set(ids)].flatMap((id) => records.get(id) ?? []);
}

/** Of the resource type in TagSpecification. @throws CloudError */
export function tagsFor(parameters: Parameters, resource: string, others: readonly string[] = []): Tags {
  const found: Record<string, string> = {};
  for (const specification of parameters.structures('TagSpecification')) {
    const type = specification.requiredText('ResourceType');
    if (type !== resource && !others.includes(type))
      throw new CloudError('InvalidParameterValue', `'${type}' is not a valid taggable resource type for this operation.`);
    const tags = readTags(specification);
    if (type === resource) Object.assign(found, tags);
  }
  return found;
}

/** @throws CloudError */
export function readTags(parameters: Parameters): Tags {
  const tags = new Map<string, string>();
  for (const tag of parameters.structures('Tag')) {
    const [key, value] = [tag.text('Key') ?? '', tag.text('Value') ?? ''];
    if (key === '' || key.length > 127) throw new CloudError('InvalidParameterValue', 'Tag keys must be from 1 to 127 characters.');
    if (value.length > 255) throw new CloudError('InvalidParameterValue', 'Tag value exceeds the maximum length of 255 characters');
    if (key.startsWith('aws:')) throw new CloudError('InvalidParameterValue', `Tag keys starting with 'aws:' are reserved for internal use`);
    if (tags.has(key)) throw new CloudError('InvalidParameterValue', `Duplicate tag key '${key}' specified.`);
    tags.set(key, value);
  }
  return Object.fromEntries(tags);
}

export const tagSet = (tags: Tags): readonly { readonly key: string; readonly value: string }[] => Object.entries(tags).map(([key, value]) => ({ key, value }));
