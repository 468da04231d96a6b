/** Every place of the API's schema where a client can put something, and what a hostile client would put there. */
import { apiVersionOf, type Kind } from '../../src/api/kind.ts';
import { allKinds } from '../../src/api/kinds/index.ts';
import { type TypeExpression, typeSchema } from '../../src/api/schema/type-schema.ts';

/** A field of a struct, reached through a kind: each field of each struct once. */
export interface Position {
  readonly kind: Kind;
  /** 'PodSpec.hostname' */
  readonly field: string;
  readonly type: TypeExpression;
  /** JSON of an object of the kind with this JSON at the position. */
  readonly objectWith: (json: string) => string;
}

export function schemaPositions(): readonly Position[] {
  const found: Position[] = [];
  const visited = new Set<string>();
  for (const kind of allKinds) {
    const visit = (struct: string, within: (json: string) => string): void => {
      if (visited.has(struct)) return;
      visited.add(struct);
      for (const { name, type } of typeSchema(struct).byName.values()) {
        const objectWith = (json: string): string => within(`{"${name}":${json}}`);
        found.push({ kind, field: `${struct}.${name}`, type, objectWith });
        descend(type, objectWith);
      }
    };
    const descend = (type: TypeExpression, objectWith: (json: string) => string): void => {
      if (type.type === 'struct') visit(type.name, objectWith);
      if (type.type === 'list') descend(type.of, (json) => objectWith(`[${json}]`));
      if (type.type === 'map') descend(type.of, (json) => objectWith(`{"a":${json}}`));
    };
    visit(kind.type, (json) => json.replace('{', `{"apiVersion":"${apiVersionOf(kind)}","kind":"${kind.kind}","spec":{},"metadata":{"name":"x"},`));
  }
  return found;
}

export interface Payload {
  readonly name: string;
  /** As large as shows a square in what is cheap to read, and no larger. */
  readonly bytes: number;
  readonly json: (size: number) => string;
}

const sizes = { digits: 1_000_000, members: 256_000, fields: 128_000, text: 128_000 } as const;

/** JSON of about `size` bytes for a value of this type, by what it stresses. */
export function payloadsFor(type: TypeExpression): readonly Payload[] {
  const digits: Payload = { name: 'a long number', bytes: sizes.digits, json: (size) => '9'.repeat(size) };
  switch (type.type) {
    case 'list':
      return [
        { name: 'many items', bytes: sizes.members, json: (size) => `[${filled(size, (i) => itemOf(type.of, i))}]` },
        { name: 'the same item', bytes: sizes.members, json: (size) => `[${filled(size, () => itemOf(type.of, 0))}]` },
      ];
    case 'map':
      return [
        { name: 'many keys', bytes: sizes.members, json: (size) => `{${filled(size, (i) => `"k${i}":${itemOf(type.of, i)}`)}}` },
        { name: 'a long key', bytes: sizes.text, json: (size) => `{"${'a'.repeat(size)}":${itemOf(type.of, 0)}}` },
      ];
    case 'struct':
      return [
        { name: 'unknown fields', bytes: sizes.fields, json: (size) => `{${filled(size, (i) => `"k${i}":0`)}}` },
        { name: 'duplicate fields', bytes: sizes.fields, json: (size) => `{${filled(size, (i) => `"k${i % 2}":0`)}}` },
      ];
    case 'any':
    case 'RawExtension':
    case 'FieldsV1':
      return [
        digits,
        { name: 'deep nesting', bytes: sizes.text, json: (size) => `${'{"a":'.repeat(900)}"${'a'.repeat(size)}"${'}'.repeat(900)}` },
        { name: 'many keys', bytes: sizes.members, json: (size) => `{${filled(size, (i) => `"f:k${i}":{}`)}}` },
      ];
    case 'bool':
    case 'int32':
    case 'int64':
      return [digits, { name: 'a long fraction', bytes: sizes.digits, json: (size) => `0.${'0'.repeat(size)}1` }];
    default:
      return [
        digits,
        ...fillings.map((filling) => ({ name: `a text of ${JSON.stringify(filling)}`, bytes: sizes.text, json: (size: number) => text(size, filling) })),
      ];
  }
}

/** What texts are split at, and what makes patterns backtrack. */
const fillings = ['a', '9', '0', 'a.', '1.', 'a/', 'a=b,', 'a:', '%', '(', '[', '$(', '-', ' ', '{.a', '😀'];

const text = (size: number, filling: string): string => JSON.stringify(`${filling.repeat(Math.ceil(size / filling.length))}!`);

function filled(size: number, item: (i: number) => string): string {
  const items: string[] = [];
  for (let length = 0; length < size; ) {
    const next = item(items.length);
    items.push(next);
    length += next.length + 1;
  }
  return items.join(',');
}

function itemOf(type: TypeExpression, i: number): string {
  switch (type.type) {
    case 'struct': {
      const texts = [...typeSchema(type.name).byName.values()].filter((field) => field.type.type === 'string').slice(0, 2);
      return `{${texts.map(({ name }) => `"${name}":"a${i}"`).join(',')}}`;
    }
    case 'list':
      return '[]';
    case 'map':
    case 'any':
    case 'RawExtension':
    case 'FieldsV1':
      return '{}';
    case 'bool':
      return 'true';
    case 'int32':
    case 'int64':
    case 'IntOrString':
      return String(i);
    default:
      return `"a${i}"`;
  }
}
