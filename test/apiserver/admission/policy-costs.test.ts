import { describe, expect, test } from 'vitest';
import { onApi } from '../api-under-test.ts';
import { loadExpressions } from '../../../src/api/admission/expressions.ts';
import { evaluate, evaluateMatchConditions, type EvaluationContext } from '../../../src/apiserver/admission/matching/match-conditions.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';

const rule = (expression: string) => ({
  spec: {
    matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] },
    validations: [{ expression }],
  },
});

async function scene(budget: number): Promise<EvaluationContext> {
  return { expressions: await loadExpressions(), scope: { params: false, authorizer: false }, activation: { object: null }, budget: { left: budget } };
}

describe('what an expression of a policy may cost (v1.36.4)', () => {
  test.each([
    ["object.data.x.matches('^(a+)+$')", { x: `${'a'.repeat(60)}!` }, "failed expression: object.data.x.matches('^(a+)+$')"],
    [
      'object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != a)))',
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, ''])),
      "expression 'object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != a)))' resulted in error: operation cancelled: actual cost limit exceeded",
    ],
  ])('%s ends, whatever the object is like', (expression, data, message) =>
    onApi(async (api) => {
      await api.create(`${group}/validatingadmissionpolicies`, { metadata: { name: 'p' }, ...rule(expression) });
      await api.create(`${group}/validatingadmissionpolicybindings`, { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'] } });
      const { code, body } = await api.create(maps, { metadata: { name: 'm' }, data });
      expect([code, body.message]).toEqual([422, `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`]);
    })(),
  );

  test('all validations share a budget; if it is exceeded, only that is reported', async () => {
    const poor = await scene(3);
    expect(evaluate('1 + 1 == 2', poor)).toEqual({ ok: true, value: true });
    const exhausted = 'validation failed due to running out of cost budget, no further validation rules will be run';
    expect(evaluate('[1, 2, 3].all(i, i > 0)', poor)).toEqual({ ok: false, exhausted: true, message: exhausted });
  });

  test('conditions have a budget of their own', async () => {
    const spent = await scene(0);
    expect(evaluateMatchConditions([{ name: 'c', expression: '1 + 1 == 2' }], spent)).toEqual({ type: 'met' });
    expect(spent.budget.left).toBe(0);
  });
});
