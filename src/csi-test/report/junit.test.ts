import { expect, test } from 'vitest';
import { clauses } from '../clauses.ts';
import { junitReport } from './junit.ts';
import type { Report } from './result.ts';

const report: Report = {
  driver: { name: 'test.dev', version: '1' },
  capabilities: [],
  seed: 1,
  durationMs: 30,
  results: [
    { id: 'Probe/ready', part: 'specs', title: 'is ready', clause: clauses.probe, outcome: 'passed', durationMs: 10 },
    {
      id: 'DeleteVolume/unknown',
      part: 'specs',
      title: 'is deleted',
      clause: clauses.deleteIdempotent,
      outcome: 'failed',
      message: 'a <b> & "c" \u0007\ud800',
      durationMs: 20,
    },
  ],
};

test('what XML cannot hold is replaced, and counts are those that readers ask for', () => {
  const xml = junitReport(report);
  expect(xml).toContain('<testsuite name="specs" tests="2" failures="1" errors="0" skipped="0" time="0.030">');
  expect(xml).toContain('<failure message="a &lt;b&gt; &amp; &quot;c&quot; \ufffd\ufffd">');
});

test('a run that was given up is an error, though no case failed', () => {
  const xml = junitReport({ ...report, results: report.results.slice(0, 1), aborted: 'the driver ended' });
  expect(xml).toContain('<testsuites name="moor csi test" tests="2" failures="0" errors="1" skipped="0"');
  expect(xml).toContain('<error message="the driver ended"/>');
});
