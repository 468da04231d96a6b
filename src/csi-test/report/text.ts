import { type Clause, specificationVersion } from '../clauses.ts';
import { type CaseResult, countOf, type Report } from './result.ts';

const marks = { passed: 'ok  ', failed: 'FAIL', warned: 'warn', 'not-applicable': 'n/a ' } as const;

export const citation = ({ section, line, text }: Clause): string => `CSI ${specificationVersion} spec.md:${line} (${section}): "${text}"`;

/** One line, and for a finding its clause, how to repeat it, and the driver's log. */
export function resultText(result: CaseResult, commandLine: (flags: readonly string[]) => string): string {
  const { id, title, outcome, message, clause, harm, durationMs, replay, log } = result;
  const head = `${marks[outcome]} ${id}: ${title}${harm === undefined ? '' : ` [${harm}]`}`;
  if (outcome === 'passed') return `${head} (${Math.round(durationMs)} ms)`;
  if (outcome === 'not-applicable') return `${head}\n       not applicable: ${message}`;
  return [
    head,
    ...(message ?? '').split('\n').map((line) => `       ${line}`),
    `       ${citation(clause)}`,
    ...(replay === undefined ? [] : [`       replay: ${commandLine(replay)}`]),
    ...(log === undefined || log.trim() === ''
      ? []
      : [
          "       the driver's log:",
          ...log
            .trim()
            .split('\n')
            .slice(-mostLogLines)
            .map((line) => `       | ${line}`),
        ]),
  ].join('\n');
}

const mostLogLines = 15;

export function summaryText(report: Report): string {
  const { driver, seed, results, durationMs, aborted } = report;
  const count = (outcome: CaseResult['outcome']): number => countOf(report, outcome);
  const findings = results.filter(({ outcome }) => outcome === 'failed' || outcome === 'warned');
  return [
    ...(findings.length === 0
      ? []
      : ['', 'Findings:', ...findings.map(({ id, outcome, message }) => `  ${marks[outcome]} ${id}: ${(message ?? '').split('\n')[0]}`)]),
    ...(aborted === undefined ? [] : ['', `The run ended early: ${aborted}`]),
    '',
    `${driver.name} ${driver.version}: ${results.length} cases, ${count('passed')} passed, ${count('failed')} failed, ${count('warned')} warned, ${count('not-applicable')} not applicable (seed ${seed}, ${(durationMs / 1000).toFixed(1)} s)`,
  ].join('\n');
}
