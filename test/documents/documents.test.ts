/** The tables of this folder: each statement of a document is linked to the test that shows it, or to the issue that brings it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const here = import.meta.dirname;
const issues = ['Real pods', 'More than one machine', 'Clouds on a laptop'];
const documents: Readonly<Record<string, { readonly rows: number; readonly example?: string }>> = {
  '1-volumes-investigation.md': { rows: 35, example: '../../examples/volumes-investigation/replay.sh' },
  '2-persistent-volumes.md': { rows: 35 },
  '3-volume-plugins.md': { rows: 45 },
  '4-karpenter-blueprint.md': { rows: 35, example: '../../examples/shared-claim/follow.sh' },
  '5-controller-consolidation.md': { rows: 70 },
};

interface Row {
  readonly statement: string;
  readonly shownBy: string;
}
interface Link {
  readonly title: string;
  readonly target: string;
}

const textOf = (target: string): string => readFileSync(path.join(here, target), 'utf8');

function rowsOf(text: string): readonly Row[] {
  const lines = text.split('\n').filter((line) => line.startsWith('|') && !/^\|(---\||\s*statement\s*\|)/.test(line));
  return lines.map((line) => {
    const [, statement = '', shownBy = '', rest] = line.split('|').map((cell) => cell.trim());
    expect(rest, `two cells in ${line}`).toBe('');
    return { statement, shownBy };
  });
}

const linksOf = (text: string): readonly Link[] => Array.from(text.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g), ([, title = '', target = '']) => ({ title, target }));
const issueOf = (text: string): string | undefined => /(?:^|; )to come: (.+)$/.exec(text)?.[1];

/** The source as it stands between quotes. */
const hasTitle = (source: string, title: string): boolean =>
  ["'", '"', '`'].some((quote) => source.includes(quote + title.replaceAll(quote, `\\${quote}`) + quote));

test('every document has its table', () => {
  expect(readdirSync(here).filter((name) => name.endsWith('.md'))).toEqual(Object.keys(documents));
});

describe.each(Object.entries(documents))('%s', (file, { rows: least, example }) => {
  const text = textOf(file);
  const rows = rowsOf(text);

  test('has its statements, each once', () => {
    const statements = rows.map(({ statement }) => statement);
    expect(statements.length).toBeGreaterThanOrEqual(least);
    expect(new Set(statements).size).toBe(statements.length);
  });

  test('each statement is shown by a test that exists, or comes with an issue', () => {
    const faults = rows.flatMap(({ statement, shownBy }) => {
      const [links, issue] = [linksOf(shownBy), issueOf(shownBy)];
      if (links.length === 0 && issue === undefined) return [`${statement}: neither a link nor an issue`];
      if (issue !== undefined && !issues.includes(issue)) return [`${statement}: no issue is called ${issue}`];
      return links.flatMap(({ title, target }) => {
        if (!existsSync(path.join(here, target))) return [`${statement}: ${target} does not exist`];
        return hasTitle(textOf(target), title) ? [] : [`${statement}: ${target} has no test called ${title}`];
      });
    });
    expect(faults).toEqual([]);
  });

  test('its other links lead to files; its example is one of them', () => {
    const targets = linksOf(text).map(({ target }) => target);
    expect(targets.filter((target) => !existsSync(path.join(here, target)))).toEqual([]);
    if (example !== undefined) expect(targets).toContain(example);
  });
});

test('a test runs each linked example', () => {
  // The examples suite runs every folder that has a replay.sh.
  expect(textOf('../examples/examples.test.ts')).toContain("'replay.sh'");
  expect(textOf('../sandbox/durability.test.ts')).toContain("'examples/shared-claim/follow.sh'");
});
