import { describe, expect, test } from 'vitest';
import type { Container, Pod } from '../../api/generated/types.ts';
import { environmentOf } from './environment.ts';

const configMap = { metadata: { name: 'c' }, data: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key-${i}`, 'x'.repeat(1000)])) };

function environment(container: Partial<Container>) {
  const own: Container = { name: 'main', resources: {}, ...container };
  return environmentOf({
    pod: { metadata: { name: 'p', namespace: 'default' }, spec: { containers: [own] }, status: {} } as Pod,
    container: own,
    config: { configMap: () => configMap, secret: () => undefined } as never,
    services: [],
    node: { name: 'n', ip: '10.0.0.1', allocatable: {} },
    podIps: ['10.1.0.1'],
  });
}

const values = (container: Partial<Container>) => {
  const result = environment(container);
  return result.ok ? Object.fromEntries(result.env.map(({ name, value }) => [name, value])) : result.error;
};

test.each([
  ['$(A)', 'a'],
  ['$(A)$(A)-$(B)', 'aa-$(B)'],
  ['$$(A) $$$(A) $ $x', '$(A) $a $ $x'],
  ['$(A', '$(A'],
  ['$(A $$ $(', '$(A $ $('],
  ['$($(A)', '$($(A)'],
  ['$', '$'],
])('%j is %j', (value, expanded) => {
  expect(
    values({
      env: [
        { name: 'A', value: 'a' },
        { name: 'X', value },
      ],
    }),
  ).toEqual({ A: 'a', X: expanded });
});

describe('texts that no program can be started with are refused before they are made', () => {
  test('variables that refer twice to the one before', () => {
    const env = Array.from({ length: 60 }, (_, i) => ({ name: `V${i}`, value: i === 0 ? 'xxxxxxxx' : `$(V${i - 1})$(V${i - 1})` }));
    expect(values({ env })).toBe('environment variable V15 is longer than 131072 bytes: no program can be started with it');
  });

  test('many long variables', () => {
    const long = { name: 'A', value: 'x'.repeat(100_000) };
    expect(values({ env: [long, ...Array.from({ length: 50_000 }, (_, i) => ({ name: `V${i}`, value: '$(A)' }))] })).toContain(
      'longer than 6291456 bytes together',
    );
  });

  test('one map of many variables, again and again', () => {
    expect(values({ envFrom: Array.from({ length: 10_000 }, (_, i) => ({ prefix: `P${i}`, configMapRef: { name: 'c' } })) })).toContain(
      'longer than 6291456 bytes together',
    );
  });

  test.each([
    [{ args: ['$(A)'.repeat(100_000)] }, 'an argument of the command is longer than 131072 bytes'],
    [{ command: Array.from({ length: 100_000 }, () => '$(A)') }, 'longer than 6291456 bytes together'],
  ])('arguments', (container, error) => {
    expect(values({ env: [{ name: 'A', value: 'x'.repeat(100_000) }], ...container })).toContain(error);
  });
});

test('references without an end are read once', () => {
  const value = '$('.repeat(60_000);
  expect(values({ env: [{ name: 'X', value }] })).toEqual({ X: value });
});
