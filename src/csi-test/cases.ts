import { concurrencyCases } from './concurrency.ts';
import { matrix } from './matrix/matrix.ts';
import type { TestOptions } from './options.ts';
import { randomSequence } from './sequences/sequence.ts';
import { specs } from './specs/index.ts';
import { parts, type TestCase } from './test-case.ts';

/** All cases, part by part. */
export function allCases({ sequences }: Pick<TestOptions, 'sequences'>): readonly TestCase[] {
  const cases = [...specs, ...matrix, ...concurrencyCases, ...Array.from({ length: sequences }, (_, index) => randomSequence(index + 1))];
  return parts.flatMap((part) => cases.filter((each) => each.part === part));
}
