/** Type checks of CEL rules: a definition with a rule that can never succeed is refused. */
import { expressionError } from '../admission/expression-error.ts';
import type { Cel, Declared } from '../cel/environment.ts';
import { additionalOf, type JsonSchema } from '../json-schema.ts';

/** A property's name escaped for CEL: 'x-y' is self.x__dash__y. */
export function escaped(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name.replaceAll('__', '__underscores__').replaceAll('.', '__dot__').replaceAll('-', '__dash__').replaceAll('/', '__slash__');
}

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

const scalars: Readonly<Record<string, string>> = { boolean: 'bool', integer: 'int', number: 'double', string: 'string' };

/** String formats that have their own CEL types. */
const otherFormats: ReadonlySet<string> = new Set(['byte', 'date', 'date-time', 'duration']);

function declared(schema: JsonSchema): Declared {
  const { type = '', format = '', items, properties = {} } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) return 'dyn';
  if (type === 'array') return within(items, (of) => `list<${of}>`, 'list');
  if (type !== 'object') return type === 'string' && otherFormats.has(format) ? 'dyn' : (scalars[type] ?? 'dyn');
  const additional = additionalOf(schema);
  if (additional !== undefined) return within(additional, (of) => `map<string, ${of}>`, 'map');
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-embedded-resource'] === true;
  const named = Object.entries(properties).map(([name, of]) => [escaped(name), declared(of)] as const);
  const fields = named.filter(([name]) => /^[A-Za-z_]\w*$/.test(name));
  return isOpen || fields.length === 0 ? 'dyn' : Object.fromEntries(fields);
}

function within(schema: JsonSchema | undefined, of: (type: string) => string, otherwise: string): string {
  const inner = schema === undefined ? 'dyn' : declared(schema);
  return typeof inner === 'string' && inner !== 'dyn' ? of(inner) : otherwise;
}

const plain: ReadonlySet<string> = new Set(['bool', 'int', 'double', 'string']);
const operands = /^ERROR: .* applied to '\((\w+), (\w+)\)'/;

export interface Wanted {
  readonly schema: JsonSchema;
  readonly optionalOld: boolean;
  readonly result: 'bool' | 'string';
}

/** A type error of a parsed expression; undefined: none, or the types are not known. */
export function wrongTypes(cel: Cel, text: string, { schema, optionalOld, result }: Wanted): string | undefined {
  const self = declared(schema);
  const { type, error } = cel.check(text, { self, oldSelf: optionalOld ? 'optional<dyn>' : self });
  if (error !== undefined) {
    const { message } = expressionError(error, text);
    const [, left = '', right = ''] = operands.exec(message) ?? [];
    return plain.has(left) && plain.has(right) ? `compilation failed: ${message}` : undefined;
  }
  if (type === result || type === undefined || !plain.has(type)) return undefined;
  return result === 'bool' ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string';
}
