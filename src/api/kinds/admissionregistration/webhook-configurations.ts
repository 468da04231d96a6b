import { duplicate, type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { MutatingWebhook, MutatingWebhookConfiguration, ValidatingWebhook, ValidatingWebhookConfiguration } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { dns1035LabelProblems, dnsSubdomainProblems } from '../../validation/names.ts';
import { ageColumn, integerColumn, nameColumn } from '../../printer-columns.ts';
import { admissionKind } from './admission-kind.ts';
import { validateClientConfig } from './client-config.ts';
import { validateMatchConditions } from './conditions.ts';
import {
  defaultRules,
  reservedNameWarnings,
  validateFailurePolicy,
  validateMatchPolicy,
  validateReinvocationPolicy,
  validateRuleWithOperations,
} from './rules.ts';

type Webhook = ValidatingWebhook | MutatingWebhook;
type Configuration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration;

function defaults({ webhooks = [] }: Configuration): void {
  for (const webhook of webhooks) {
    webhook.failurePolicy ??= 'Fail';
    webhook.matchPolicy ??= 'Equivalent';
    webhook.namespaceSelector ??= {};
    webhook.objectSelector ??= {};
    webhook.timeoutSeconds ??= 10;
    if (webhook.clientConfig.service !== undefined) webhook.clientConfig.service.port ??= 443;
    defaultRules(webhook.rules);
  }
}

function mutatingDefaults(configuration: MutatingWebhookConfiguration): void {
  defaults(configuration);
  for (const webhook of configuration.webhooks ?? []) webhook.reinvocationPolicy ??= 'Never';
}

/** What a configuration that is there already need not follow, as long as it does not follow it. */
interface Leniency {
  readonly sideEffects: boolean;
  readonly reviewVersions: boolean;
  readonly repeatedNames: boolean;
  readonly selectorValues: boolean;
  readonly conditions: boolean;
}

const strict: Leniency = { sideEffects: false, reviewVersions: false, repeatedNames: false, selectorValues: false, conditions: false };

const noSideEffects = ['None', 'NoneOnDryRun'];
const allSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
/** Of AdmissionReview. */
const reviewVersions = ['v1', 'v1beta1'];

function leniencyFor({ webhooks = [] }: Configuration, { webhooks: old = [] }: Configuration): Leniency {
  const known = (versions: readonly string[]): boolean => versions.length === 0 || versions.some((version) => reviewVersions.includes(version));
  return {
    sideEffects: !old.every(({ sideEffects }) => noSideEffects.includes(sideEffects ?? '')),
    reviewVersions: !old.every(({ admissionReviewVersions }) => known(admissionReviewVersions ?? [])),
    repeatedNames: new Set(old.map(({ name }) => name)).size < old.length,
    selectorValues: old.some((webhook) => selectorErrors(webhook, false, '').length > 0),
    conditions: webhooks.length === old.length && webhooks.every((webhook, i) => semanticallyEqual(webhook.matchConditions, old[i]?.matchConditions)),
  };
}

function validate({ webhooks = [] }: Configuration, leniency: Leniency): FieldError[] {
  const names = new Set<string>();
  return (webhooks as readonly Webhook[]).flatMap((webhook, i) => {
    const field = `webhooks[${i}]`;
    const errors = [
      ...validateWebhook(webhook, leniency, field),
      ...validateReviewVersions(webhook.admissionReviewVersions ?? [], leniency, `${field}.admissionReviewVersions`),
    ];
    if (!leniency.repeatedNames && names.has(webhook.name)) errors.push(duplicate(`${field}.name`, webhook.name));
    if (webhook.name !== '') names.add(webhook.name);
    return errors;
  });
}

function validateWebhook(webhook: Webhook, leniency: Leniency, field: string): FieldError[] {
  return [
    ...validateHookName(webhook.name, `${field}.name`),
    ...(webhook.rules ?? []).flatMap((rule, i) => validateRuleWithOperations(rule, `${field}.rules[${i}]`)),
    ...validateFailurePolicy(webhook.failurePolicy, `${field}.failurePolicy`),
    ...validateMatchPolicy(webhook.matchPolicy, `${field}.matchPolicy`),
    ...validateSideEffects(webhook.sideEffects, leniency, `${field}.sideEffects`),
    ...validateTimeout(webhook.timeoutSeconds, `${field}.timeoutSeconds`),
    ...selectorErrors(webhook, leniency.selectorValues, field),
    ...('reinvocationPolicy' in webhook ? validateReinvocationPolicy(webhook.reinvocationPolicy, `${field}.reinvocationPolicy`) : []),
    ...validateClientConfig(webhook.clientConfig, `${field}.clientConfig`),
    ...(leniency.conditions ? [] : validateMatchConditions(webhook.matchConditions, { params: false, authorizer: true }, `${field}.matchConditions`)),
  ];
}

/** A domain of at least three parts. */
function validateHookName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return [invalid(field, name, problems.join(','))];
  return name.split('.').length < 3 ? [invalid(field, name, 'should be a domain with at least three segments separated by dots')] : [];
}

function validateSideEffects(sideEffects: string | null, leniency: Leniency, field: string): FieldError[] {
  const allowed = leniency.sideEffects ? allSideEffects : noSideEffects;
  if (sideEffects === null) return [required(field, `must specify one of ${allowed.join(', ')}`)];
  return allowed.includes(sideEffects) ? [] : [notSupported(field, sideEffects, allowed)];
}

function validateTimeout(seconds: number | undefined, field: string): FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= 30)) return [];
  return [invalid(field, seconds, 'the timeout value must be between 1 and 30 seconds')];
}

const selectorErrors = ({ namespaceSelector, objectSelector }: Webhook, allowInvalidValues: boolean, field: string): FieldError[] => [
  ...validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`, { allowInvalidValues }),
  ...validateLabelSelector(objectSelector, `${field}.objectSelector`, { allowInvalidValues }),
];

function validateReviewVersions(versions: readonly string[], leniency: Leniency, field: string): FieldError[] {
  if (versions.length === 0) return [required(field, `must specify one of ${reviewVersions.join(', ')}`)];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(`${field}[${i}]`, version, 'duplicate version'));
    else for (const problem of dns1035LabelProblems(version)) errors.push(invalid(`${field}[${i}]`, version, problem));
    seen.add(version);
  }
  if (!leniency.reviewVersions && !versions.some((version) => reviewVersions.includes(version))) {
    errors.push(invalid(field, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  }
  return errors;
}

const shared = {
  validate: (configuration: Configuration) => validate(configuration, strict),
  validateUpdate: (configuration: Configuration, old: Configuration) => validate(configuration, leniencyFor(configuration, old)),
  warnings: ({ metadata }: Configuration) => reservedNameWarnings(metadata.name),
} as const;

const columns = [nameColumn, integerColumn<Configuration>('Webhooks', ({ webhooks = [] }) => webhooks.length), ageColumn];

export const validatingWebhookConfigurationKind: Kind<ValidatingWebhookConfiguration> = {
  ...admissionKind('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
  ...shared,
  defaults,
  columns,
};

export const mutatingWebhookConfigurationKind: Kind<MutatingWebhookConfiguration> = {
  ...admissionKind('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
  ...shared,
  defaults: mutatingDefaults,
  columns,
};
