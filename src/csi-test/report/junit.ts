import { parts } from '../test-case.ts';
import { type CaseResult, countOf, type Report } from './result.ts';
import { citation } from './text.ts';

/**
 * One test suite for each part. A warning is a passed test with output: JUnit has no other place for it. A run that was given up has an error of its
 * own: the cases that it did not reach would look as if there were none.
 */
export function junitReport(report: Report): string {
  const suites = parts.flatMap((part) => {
    const results = report.results.filter((each) => each.part === part);
    return results.length === 0 ? [] : [suite(part, results)];
  });
  const { aborted } = report;
  if (aborted !== undefined) {
    const error = `    <testcase classname="csi.run" name="all cases are tried" time="0.000"><error message="${escape(aborted)}"/></testcase>\n`;
    suites.push(`  <testsuite name="run" tests="1" failures="0" errors="1" skipped="0" time="0.000">\n${error}  </testsuite>\n`);
  }
  const all = counts(report.results, aborted === undefined ? 0 : 1);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="moor csi test" ${all}>\n${suites.join('')}</testsuites>\n`;
}

const suite = (part: string, results: readonly CaseResult[]): string =>
  `  <testsuite name="${escape(part)}" ${counts(results, 0)}>\n${results.map(testCase).join('')}  </testsuite>\n`;

function counts(results: readonly CaseResult[], errors: number): string {
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const [failures, skipped] = [countOf({ results }, 'failed'), countOf({ results }, 'not-applicable')];
  return `tests="${results.length + errors}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${seconds.toFixed(3)}"`;
}

function testCase(result: CaseResult): string {
  const { id, part, outcome, message = '', clause, durationMs, log = '' } = result;
  const head = `    <testcase classname="${escape(`csi.${part}`)}" name="${escape(id)}" time="${(durationMs / 1000).toFixed(3)}"`;
  const text = escape([message, citation(clause), log].filter((each) => each !== '').join('\n'));
  const [first = ''] = message.split('\n');
  switch (outcome) {
    case 'passed':
      return `${head}/>\n`;
    case 'not-applicable':
      return `${head}><skipped message="${escape(message)}"/></testcase>\n`;
    case 'failed':
      return `${head}><failure message="${escape(first)}">${text}</failure></testcase>\n`;
    case 'warned':
      return `${head}><system-out>${text}</system-out></testcase>\n`;
  }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
/** Control characters, halves of a character and two further ones are not allowed in XML. */
const isXml = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return character === '\n' || character === '\t';
  return (code < 0xd800 || code > 0xdfff) && code !== 0xfffe && code !== 0xffff;
};
const escape = (text: string): string => Array.from(text, (each) => entities[each] ?? (isXml(each) ? each : '�')).join('');
