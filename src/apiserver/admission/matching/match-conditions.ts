import type { CompiledExpression, Expressions, ExpressionScope } from '../../../api/admission/expressions.ts';
import type { MatchCondition } from '../../../api/generated/types.ts';
import type { Activation } from './activation.ts';

/** What came of an expression. `exhausted`: there is nothing left of the budget, and no other is to be evaluated. */
export type Evaluation = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string; readonly exhausted?: true };

/** What expressions may cost together. Below zero: it was too much. */
export interface CostBudget {
  left: number;
}

/** v1.36.4: RuntimeCELCostBudget, RuntimeCELCostBudgetMatchConditions. */
export const POLICY_BUDGET = 10_000_000;
const CONDITIONS_BUDGET = 2_500_000;

/** Whether a request is one that a webhook or a policy wants to see. */
export type MatchOutcome = { readonly type: 'met' } | { readonly type: 'unmet' } | { readonly type: 'failed'; readonly message: string };

/** Expressions, what they may know, and what they get to see. */
export interface EvaluationContext {
  readonly expressions: Expressions;
  readonly scope: ExpressionScope;
  readonly activation: Activation;
  readonly budget: CostBudget;
}

export function evaluate(text: string, { expressions, scope: known, activation: values, budget }: EvaluationContext): Evaluation {
  const compilation = expressions.compile(text, known);
  if (!compilation.ok) return { ok: false, message: `compilation error: compilation failed: ${compilation.error.message}` };
  return run(compilation.compiled, text, { activation: values, budget });
}

function run(compiled: CompiledExpression, text: string, { activation: values, budget }: Pick<EvaluationContext, 'activation' | 'budget'>): Evaluation {
  const { value, error, cost } = compiled.run(values);
  budget.left -= cost;
  if (budget.left < 0) {
    return { ok: false, message: 'validation failed due to running out of cost budget, no further validation rules will be run', exhausted: true };
  }
  return error === undefined ? { ok: true, value } : { ok: false, message: `expression '${text}' resulted in error: ${error.message}` };
}

/** A condition that is not met counts more than any that fails. */
export function evaluateMatchConditions(conditions: readonly MatchCondition[], given: Omit<EvaluationContext, 'budget'>): MatchOutcome {
  const scene: EvaluationContext = { ...given, budget: { left: CONDITIONS_BUDGET } };
  const failures: string[] = [];
  for (const { expression } of conditions) {
    const result = evaluate(expression, scene);
    if (!result.ok && result.exhausted === true) return { type: 'failed', message: result.message };
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
