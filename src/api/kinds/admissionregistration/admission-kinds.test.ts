/** Kinds of admission; what they refuse, in the words of v1.36.4. */
import { beforeAll, describe, expect, test } from 'vitest';
import { loadExpressions } from '../../admission/expressions.ts';
import type { ValidatingAdmissionPolicy } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import type { KubeObject } from '../../object.ts';
import { created, type Raw, refusal, row, statusRefusal, statusUpdated, updateRefusal } from '../try-kind.ts';
import { mutatingAdmissionPolicyKind } from './mutating-policies.ts';
import { mutatingAdmissionPolicyBindingKind, validatingAdmissionPolicyBindingKind } from './policy-bindings.ts';
import { validatingAdmissionPolicyKind } from './validating-policies.ts';
import { mutatingWebhookConfigurationKind, validatingWebhookConfigurationKind } from './webhook-configurations.ts';

beforeAll(() => loadExpressions());

type Case = readonly [why: string, raw: Raw, ...causes: (string | RegExp)[]];

function refuses<T extends KubeObject>(kind: Kind<T>, cases: readonly Case[]): void {
  test.each(cases.map(([why, raw, ...causes]) => ({ why, raw, causes })))('$why', ({ raw, causes }) => {
    expect(refusal(kind, raw)).toEqual(causes.map((cause) => (typeof cause === 'string' ? cause : expect.stringMatching(cause))));
  });
}

const rule = (more: Raw = {}): Raw => ({ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], ...more });
const hook = (more: Raw = {}): Raw => ({
  name: 'a.example.com',
  clientConfig: { url: 'https://example.com/x' },
  rules: [rule()],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});
const configuration = (...webhooks: Raw[]): Raw => ({ metadata: { name: 'c' }, webhooks });
const withRule = (more: Raw): Raw => configuration(hook({ rules: [rule(more)] }));
const at = (url: string): Raw => configuration(hook({ clientConfig: { url } }));
const service = (more: Raw): Raw => configuration(hook({ clientConfig: { service: { namespace: 'n', name: 's', ...more } } }));
const form = '; desired format: https://host[/path]';
const there = 'webhooks[0]';

describe('a configuration of webhooks', () => {
  test('is completed with defaults', () => {
    const { webhooks } = created(mutatingWebhookConfigurationKind, configuration(hook({ clientConfig: { service: { namespace: 'n', name: 's' } } })));
    expect(webhooks?.[0]).toEqual({
      name: 'a.example.com',
      clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
      rules: [{ ...rule(), scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      sideEffects: 'None',
      timeoutSeconds: 10,
      admissionReviewVersions: ['v1'],
      reinvocationPolicy: 'Never',
    });
    expect(created(validatingWebhookConfigurationKind, configuration(hook())).webhooks?.[0]).not.toHaveProperty('reinvocationPolicy');
    expect(row(validatingWebhookConfigurationKind, created(validatingWebhookConfigurationKind, configuration(hook(), hook())))).toMatchObject({ Webhooks: 2 });
  });

  refuses(validatingWebhookConfigurationKind, [
    [
      'a name of three parts',
      configuration(hook({ name: 'a.b' })),
      `FieldValueInvalid ${there}.name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`,
    ],
    ['a name at all', configuration(hook({ name: '' })), `FieldValueRequired ${there}.name: Required value`],
    ['names once', configuration(hook(), hook()), 'FieldValueDuplicate webhooks[1].name: Duplicate value: "a.example.com"'],
    [
      'side effects that are known and none',
      configuration(hook({ sideEffects: undefined }), hook({ name: 'b.example.com', sideEffects: 'Some' })),
      `FieldValueRequired ${there}.sideEffects: Required value: must specify one of None, NoneOnDryRun`,
      'FieldValueNotSupported webhooks[1].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ],
    [
      'a version of the review that is known',
      configuration(hook({ admissionReviewVersions: ['v0', 'v0', 'V'] }), hook({ name: 'b.example.com', admissionReviewVersions: [] })),
      `FieldValueInvalid ${there}.admissionReviewVersions[1]: Invalid value: "v0": duplicate version`,
      /^FieldValueInvalid webhooks\[0\].admissionReviewVersions\[2\]: Invalid value: "V": a DNS-1035 label must/,
      `FieldValueInvalid ${there}.admissionReviewVersions: Invalid value: ["v0","v0","V"]: must include at least one of v1, v1beta1`,
      'FieldValueRequired webhooks[1].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
    ],
    [
      'policies and times that exist',
      configuration(hook({ failurePolicy: 'Maybe', matchPolicy: 'Like', timeoutSeconds: 31 })),
      `FieldValueNotSupported ${there}.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"`,
      `FieldValueNotSupported ${there}.matchPolicy: Unsupported value: "Like": supported values: "Equivalent", "Exact"`,
      `FieldValueInvalid ${there}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`,
    ],
    [
      'rules that name something',
      withRule({ operations: [], apiGroups: [], apiVersions: [''], resources: [], scope: 'Some' }),
      `FieldValueRequired ${there}.rules[0].operations: Required value`,
      `FieldValueRequired ${there}.rules[0].apiGroups: Required value`,
      `FieldValueRequired ${there}.rules[0].apiVersions[0]: Required value`,
      `FieldValueRequired ${there}.rules[0].resources: Required value`,
      `FieldValueNotSupported ${there}.rules[0].scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"`,
    ],
    [
      'nothing beside everything',
      withRule({ operations: ['*', 'CREATE'], apiGroups: ['*', ''], apiVersions: ['*', 'v1'], resources: ['*/*', 'pods'] }),
      `FieldValueInvalid ${there}.rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
      `FieldValueInvalid ${there}.rules[0].apiGroups: Invalid value: ["*",""]: if '*' is present, must not specify other API groups`,
      `FieldValueInvalid ${there}.rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
      `FieldValueInvalid ${there}.rules[0].resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`,
    ],
    [
      'subresources once',
      withRule({ operations: ['EXPLODE'], resources: ['a/*', 'a/b', '*/c', 'd/c', '*', 'e'] }),
      `FieldValueNotSupported ${there}.rules[0].operations[0]: Unsupported value: "EXPLODE": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
      `FieldValueInvalid ${there}.rules[0].resources[1]: Invalid value: "a/b": if 'a/*' is present, must not specify a/b`,
      `FieldValueInvalid ${there}.rules[0].resources[3]: Invalid value: "d/c": if '*/c' is present, must not specify d/c`,
      `FieldValueInvalid ${there}.rules[0].resources: Invalid value: ["a/*","a/b","*/c","d/c","*","e"]: if '*' is present, must not specify other resources without subresources`,
    ],
    [
      'one way to be reached',
      configuration(hook({ clientConfig: {} })),
      `FieldValueRequired ${there}.clientConfig: Required value: exactly one of url or service is required`,
    ],
    [
      'a URL of nothing but a place',
      at('http://me:x@/p?q=1#f'),
      `FieldValueInvalid ${there}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
      `FieldValueInvalid ${there}.clientConfig.url: Invalid value: "": host must be specified${form}`,
      `FieldValueInvalid ${there}.clientConfig.url: Invalid value: "me:x": user information is not permitted in the URL`,
      `FieldValueInvalid ${there}.clientConfig.url: Invalid value: "f": fragments are not permitted in the URL`,
      `FieldValueInvalid ${there}.clientConfig.url: Invalid value: "q=1": query parameters are not permitted in the URL`,
    ],
    [
      'a port that is one',
      at('https://h:p/'),
      `FieldValueRequired ${there}.clientConfig.url: Required value: url must be a valid URL: parse "https://h:p/": invalid port ":p" after host${form}`,
    ],
    // Kubernetes takes one for the other.
    ['a service with a name', service({ name: '' }), `FieldValueRequired ${there}.clientConfig.service.namespace: Required value`],
    [
      'a path of a service that is one',
      service({ path: 'a//B', port: 0 }),
      `FieldValueInvalid ${there}.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
      `FieldValueInvalid ${there}.clientConfig.service.path: Invalid value: "a//B": must start with a '/'`,
      `FieldValueInvalid ${there}.clientConfig.service.path: Invalid value: "a//B": segment[0] may not be empty`,
      `FieldValueInvalid ${there}.clientConfig.service.path: Invalid value: "a//B": segment[1] may not be empty`,
      /segment\[2\]: a lowercase RFC 1123 subdomain/,
    ],
    [
      'conditions with names, and expressions that are conditions',
      configuration(
        hook({
          matchConditions: [
            { name: 'a', expression: '1' },
            { name: 'a', expression: ' ' },
            { name: '', expression: 'params.x == 1' },
          ],
        }),
      ),
      `FieldValueInvalid ${there}.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int`,
      `FieldValueRequired ${there}.matchConditions[1].expression: Required value`,
      `FieldValueDuplicate ${there}.matchConditions[1].name: Duplicate value: "a"`,
      /^FieldValueInvalid webhooks\[0\].matchConditions\[2\].expression: .*undeclared reference to 'params' \(in container ''\)/,
      `FieldValueRequired ${there}.matchConditions[2].name: Required value`,
    ],
    [
      'no more than 64 conditions',
      configuration(hook({ matchConditions: Array.from({ length: 65 }, (_, i) => ({ name: `c${i}`, expression: 'true' })) })),
      `FieldValueTooMany ${there}.matchConditions: Too many: 65: must have at most 64 items`,
    ],
  ]);

  refuses(mutatingWebhookConfigurationKind, [
    [
      'a reinvocation policy that exists',
      configuration(hook({ reinvocationPolicy: 'Always' })),
      `FieldValueNotSupported ${there}.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`,
    ],
  ]);

  test('that was stored before a rule existed may stay as it is', () => {
    const old = created(validatingWebhookConfigurationKind, configuration(hook({ sideEffects: 'Some' }), hook({ admissionReviewVersions: ['v0'] })));
    expect(updateRefusal(validatingWebhookConfigurationKind, old, ({ metadata }) => void (metadata.labels = { a: 'b' }))).toEqual([]);
    const fine = created(validatingWebhookConfigurationKind, configuration(hook()));
    expect(
      updateRefusal(validatingWebhookConfigurationKind, fine, ({ webhooks = [] }) => {
        for (const webhook of webhooks) webhook.sideEffects = 'Some';
      }),
    ).toHaveLength(1);
  });
});

const match = (more: Raw = {}): Raw => ({ resourceRules: [rule()], ...more });
const policy = (spec: Raw = {}): Raw => ({ metadata: { name: 'p' }, spec: { matchConstraints: match(), validations: [{ expression: 'true' }], ...spec } });

describe('a policy that validates', () => {
  test('is completed with defaults, and says nothing of itself', () => {
    const made = created(validatingAdmissionPolicyKind, { ...policy({ paramKind: { apiVersion: 'v1', kind: 'Secret' } }), status: { observedGeneration: 9 } });
    expect(made.spec).toMatchObject({ failurePolicy: 'Fail', matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} } });
    expect(made.status).toEqual({});
    expect(row(validatingAdmissionPolicyKind, made)).toMatchObject({ Validations: 1, ParamKind: 'v1/Secret' });
    expect(row(validatingAdmissionPolicyKind, created(validatingAdmissionPolicyKind, policy()))).toMatchObject({ ParamKind: '<unset>' });
  });

  refuses(validatingAdmissionPolicyKind, [
    [
      'something to be about, and something to say',
      { metadata: { name: 'p' }, spec: {} },
      'FieldValueRequired spec.matchConstraints: Required value',
      'FieldValueRequired spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      'FieldValueRequired spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    ],
    ['rules', policy({ matchConstraints: {} }), 'FieldValueRequired spec.matchConstraints.resourceRules: Required value'],
    [
      'names that can be names, once',
      policy({ matchConstraints: match({ excludeResourceRules: [{ ...rule(), resourceNames: ['a/b', 'c', 'c'] }] }) }),
      'FieldValueInvalid spec.matchConstraints.excludeResourceRules[0].resourceNames[0]: Invalid value: "a/b": may not contain \'/\'',
      'FieldValueDuplicate spec.matchConstraints.excludeResourceRules[0].resourceNames[2]: Duplicate value: "c"',
    ],
    [
      'parameters of a kind',
      policy({ paramKind: { apiVersion: 'a/b/c', kind: 'a b' } }),
      'FieldValueInvalid spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      /^FieldValueInvalid spec.paramKind.kind: Invalid value: "a b": may have mixed case, but should otherwise match: a DNS-1035 label/,
    ],
    [
      'expressions of the right types, and variables that are known',
      policy({
        variables: [
          { name: 'one', expression: '1' },
          { name: 'in', expression: 'variables.one + 1' },
          { name: 'late', expression: 'variables.later' },
        ],
        validations: [
          { expression: 'variables.one', message: 'a\nb', reason: 'Because' },
          { expression: 'variables.one == 1', messageExpression: '1', message: ' ' },
          { expression: 'params == null', messageExpression: "authorizer == null ? '' : ''" },
          { expression: 'object.spec' },
        ],
      }),
      'FieldValueInvalid spec.variables[1].name: Invalid value: "in": must be a valid CEL identifier',
      /^FieldValueInvalid spec.variables\[2\].expression: .*undefined field 'later'/,
      'FieldValueInvalid spec.validations[0].expression: Invalid value: "variables.one": must evaluate to bool but got int',
      'FieldValueInvalid spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
      'FieldValueNotSupported spec.validations[0].reason: Unsupported value: "Because": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      'FieldValueInvalid spec.validations[1].messageExpression: Invalid value: "1": must evaluate to string but got int',
      'FieldValueInvalid spec.validations[1].message: Invalid value: " ": must be non-empty if specified',
      /^FieldValueInvalid spec.validations\[2\].expression: .*undeclared reference to 'params'/,
      /^FieldValueInvalid spec.validations\[2\].messageExpression: .*undeclared reference to 'authorizer'/,
      'FieldValueInvalid spec.validations[3].expression: Invalid value: "object.spec": must evaluate to bool but got dyn',
    ],
    [
      'annotations with keys, and values that are texts',
      policy({
        auditAnnotations: [
          { key: 'a', valueExpression: "'x'" },
          { key: 'a', valueExpression: '' },
          { key: 'b c', valueExpression: '1' },
        ],
      }),
      'FieldValueRequired spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified',
      'FieldValueDuplicate spec.auditAnnotations[1].key: Duplicate value: "a"',
      /^FieldValueInvalid spec.auditAnnotations\[2\].key: Invalid value: "p\/b c": name part must consist of/,
      'FieldValueInvalid spec.auditAnnotations[2].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ],
  ]);

  test('has a status that is checked by itself', () => {
    const old = created(validatingAdmissionPolicyKind, policy());
    const warn = (fieldRef: string, warning: string) => (object: ValidatingAdmissionPolicy) => {
      object.status = { typeChecking: { expressionWarnings: [{ fieldRef, warning }] } };
    };
    expect(statusRefusal(validatingAdmissionPolicyKind, old, warn('spec.validations[0].expression', 'odd'))).toEqual([]);
    expect(statusRefusal(validatingAdmissionPolicyKind, old, warn(' ', ''))).toEqual([
      'FieldValueRequired status.typeChecking.expressionWarnings[0].warning: Required value',
      'FieldValueRequired status.typeChecking.expressionWarnings[0].fieldRef: Required value',
    ]);
    const labelled = statusUpdated(validatingAdmissionPolicyKind, old, ({ metadata }) =>
      Object.assign(metadata, { labels: { a: 'b' }, finalizers: ['a.b/c'] }),
    );
    expect([labelled.metadata.labels, labelled.metadata.finalizers]).toEqual([undefined, undefined]);
  });
});

describe('a policy that mutates', () => {
  const mutating = (spec: Raw): Raw => ({
    metadata: { name: 'm' },
    spec: { matchConstraints: match(), reinvocationPolicy: 'Never', mutations: [], ...spec },
  });
  const patch = 'has(object.metadata.labels) ? [] : [JSONPatch{op: "add", path: "/metadata/labels", value: {}}]';
  refuses(mutatingAdmissionPolicyKind, [
    ['nothing is wrong with this', mutating({ mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }] })],
    ['nor with this', mutating({ mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{x: 1}}' } }] })],
    [
      'what it does, and when again',
      mutating({ reinvocationPolicy: undefined }),
      'FieldValueRequired spec.mutations: Required value: mutations must contain at least one item',
      'FieldValueRequired spec.reinvocationPolicy: Required value',
    ],
    [
      'the patch that it says',
      mutating({ mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } }, { patchType: 'Merge' }, {}] }),
      'FieldValueRequired spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
      'FieldValueInvalid spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      'FieldValueNotSupported spec.mutations[1].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"',
      'FieldValueRequired spec.mutations[2].patchType: Required value',
    ],
    [
      'nothing about deletions',
      mutating({
        matchConstraints: match({ resourceRules: [rule({ operations: ['DELETE'] })] }),
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }],
      }),
      'FieldValueNotSupported spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
  ]);
});

describe('a binding', () => {
  const binding = (spec: Raw): Raw => ({ metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], ...spec } });
  refuses(validatingAdmissionPolicyBindingKind, [
    ['a policy', binding({ policyName: '' }), 'FieldValueRequired spec.policyName: Required value'],
    ['actions', binding({ validationActions: [] }), 'FieldValueRequired spec.validationActions: Required value: at least one validation action is required'],
    [
      'actions that go together, once',
      binding({ validationActions: ['Deny', 'Warn', 'Warn', 'Shout'] }),
      'FieldValueDuplicate spec.validationActions[2]: Duplicate value: "Warn"',
      'FieldValueNotSupported spec.validationActions[3]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"',
      /must not contain both Deny and Warn \(repeating/,
    ],
    [
      'one way to find parameters',
      binding({ paramRef: { name: 'n', selector: {} } }),
      'FieldValueForbidden spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'FieldValueForbidden spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      'FieldValueRequired spec.paramRef.parameterNotFoundAction: Required value',
    ],
    [
      'any way to find parameters',
      binding({ paramRef: { parameterNotFoundAction: 'Panic' } }),
      'FieldValueRequired spec.paramRef: Required value: one of name or selector must be specified',
      'FieldValueNotSupported spec.paramRef.parameterNotFoundAction: Unsupported value: "Panic": supported values: "Deny", "Allow"',
    ],
  ]);

  test('shows its policy and its parameters', () => {
    const shown = (paramRef: Raw) => row(mutatingAdmissionPolicyBindingKind, created(mutatingAdmissionPolicyBindingKind, binding({ paramRef })))['ParamRef'];
    expect(shown({ name: 'n' })).toBe('*/n');
    expect(shown({ name: 'n', namespace: 'ns' })).toBe('ns/n');
    expect(shown({ selector: { matchLabels: { a: 'b' } } })).toBe(
      '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}',
    );
  });
});
