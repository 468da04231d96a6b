import { ExpressionError } from '../../../api/admission/expression-error.ts';
import type { Compiled, Expressions, Known } from '../../../api/admission/expressions.ts';
import type { MatchCondition } from '../../../api/generated/types.ts';
import type { Values } from './values.ts';

/** What came of an expression. */
export type Evaluation = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

/** Whether a request is one that a webhook or a policy wants to see. */
export type Outcome = { readonly type: 'met' } | { readonly type: 'unmet' } | { readonly type: 'failed'; readonly message: string };

/** Expressions, what they may know, and what they get to see. */
export interface Scene {
  readonly expressions: Expressions;
  readonly known: Known;
  readonly values: Values;
}

export function evaluate(text: string, { expressions, known, values }: Scene): Evaluation {
  const compilation = expressions.compile(text, known);
  if (!compilation.ok) return { ok: false, message: `compilation error: compilation failed: ${compilation.error.message}` };
  return run(compilation.compiled, text, values);
}

function run(compiled: Compiled, text: string, values: Values): Evaluation {
  try {
    return { ok: true, value: compiled.evaluate(values) };
  } catch (error) {
    const why = error instanceof ExpressionError ? error.message : String(error);
    return { ok: false, message: `expression '${text}' resulted in error: ${why}` };
  }
}

/** A condition that is not met counts more than any that fails. */
export function meets(conditions: readonly MatchCondition[], scene: Scene): Outcome {
  const failures: string[] = [];
  for (const { expression } of conditions) {
    const result = evaluate(expression, scene);
    if (!result.ok) failures.push(result.message);
    else if (result.value === false) return { type: 'unmet' };
  }
  if (failures.length === 0) return { type: 'met' };
  return { type: 'failed', message: aggregated(failures) };
}

/** One error by itself, several in brackets, each once. */
function aggregated(failures: readonly string[]): string {
  const different = [...new Set(failures)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}
