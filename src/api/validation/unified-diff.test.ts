import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unifiedDiff } from './unified-diff.ts';

const lines = (...all: string[]): string => all.join('\n');

test('a change is shown with three lines around it', () => {
  expect(unifiedDiff(lines('1', '2', '3', '4', '5', '6', '7', '8', '9'), lines('1', '2', '3', '4', 'five', '6', '7', '8', '9'))).toBe(
    `${lines('@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8')}\n`,
  );
});

test('changes far apart are apart, and a line that is added or taken has a range of its own', () => {
  const before = Array.from({ length: 12 }, (_, i) => `${i}`);
  const after = ['new', ...before.slice(0, 11)];
  expect(unifiedDiff(lines(...before), lines(...after))).toBe(
    `${lines('@@ -1,3 +1,4 @@', '+new', ' 0', ' 1', ' 2', '@@ -9,4 +10,3 @@', ' 8', ' 9', ' 10', '-11')}\n`,
  );
  expect(unifiedDiff('a', 'b')).toBe(`${lines('@@ -1 +1 @@', '-a', '+b')}\n`);
});

test('equal texts have no difference, and texts without end are not compared', () => {
  expect(unifiedDiff('a', 'a')).toBe('');
  expect(unifiedDiff('a\n'.repeat(2000), 'b')).toBe('');
});

/** What `patch` would do: context and removed lines must be there, added ones come in. */
function applied(before: string, diff: string): string {
  const source = before.split('\n');
  const result: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(0, -1)) {
    const head = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (head !== null) {
      const start = Number(head[1]) - (head[2] === '0' ? 0 : 1);
      result.push(...source.slice(at, start));
      at = start;
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      expect(line.slice(1)).toBe(source[at]);
      if (line.startsWith(' ')) result.push(line.slice(1));
      at++;
    }
  }
  return [...result, ...source.slice(at)].join('\n');
}

test('applied to the one text, the difference makes the other', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 30 }).map((all) => all.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(applied(before, unifiedDiff(before, after))).toBe(after);
    }),
  );
});
