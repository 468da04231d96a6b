import type { ExpressionScope } from '../../admission/expressions.ts';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { AuditAnnotation, ExpressionWarning, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec, Validation } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateConditions } from '../../validation/conditions.ts';
import { validateLabelName } from '../../validation/labels.ts';
import { byteLength } from '../../validation/text.ts';
import { ageColumn, integerColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { keepMetadata } from '../status-metadata.ts';
import { admissionKind } from './admission-kind.ts';
import { validateExpression } from './conditions.ts';
import { paramKindCell, readVariables, validatePolicyHead } from './policy-rules.ts';
import { defaultMatchResources, reservedNameWarnings } from './rules.ts';

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;

function validate(policy: ValidatingAdmissionPolicy, old: ValidatingAdmissionPolicySpec | undefined): FieldError[] {
  const { spec, metadata } = policy;
  const { errors, types } = readVariables(spec, false);
  const known: ExpressionScope = { params: spec.paramKind !== undefined, authorizer: true, ...(types === undefined ? {} : { variables: types }) };
  return [...validatePolicyHead(spec, old), ...errors, ...validateChecks(spec, known, metadata.name ?? '')];
}

function validateChecks({ validations = [], auditAnnotations = [] }: ValidatingAdmissionPolicySpec, known: ExpressionScope, name: string): FieldError[] {
  if (validations.length + auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    return [required('spec.validations', detail), required('spec.auditAnnotations', detail)];
  }
  return [
    ...validations.flatMap((validation, i) => validateValidation(validation, known, `spec.validations[${i}]`)),
    ...validateAuditAnnotations(auditAnnotations, known, name),
  ];
}

function validateValidation({ expression, message = '', messageExpression = '', reason }: Validation, known: ExpressionScope, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (expression.trim() === '') errors.push(required(`${field}.expression`, 'expression is not specified'));
  else errors.push(...validateExpression(expression, known, { types: ['bool'], field: `${field}.expression` }));
  if (messageExpression !== '') {
    const at = `${field}.messageExpression`;
    if (messageExpression.trim() === '') errors.push(invalid(at, messageExpression, 'must be non-empty if specified'));
    else errors.push(...validateExpression(messageExpression, { ...known, authorizer: false }, { types: ['string'], field: at }));
  }
  if (message !== '' && message.trim() === '') errors.push(invalid(`${field}.message`, message, 'must be non-empty if specified'));
  else if (/[\n\r]/.test(message.trim())) errors.push(invalid(`${field}.message`, message, 'must not contain line breaks'));
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${field}.reason`, reason, reasons));
  return errors;
}

function validateAuditAnnotations(annotations: readonly AuditAnnotation[], known: ExpressionScope, name: string): FieldError[] {
  const field = 'spec.auditAnnotations';
  const errors: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) errors.push(invalid(field, annotations, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`));
  const seen = new Set<string>();
  for (const [i, { key, valueExpression }] of annotations.entries()) {
    const at = `${field}[${i}]`;
    if (name === '') errors.push(invalid(`${at}.key`, key, 'requires metadata.name be non-empty'));
    else errors.push(...validateLabelName(`${name}/${key}`, `${at}.key`));
    errors.push(...validateValueExpression(valueExpression.trim(), known, `${at}.valueExpression`));
    if (seen.has(key)) errors.push(duplicate(`${at}.key`, key));
    seen.add(key);
  }
  return errors;
}

function validateValueExpression(text: string, known: ExpressionScope, field: string): FieldError[] {
  if (text === '') return [required(field, 'valueExpression is not specified')];
  if (byteLength(text) > MAX_VALUE_EXPRESSION) return [required(field, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`)];
  return validateExpression(text, known, { types: ['string', 'null_type'], field });
}

function validateStatus({ status }: ValidatingAdmissionPolicy): FieldError[] {
  const field = 'status.typeChecking.expressionWarnings';
  return [
    ...(status.typeChecking?.expressionWarnings ?? []).flatMap((warning, i) => validateWarning(warning, `${field}[${i}]`)),
    ...validateConditions(status.conditions ?? [], 'status.conditions'),
  ];
}

const validateWarning = ({ warning, fieldRef }: ExpressionWarning, field: string): FieldError[] => [
  ...(warning === '' ? [required(`${field}.warning`)] : []),
  ...(fieldRef.trim() === '' ? [required(`${field}.fieldRef`)] : []),
];

export const validatingAdmissionPolicyKind: Kind<ValidatingAdmissionPolicy> = {
  ...admissionKind('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  defaults: ({ spec }) => {
    spec.failurePolicy ??= 'Fail';
    defaultMatchResources(spec.matchConstraints);
  },
  prepareForCreate: (policy) => {
    policy.status = {};
  },
  validate: (policy) => validate(policy, undefined),
  validateUpdate: (policy, old) => validate(policy, old.spec),
  warnings: ({ metadata }) => reservedNameWarnings(metadata.name),
  status: { prepareForUpdate: keepMetadata, validateUpdate: validateStatus },
  columns: [
    nameColumn,
    integerColumn('Validations', ({ spec }) => (spec.validations ?? []).length),
    textColumn('ParamKind', ({ spec }) => paramKindCell(spec.paramKind)),
    ageColumn,
  ],
};
