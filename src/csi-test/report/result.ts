import type { Clause } from '../clauses.ts';
import type { Part } from '../test-case.ts';

/** `failed`: a MUST is violated; `warned`: a SHOULD; `not-applicable`: the driver, or this run, does not offer what the case needs. */
export type Outcome = 'passed' | 'failed' | 'warned' | 'not-applicable';

export interface CaseResult {
  readonly id: string;
  readonly part: Part;
  readonly title: string;
  readonly harm?: string;
  readonly outcome: Outcome;
  readonly clause: Clause;
  /** Why it failed, or is not applicable. */
  readonly message?: string;
  readonly durationMs: number;
  /** Flags that repeat this case alone. */
  readonly replay?: readonly string[];
  /** What the driver wrote during the case. */
  readonly log?: string;
}

export interface Report {
  readonly driver: { readonly name: string; readonly version: string };
  readonly capabilities: readonly string[];
  readonly seed: number;
  readonly results: readonly CaseResult[];
  readonly durationMs: number;
  /** Why the run ended early. */
  readonly aborted?: string;
}

export const countOf = ({ results }: Pick<Report, 'results'>, outcome: Outcome): number => results.filter((each) => each.outcome === outcome).length;
