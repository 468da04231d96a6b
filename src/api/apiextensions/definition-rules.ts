/** Validation of CustomResourceDefinitions. */
import { duplicate, type FieldError, forbidden, invalid, notOneOf, required, tooMany } from '../field-error.ts';
import { dns1035LabelProblems, dnsSubdomainProblems } from '../validation/names.ts';
import type { CustomResourceDefinition, DefinitionNames, DefinitionSpec, DefinitionVersion, PrinterColumn } from './definition.ts';
import { isProtectedGroup, validateApproval } from './approval.ts';
import { schemaAt, validateSchema } from './schema-rules.ts';

export function validateDefinition(definition: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  const { spec, status, metadata } = definition;
  const preserves =
    spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true
      ? [invalid('spec.preserveUnknownFields', true, 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead')]
      : [];
  return [
    ...validateSpec(spec),
    ...validateNames(status.acceptedNames, 'status.acceptedNames'),
    ...validateStoredVersions(definition),
    ...(isProtectedGroup(spec.group) ? validateApproval(metadata.annotations ?? {}, old?.metadata.annotations) : []),
    ...preserves,
  ];
}

function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const field = 'status.storedVersions';
  const stored = status.storedVersions ?? [];
  if (stored.length === 0) return [invalid(field, stored, 'must have at least one stored version')];
  const versions = spec.versions ?? [];
  const missing = versions.filter(({ name, storage }) => storage && !stored.includes(name));
  const gone = stored.flatMap((name, i) => {
    if (versions.some((version) => version.name === name)) return [];
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return [invalid(`${field}[${i}]`, name, detail)];
  });
  return [...missing.map(({ name }) => invalid(field, stored, `must have the storage version ${name}`)), ...gone];
}

function validateSpec(spec: DefinitionSpec): FieldError[] {
  const { names } = spec;
  const versions = spec.versions ?? [];
  const errors = [...validateGroup(spec.group), ...oneOf(spec.scope, ['Cluster', 'Namespaced'], 'spec.scope')];
  for (const [i, { schema }] of versions.entries()) {
    if (schema?.openAPIV3Schema === undefined) errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`));
  }
  for (const [i, version] of versions.entries()) errors.push(...validateVersion(version, `spec.versions[${i}]`));
  if (new Set(versions.map(({ name }) => name)).size < versions.length) errors.push(invalid('spec.versions', versions, 'must contain unique version names'));
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid('spec.versions', spec.versions, 'must have exactly one version marked as storage version'));
  }
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) if ((names[name] ?? '') === '') errors.push(required(`spec.names.${name}`));
  return [...errors, ...validateNames(names, 'spec.names'), ...validateConversion(spec)];
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function oneOf(value: string, accepted: readonly string[], field: string): FieldError[] {
  if (value === '') return [required(field)];
  return accepted.includes(value) ? [] : [notOneOf(field, value, accepted)];
}

function validateNames(names: DefinitionNames, field: string): FieldError[] {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  const label = (value: string, at: string): FieldError[] => {
    const problems = value === '' ? [] : dns1035LabelProblems(value);
    return problems.length === 0 ? [] : [invalid(`${field}.${at}`, value, problems.join(','))];
  };
  const mixedCase = (value: string, at: string): FieldError[] => {
    const problems = value === '' ? [] : dns1035LabelProblems(value.toLowerCase());
    return problems.length === 0 ? [] : [invalid(`${field}.${at}`, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
  };
  const listed = (value: string, at: string): FieldError[] => {
    const problems = dns1035LabelProblems(value);
    return problems.length === 0 ? [] : [invalid(`${field}.${at}`, value, problems.join(','))];
  };
  return [
    ...label(plural, 'plural'),
    ...label(singular, 'singular'),
    ...mixedCase(kind, 'kind'),
    ...mixedCase(listKind, 'listKind'),
    ...shortNames.flatMap((name, i) => listed(name, `shortNames[${i}]`)),
    ...(kind !== '' && kind === listKind ? [invalid(`${field}.listKind`, listKind, 'kind and listKind may not be the same')] : []),
    ...categories.flatMap((name, i) => listed(name, `categories[${i}]`)),
  ];
}

function validateVersion(version: DefinitionVersion, field: string): FieldError[] {
  const problems = dns1035LabelProblems(version.name);
  const schema = version.schema?.openAPIV3Schema;
  return [
    ...(problems.length === 0 ? [] : [invalid(`${field}.name`, version.name, problems.join(','))]),
    ...deprecationProblems(version).map((problem) => invalid(`${field}.deprecationWarning`, version.deprecationWarning, problem)),
    ...(schema === undefined ? [] : validateSchema(schema, `${field}.schema.openAPIV3Schema`)),
    ...validateScale(version, `${field}.subresources`),
    ...(version.additionalPrinterColumns ?? []).flatMap((column, i) => validateColumn(column, `${field}.additionalPrinterColumns[${i}]`)),
    ...validateSelectable(version, `${field}.selectableFields`),
  ];
}

function deprecationProblems({ deprecated = false, deprecationWarning: warning }: DefinitionVersion): string[] {
  if (warning === undefined) return [];
  if (!deprecated) return ['can only be set for deprecated versions'];
  if (warning === '') return ['must not be an empty string'];
  const problems = Buffer.byteLength(warning) > 256 ? ['must be <= 256 characters long'] : [];
  const at = Array.from(warning).findIndex((character) => !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character));
  return at < 0 ? problems : [...problems, `must only contain printable UTF-8 characters; non-printable character found at index ${at}`];
}

function simplePath(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];
}

function validateScale({ subresources }: DefinitionVersion, field: string): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const under = (path: string, name: string, { roots, where }: { roots: readonly string[]; where: string }): FieldError[] => {
    const at = `${field}.scale.${name}`;
    const errors = simplePath(path, at);
    if (errors.length > 0) return errors;
    return roots.some((root) => path.startsWith(root)) ? [] : [invalid(at, path, `should be a json path under ${where}`)];
  };
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  return [
    ...(specReplicasPath === ''
      ? [required(`${field}.scale.specReplicasPath`)]
      : under(specReplicasPath, 'specReplicasPath', { roots: ['.spec.'], where: '.spec' })),
    ...(statusReplicasPath === ''
      ? [required(`${field}.scale.statusReplicasPath`)]
      : under(statusReplicasPath, 'statusReplicasPath', { roots: ['.status.'], where: '.status' })),
    ...(labelSelectorPath === '' ? [] : under(labelSelectorPath, 'labelSelectorPath', { roots: ['.spec.', '.status.'], where: 'either .spec or .status' })),
  ];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function validateColumn({ name, type, format = '', jsonPath }: PrinterColumn, field: string): FieldError[] {
  const types = `must be one of ${columnTypes.join(',')}`;
  return [
    ...(name === '' ? [required(`${field}.name`)] : []),
    ...(type === '' ? [required(`${field}.type`, types)] : columnTypes.includes(type) ? [] : [invalid(`${field}.type`, type, types)]),
    ...(format === '' || columnFormats.includes(format) ? [] : [invalid(`${field}.format`, format, `must be one of ${columnFormats.join(',')}`)]),
    ...(jsonPath === '' ? [required(`${field}.JSONPath`)] : simplePath(jsonPath, `${field}.JSONPath`)),
  ];
}

const MAX_SELECTABLE = 8;

function validateSelectable({ selectableFields = [], schema }: DefinitionVersion, field: string): FieldError[] {
  const seen = new Set<string>();
  const errors = selectableFields.flatMap(({ jsonPath }, i): FieldError[] => {
    const at = `${field}[${i}].jsonPath`;
    if (jsonPath === '') return [required(at)];
    const found = schemaAt(schema?.openAPIV3Schema ?? {}, jsonPath);
    if (found === undefined || !jsonPath.startsWith('.')) return [invalid(at, jsonPath, `is an invalid path: ${pathProblem(jsonPath)}`)];
    const problems: FieldError[] = [];
    if (/^\.metadata(\.|$)/.test(jsonPath)) problems.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(found.type ?? ''))
      problems.push(
        invalid(at, jsonPath, 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'),
      );
    if (seen.has(jsonPath)) problems.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
    return problems;
  });
  return seen.size > MAX_SELECTABLE ? [...errors, tooMany(field, seen.size, MAX_SELECTABLE)] : errors;
}

const pathProblem = (path: string): string => (path.startsWith('.') ? 'does not refer to a valid field' : 'must start with .');

/** Conversion webhooks are not supported: a definition that needs one is refused, since its objects could not be converted. */
const NO_WEBHOOKS = 'webhooks that convert objects are not supported: with several versions the strategy must be None';

function validateConversion({ conversion, versions }: DefinitionSpec): FieldError[] {
  if (conversion === undefined) return [];
  const field = 'spec.conversion';
  const { strategy, webhook } = conversion;
  const errors = oneOf(strategy, ['None', 'Webhook'], `${field}.strategy`);
  const reviews = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    if (webhook?.clientConfig !== undefined) errors.push(forbidden(`${field}.webhookClientConfig`, 'should not be set when strategy is not set to Webhook'));
    if (reviews.length > 0) errors.push(forbidden(`${field}.conversionReviewVersions`, 'should not be set when strategy is not set to Webhook'));
    return errors;
  }
  const client = webhook?.clientConfig;
  if (client === undefined) errors.push(required(`${field}.webhookClientConfig`, 'required when strategy is set to Webhook'));
  else if ((client.url === undefined) === (client.service === undefined)) {
    errors.push(required(`${field}.webhookClientConfig`, 'exactly one of url or service is required'));
  }
  if (reviews.length === 0) errors.push(required(`${field}.conversionReviewVersions`));
  else if (!reviews.includes('v1') && !reviews.includes('v1beta1'))
    errors.push(invalid(`${field}.conversionReviewVersions`, reviews, 'must include at least one of v1, v1beta1'));
  if (errors.length === 0 && (versions ?? []).length > 1) errors.push(forbidden(`${field}.strategy`, NO_WEBHOOKS));
  return errors;
}
