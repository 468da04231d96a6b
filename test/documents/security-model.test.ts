/** docs/SECURITY-MODEL.md: each line of its tables names tests, and they exist. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/SECURITY-MODEL.md', root), 'utf8');

/** The lines of tables that have a column of tests, without their headings. */
function provenLines(): readonly string[] {
  const lines = text.split('\n');
  return lines.filter((line, number) => {
    if (!line.startsWith('|') || /^\|[-|]+\|$/.test(line)) return false;
    const first = lines.slice(0, number + 1).findLastIndex((each, at) => !(lines[at - 1] ?? '').startsWith('|') && each.startsWith('|'));
    return first !== number && (lines[first] ?? '').endsWith('| test |');
  });
}

const testsIn = (line: string): readonly string[] => [...(line.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);

test('each line names a test, and all tests that are named exist', () => {
  const lines = provenLines();
  expect(lines.length).toBeGreaterThan(30);
  expect(lines.filter((line) => testsIn(line).length === 0)).toEqual([]);
  const named = [...text.matchAll(/`((?:test|src)\/[^`]+\.ts)`/g)].map(([, path = '']) => path);
  expect([...new Set([...named, ...lines.flatMap(testsIn)])].filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
