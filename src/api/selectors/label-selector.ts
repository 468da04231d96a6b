/**
 * Label selectors in both of their forms: the string of a query (`tier in (web,db),!legacy`) and the LabelSelector
 * object of a spec. Both become the same list of requirements.
 */
import { int64, readInteger } from '../integers.ts';
import { causeMessage, type FieldError, invalid } from '../field-error.ts';
import { labelKeyProblems, labelValueProblems } from '../validation/names.ts';

export type SelectorOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
}

/** `nothing` matches no object: most APIs take a missing LabelSelector for that. */
export type LabelSelector = { readonly type: 'nothing' } | { readonly type: 'requirements'; readonly requirements: readonly Requirement[] };

export type Labels = Readonly<Record<string, string>>;

/** The selector as it is written in specs. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[] | undefined;
}

/** A selector that cannot be understood; the message is Kubernetes'. */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SelectorError';
  }
}

export const everything: LabelSelector = { type: 'requirements', requirements: [] };
export const nothing: LabelSelector = { type: 'nothing' };

export const selectsEverything = (selector: LabelSelector): boolean => selector.type === 'requirements' && selector.requirements.length === 0;

export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  if (selector.type === 'nothing') return false;
  return selector.requirements.every((requirement) => meets(requirement, labels));
}

function meets({ key, operator, values }: Requirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '>':
    case '<':
      return value !== undefined && compareIntegers(value, operator, values[0] ?? '');
  }
}

function compareIntegers(left: string, operator: '>' | '<', right: string): boolean {
  const [a, b] = [readInteger(left, int64), readInteger(right, int64)];
  if (typeof a !== 'bigint' || typeof b !== 'bigint') return false;
  return operator === '>' ? a > b : a < b;
}

/** The string form, requirements and values sorted: equal selectors have equal strings. */
export function formatLabelSelector(selector: LabelSelector): string {
  return selector.type === 'nothing' ? '' : selector.requirements.map(formatRequirement).join(',');
}

function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort().join(',')})`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}

const objectOperators: ReadonlyMap<string, SelectorOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** @throws SelectorError */
export function labelSelectorOf(object: LabelSelectorObject | undefined): LabelSelector {
  if (object === undefined) return nothing;
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(object.matchLabels ?? {})) requirements.push(requirement(key, '=', [value]));
  for (const expression of object.matchExpressions ?? []) {
    const operator = objectOperators.get(expression.operator);
    if (operator === undefined) throw new SelectorError(`${JSON.stringify(expression.operator)} is not a valid label selector operator`);
    requirements.push(requirement(expression.key, operator, expression.values ?? []));
  }
  return { type: 'requirements', requirements: byKey(requirements) };
}

const byKey = (requirements: readonly Requirement[]): Requirement[] => [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));

function requirement(key: string, operator: SelectorOperator, values: readonly string[]): Requirement {
  const errors: FieldError[] = [...keyErrors('key', key), ...countErrors(operator, values)];
  values.forEach((value, i) => {
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.push(invalid(`values[${i}][${key}]`, value, problems.join('; ')));
  });
  if (errors.length > 0) throw new SelectorError(aggregate(errors));
  return { key, operator, values };
}

function keyErrors(path: string, key: string): FieldError[] {
  const problems = labelKeyProblems(key);
  return problems.length === 0 ? [] : [invalid(path, key, problems.join('; '))];
}

function countErrors(operator: SelectorOperator, values: readonly string[]): FieldError[] {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0 ? [] : [invalid('values', values, "for 'in', 'notin' operators, values set can't be empty")];
    case '=':
    case '==':
    case '!=':
      return values.length === 1 ? [] : [invalid('values', values, 'exact-match compatibility requires one single value')];
    case 'exists':
    case '!':
      return values.length === 0 ? [] : [invalid('values', values, 'values set must be empty for exists and does not exist')];
    case '>':
    case '<':
      return values.flatMap((value, i) =>
        typeof readInteger(value, int64) === 'bigint' ? [] : [invalid(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")],
      );
  }
}

function aggregate(errors: readonly FieldError[]): string {
  const texts = errors.map((error) => `${error.field}: ${causeMessage(error)}`);
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

/** @throws SelectorError */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return everything;
  return { type: 'requirements', requirements: byKey(new Parser(text).parse()) };
}

type Token = { readonly type: 'identifier' | 'symbol' | 'word' | 'error' | 'end'; readonly text: string };

const symbols: ReadonlySet<string> = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
const isSymbolCharacter = (c: string): boolean => '=!(),><'.includes(c);
const isSpace = (c: string): boolean => c === ' ' || c === '\t' || c === '\r' || c === '\n';

function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const start = at;
    const first = text.charAt(at);
    if (isSpace(first)) {
      at++;
    } else if (isSymbolCharacter(first)) {
      // The longest known symbol: '!=' before '!', but '=(' is '=' and '('.
      const two = text.slice(at, at + 2);
      const symbol = symbols.has(two) ? two : first;
      at += symbol.length;
      found.push({ type: 'symbol', text: symbol });
    } else {
      while (at < text.length && !isSpace(text.charAt(at)) && !isSymbolCharacter(text.charAt(at))) at++;
      const word = text.slice(start, at);
      found.push({ type: word === 'in' || word === 'notin' ? 'word' : 'identifier', text: word });
    }
  }
  found.push({ type: 'end', text: '' });
  return found;
}

/** `in` and `notin` are operators only behind a key; elsewhere they are ordinary keys and values. */
const isIdentifier = (token: Token): boolean => token.type === 'identifier' || token.type === 'word';

const end: Token = { type: 'end', text: '' };

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  constructor(text: string) {
    this.#tokens = tokens(text);
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const next = this.#peek();
      if (next.type === 'end') return requirements;
      if (!isIdentifier(next) && next.text !== '!') throw new SelectorError(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator.type === 'end') return requirements;
      if (separator.text !== ',') throw new SelectorError(`found '${separator.text}', expected: ',' or 'end of string'`);
      const after = this.#peek();
      if (!isIdentifier(after) && after.text !== '!') throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
    }
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? end;
  }

  #take(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #requirement(): Requirement {
    try {
      return this.#parseRequirement();
    } catch (error) {
      if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  #parseRequirement(): Requirement {
    let token = this.#take();
    const absent = token.text === '!' && token.type === 'symbol';
    if (absent) token = this.#take();
    if (!isIdentifier(token)) throw new SelectorError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const wrong = keyErrors('<nil>', key);
    if (wrong.length > 0) throw new SelectorError(aggregate(wrong));
    const next = this.#peek();
    if (absent) return requirement(key, '!', []);
    if (next.type === 'end' || next.text === ',') return requirement(key, 'exists', []);
    const operator = this.#operator();
    return requirement(key, operator, operator === 'in' || operator === 'notin' ? this.#values() : [this.#exactValue()]);
  }

  #operator(): SelectorOperator {
    const token = this.#take();
    switch (token.text) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return token.text;
      default:
        throw new SelectorError(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #exactValue(): string {
    const next = this.#peek();
    if (next.type === 'end' || next.text === ',') return '';
    const token = this.#take();
    if (!isIdentifier(token)) throw new SelectorError(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  /** `(a,b)`; empty places count as the empty value: `()`, `(,a)`. */
  #values(): string[] {
    const open = this.#take();
    if (open.text !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    let expectValue = true;
    for (;;) {
      const token = this.#take();
      if (token.text === ')' && token.type === 'symbol') {
        if (expectValue) values.add('');
        return [...values].sort();
      }
      if (token.text === ',' && token.type === 'symbol') {
        if (expectValue) values.add('');
        expectValue = true;
      } else if (isIdentifier(token) && expectValue) {
        values.add(token.text);
        expectValue = false;
      } else {
        throw new SelectorError(`found '${token.text}', expected: ${expectValue ? "',', or identifier" : "',' or ')'"}`);
      }
    }
  }
}
