import type { CompiledExpression, Expressions, ExpressionScope } from '../../../api/admission/expressions.ts';
import type { MatchCondition } from '../../../api/generated/types.ts';
import type { Activation } from './activation.ts';

/** The result of an expression. `exhausted`: the cost budget is used up, and no other expression may run. */
export type Evaluation = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string; readonly exhausted?: true };

/** The cost that is left for all expressions together. Below zero: exceeded. */
export interface CostBudget {
  left: number;
}

/** v1.36.4: RuntimeCELCostBudget, RuntimeCELCostBudgetMatchConditions. */
export const POLICY_BUDGET = 10_000_000;
const CONDITIONS_BUDGET = 2_500_000;

/** Whether the match conditions of a webhook or policy hold. */
export type MatchOutcome = { readonly type: 'met' } | { readonly type: 'unmet' } | { readonly type: 'failed'; readonly message: string };

/** The compiler, the declared variables, their values and the cost budget of expressions. */
export interface EvaluationContext {
  readonly expressions: Expressions;
  readonly scope: ExpressionScope;
  readonly activation: Activation;
  readonly budget: CostBudget;
}

export function evaluate(text: string, { expressions, scope, activation, budget }: EvaluationContext): Evaluation {
  const compilation = expressions.compile(text, scope);
  if (!compilation.ok) return { ok: false, message: `compilation error: compilation failed: ${compilation.error.message}` };
  return run(compilation.compiled, text, { activation, budget });
}

function run(compiled: CompiledExpression, text: string, { activation, budget }: Pick<EvaluationContext, 'activation' | 'budget'>): Evaluation {
  const { value, error, cost } = compiled.run(activation);
  budget.left -= cost;
  if (budget.left < 0) {
    return { ok: false, message: 'validation failed due to running out of cost budget, no further validation rules will be run', exhausted: true };
  }
  return error === undefined ? { ok: true, value } : { ok: false, message: `expression '${text}' resulted in error: ${error.message}` };
}

/** A false condition takes precedence over failed ones. */
export function evaluateMatchConditions(conditions: readonly MatchCondition[], given: Omit<EvaluationContext, 'budget'>): MatchOutcome {
  const context: EvaluationContext = { ...given, budget: { left: CONDITIONS_BUDGET } };
  const failures: string[] = [];
  for (const { expression } of conditions) {
    const result = evaluate(expression, context);
    if (!result.ok && result.exhausted === true) return { type: 'failed', message: result.message };
    if (!result.ok) failures.push(result.message);
    else if (result.value === false) return { type: 'unmet' };
  }
  if (failures.length === 0) return { type: 'met' };
  return { type: 'failed', message: aggregated(failures) };
}

/** One error alone, several in brackets, without repetitions (Go: utilerrors.Aggregate). */
function aggregated(failures: readonly string[]): string {
  const different = [...new Set(failures)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}
