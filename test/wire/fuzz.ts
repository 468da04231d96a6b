import fc from 'fast-check';

/**
 * How much is tried: little and always the same by default; `FUZZ_RUNS=100000 FUZZ_SEED=$RANDOM npx vitest run test/wire/fuzz` looks for more.
 * A failure prints its seed and the smallest case.
 */
export function fuzzing(runs: number): { numRuns: number; seed: number } {
  return { numRuns: Number(process.env['FUZZ_RUNS'] ?? runs), seed: Number(process.env['FUZZ_SEED'] ?? 1) };
}

/** Texts that mean something to some reader. */
const sharpTexts = [
  '',
  ' ',
  'a',
  'A',
  '-',
  '.',
  '..',
  '/',
  '~1',
  '__proto__',
  'constructor',
  'null',
  'default',
  '0',
  '-1',
  '1Gi',
  '1e999999',
  '0.5',
  '2026-01-01T00:00:00Z',
  'not a time',
  '$patch',
  'delete',
  'x'.repeat(300),
  'ü\u0000',
  '\ud800',
  'kubernetes.io/x',
];
const sharpNumbers = [0, -0, 1, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308];

const sharpText = fc.oneof(fc.constantFrom(...sharpTexts), fc.string({ maxLength: 8 }));

/** Keys that objects of Kubernetes have, and some that they must not have. */
const keys = [
  'metadata',
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'creationTimestamp',
  'deletionTimestamp',
  'spec',
  'status',
  'data',
  'binaryData',
  'immutable',
  'kind',
  'apiVersion',
  'resources',
  'requests',
  'storage',
  'containers',
  'volumes',
  'template',
  'selector',
  'matchLabels',
  'replicas',
  'ports',
  'port',
  'accessModes',
  'volumeName',
  'image',
  'conditions',
  'type',
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  '__proto__',
  'a',
  '',
];
export const key = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...keys) }, sharpText);

/** Anything that JSON can say, made of what hurts. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    sharpText,
    fc.constantFrom(...sharpNumbers),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** Where something is in a value: '/spec/containers/0/image'. */
export function pointersOf(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, member]) => pointersOf(member, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`))];
}

/** The value with one place changed. */
export function changedAt(value: unknown, pointer: string, to: unknown): unknown {
  if (pointer === '') return to;
  const [, first = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? [];
  const name = first.replaceAll('~1', '/').replaceAll('~0', '~');
  if (Array.isArray(value)) return value.map((element: unknown, i) => (String(i) === name ? changedAt(element, rest, to) : element));
  return { ...(value as object), [name]: changedAt((value as Record<string, unknown>)[name], rest, to) };
}
