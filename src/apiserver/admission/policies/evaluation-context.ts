import { ExpressionError } from '../../../api/admission/expression-error.ts';
import { celValue, type Expressions, type ExpressionScope } from '../../../api/admission/expressions.ts';
import type { Namespace, ParamKind, Variable } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { AdmissionRequest } from '../chain.ts';
import type { VersionedObjects } from '../matching/attributes.ts';
import { type CostBudget, POLICY_BUDGET, type EvaluationContext } from '../matching/match-conditions.ts';
import { authorizerValue, activationOf } from '../matching/activation.ts';

interface Spec {
  readonly paramKind?: ParamKind;
  readonly variables?: Variable[];
}

export interface EvaluationInput {
  readonly expressions: Expressions;
  readonly request: AdmissionRequest;
  readonly objects: VersionedObjects;
  readonly namespace: Namespace | undefined;
  readonly params: KubeObject | null;
  readonly authorizer: Authorizer | undefined;
}

/** What a policy's expressions know, and see of one request. */
export function evaluationContextOf(spec: Spec, setting: EvaluationInput): EvaluationContext {
  const { expressions, request, objects, namespace, params, authorizer } = setting;
  const types = variableTypes(spec, expressions);
  const known: ExpressionScope = { params: spec.paramKind !== undefined, authorizer: true, variables: types };
  const values: Record<string, unknown> = {
    ...activationOf(request, objects, namespace),
    params: params === null ? null : celValue(params),
    authorizer: authorizerValue(request, authorizer),
  };
  const budget: CostBudget = { left: POLICY_BUDGET };
  values['variables'] = lazily(spec.variables ?? [], { expressions, scope: known, activation: values, budget });
  return { expressions, scope: known, activation: values, budget };
}

/** Each variable knows those before it. */
function variableTypes({ variables = [], paramKind }: Spec, expressions: Expressions): Map<string, string> {
  const types = new Map<string, string>();
  for (const { name, expression } of variables) {
    const compilation = expressions.compile(expression, { params: paramKind !== undefined, authorizer: true, variables: new Map(types) });
    types.set(name, compilation.ok ? compilation.compiled.type : 'dyn');
  }
  return types;
}

/** Variables are evaluated when an expression first asks for them, and once. */
function lazily(variables: readonly Variable[], { expressions, scope: known, activation: values, budget }: EvaluationContext): object {
  const lazy = Object.create(null) as object;
  for (const { name, expression } of variables) {
    let done: { readonly value: unknown } | undefined;
    const get = (): unknown => (done ??= { value: variable(name, expression) }).value;
    Object.defineProperty(lazy, name, { enumerable: true, get });
  }
  const variable = (name: string, expression: string): unknown => {
    const compilation = expressions.compile(expression, known);
    if (!compilation.ok) throw new ExpressionError(`composited variable ${JSON.stringify(name)} fails to compile: ${compilation.error.message}`);
    const { value, error, cost } = compilation.compiled.run(values);
    budget.left -= cost;
    if (error !== undefined) throw new ExpressionError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`);
    return value;
  };
  return lazy;
}
