import { type FieldSchema, type Scalar, type TypeExpression, typeSchema } from './type-schema.ts';

/** Numbers from 0 up to, not including, `below`. */
export type Random = (below: number) => number;

/** A small generator for tests and simulations: the same seed, the same numbers. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** How deep types may nest that contain themselves (JSON schemas, pod templates in jobs in cron jobs). */
const maxNesting = 7;

/** An object of a type of the schema with some of its fields set, each to a value that fits. Not necessarily one that is valid. */
export function randomObject(type: string, random: Random): Record<string, unknown> {
  return randomStruct(type, { random, depth: 0 });
}

interface Growth {
  readonly random: Random;
  readonly depth: number;
}

function randomStruct(name: string, growth: Growth): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const field of typeSchema(name).fields) addField(object, field, growth);
  return object;
}

function addField(object: Record<string, unknown>, field: FieldSchema, growth: Growth): void {
  if (field.inline && field.type.type === 'struct') {
    if (field.type.name !== 'TypeMeta') Object.assign(object, randomStruct(field.type.name, growth));
    return;
  }
  // Fewer fields the deeper, so that objects stay of a size.
  if (growth.random(3 + growth.depth) > 1 || growth.depth >= maxNesting) return;
  object[field.name] = randomValue(field.type, { ...growth, depth: growth.depth + 1 });
}

function randomValue(type: TypeExpression, growth: Growth): unknown {
  const { random } = growth;
  switch (type.type) {
    case 'struct':
      return randomStruct(type.name, growth);
    case 'list':
      return Array.from({ length: random(3) }, () => randomValue(type.of, growth));
    case 'map':
      return Object.fromEntries(Array.from({ length: random(3) }, () => [randomString(random), randomValue(type.of, growth)]));
    default:
      return randomScalar(type.type, random);
  }
}

function randomScalar(type: Scalar, random: Random): unknown {
  switch (type) {
    case 'string':
      return randomString(random);
    case 'bool':
      return random(2) === 1;
    case 'int32':
      return pick(random, [0, 1, -1, 80, 2147483647, -2147483648]);
    case 'int64':
      return pick(random, [0, 1, -1, 3600, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);
    case 'bytes':
      return pick(random, ['', 'AA==', 'aGVsbG8=', '/+8=']);
    case 'Quantity':
      return pick(random, ['0', '1Gi', '1024Mi', '1.5Gi', '100m', '0.0001', '1e3', '-5', '1.500']);
    case 'Time':
      return pick(random, ['2026-01-02T03:04:05Z', '2024-02-29T23:59:59+01:00', '1970-01-01T00:00:00Z', '1969-12-31T23:59:59.5Z']);
    case 'MicroTime':
      return pick(random, ['2026-01-02T03:04:05.000006Z', '1969-12-31T23:59:59.500000-02:30']);
    case 'IntOrString':
      return pick(random, [0, 80, -1, 'http', '25%', '']);
    case 'any':
    case 'RawExtension':
      return pick<unknown>(random, [{ a: [1, 'x', null] }, {}]);
    case 'FieldsV1':
      return pick(random, [{ 'f:metadata': { 'f:labels': { '.': {} } } }, {}]);
  }
}

const randomString = (random: Random): string => pick(random, ['', 'a', 'name', 'Ω≈ç', 'with "quotes" and \\', 'kubernetes.io/x', '__proto__', '10']);

function pick<T>(random: Random, choices: readonly T[]): T {
  const chosen = choices[random(choices.length)];
  if (chosen === undefined) throw new Error('nothing to pick from');
  return chosen;
}
