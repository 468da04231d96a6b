/**
 * The checks of every level and version. What k8s.io/pod-security-admission v0.36.4 says of each of these pods was recorded: for each level the details from a minor version
 * on, until the next one.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../../api/generated/types.ts';
import { detailsText, evaluatePod, reasonsText } from './evaluator.ts';
import type { Level, Version } from './policy.ts';

interface RecordedEvaluation {
  readonly name: string;
  readonly pod: Pod;
  readonly baseline: readonly (readonly [number, string])[];
  readonly restricted: readonly (readonly [number, string])[];
}

const recorded = readFileSync(new URL('recorded-evaluations.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as RecordedEvaluation);

/** One beyond the API's version is evaluated as the newest one. */
const versions: readonly Version[] = [...Array.from({ length: 38 }, (_, minor) => minor), 'latest'];

const says = ({ pod }: RecordedEvaluation, level: Level): readonly (readonly [number, string])[] => {
  const spans: [number, string][] = [];
  versions.forEach((version, at) => {
    const text = detailsText(evaluatePod({ level, version }, pod));
    if (spans.at(-1)?.[1] !== text) spans.push([at, text]);
  });
  return spans;
};

test.each(recorded)('$name', (evaluation) => {
  expect(says(evaluation, 'baseline')).toEqual(evaluation.baseline);
  expect(says(evaluation, 'restricted')).toEqual(evaluation.restricted);
  expect(says(evaluation, 'privileged')).toEqual([[0, '']]);
});

describe('the recorded pods', () => {
  test('violate every check, and change with every version that changes one', () => {
    const spans = recorded.flatMap(({ baseline, restricted }) => [...baseline, ...restricted]);
    expect(new Set(spans.map(([since]) => since))).toEqual(new Set([0, 8, 19, 22, 23, 25, 27, 29, 31, 32, 34, 35]));
  });
});

test('of several pods only the reasons are shown', () => {
  const pod: Pod['spec'] = { hostNetwork: true, containers: [{ name: 'a', resources: {}, securityContext: { privileged: true } }] };
  expect(reasonsText(evaluatePod({ level: 'baseline', version: 'latest' }, { metadata: {}, spec: pod }))).toBe('host namespaces, privileged');
});
