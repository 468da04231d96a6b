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

/** The evaluation context of a policy's expressions for one request. */
export function evaluationContextOf(spec: Spec, input: EvaluationInput): EvaluationContext {
  const { expressions, request, objects, namespace, params, authorizer } = input;
  const types = variableTypes(spec, expressions);
  const scope: ExpressionScope = { params: spec.paramKind !== undefined, authorizer: true, variables: types };
  const activation: Record<string, unknown> = {
    ...activationOf(request, objects, namespace),
    params: params === null ? null : celValue(params),
    authorizer: authorizerValue(request, authorizer),
  };
  const budget: CostBudget = { left: POLICY_BUDGET };
  activation['variables'] = lazyVariables(spec.variables ?? [], { expressions, scope, activation, budget });
  return { expressions, scope, activation, budget };
}

/** A variable may use the earlier ones. */
function variableTypes({ variables = [], paramKind }: Spec, expressions: Expressions): Map<string, string> {
  const types = new Map<string, string>();
  for (const { name, expression } of variables) {
    const compilation = expressions.compile(expression, { params: paramKind !== undefined, authorizer: true, variables: new Map(types) });
    types.set(name, compilation.ok ? compilation.compiled.type : 'dyn');
  }
  return types;
}

/** Variables are evaluated on first use, once. */
function lazyVariables(variables: readonly Variable[], { expressions, scope, activation, budget }: EvaluationContext): object {
  const lazy = Object.create(null) as object;
  for (const { name, expression } of variables) {
    let done: { readonly value: unknown } | undefined;
    const get = (): unknown => (done ??= { value: variable(name, expression) }).value;
    Object.defineProperty(lazy, name, { enumerable: true, get });
  }
  const variable = (name: string, expression: string): unknown => {
    const compilation = expressions.compile(expression, scope);
    if (!compilation.ok) throw new ExpressionError(`composited variable ${JSON.stringify(name)} fails to compile: ${compilation.error.message}`);
    const { value, error, cost } = compilation.compiled.run(activation);
    budget.left -= cost;
    if (error !== undefined) throw new ExpressionError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`);
    return value;
  };
  return lazy;
}
