import type { Bench } from '../bench.ts';
import type { Need } from '../capabilities.ts';
import type { Clause } from '../clauses.ts';
import type { TestCase } from '../test-case.ts';

/** A case of the table of specs: 'CreateVolume/no name'. */
export const spec = (
  id: string,
  { title, clause, needs = [] }: { title: string; clause: Clause; needs?: readonly Need[] },
  run: (bench: Bench) => Promise<void>,
): TestCase => ({
  id,
  part: 'specs',
  title,
  clause,
  needs,
  run,
});

/** An id that no driver gave. */
export const unknownId = 'moor-csi-test-does-not-exist';
