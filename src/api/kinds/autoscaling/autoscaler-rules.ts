/** What may be in a HorizontalPodAutoscaler (autoscaling/v2). */
import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts';
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '../../generated/types.ts';
import { quantitySign } from '../../quantity.ts';
import { dnsLabelProblems, pathSegmentProblems } from '../../validation/names.ts';
import { nonNegativeQuantity, validateContainerResourceName } from '../../validation/resources.ts';
import { invalidEach } from '../../validation/field-rules.ts';

const MAX_WINDOW_SECONDS = 3_600;
const MAX_PERIOD_SECONDS = 1_800;

export function validateAutoscaler({ spec }: HorizontalPodAutoscaler, old?: HorizontalPodAutoscaler): FieldError[] {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics = [], behavior } = spec;
  const least = old?.spec.minReplicas === 0 ? 0 : 1;
  const errors: FieldError[] = [];
  if (minReplicas !== undefined && minReplicas < least) errors.push(invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${least}`));
  if (maxReplicas === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  else if (maxReplicas < 0) errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  const before = old?.spec.scaleTargetRef;
  const isSameTarget = before !== undefined && before.apiVersion === scaleTargetRef.apiVersion && before.kind === scaleTargetRef.kind;
  const versions: Versions = isSameTarget ? 'any' : scaleTargetRef.kind === 'ReplicationController' ? 'any group' : 'with group';
  errors.push(...validateReference(scaleTargetRef, 'spec.scaleTargetRef', versions));
  for (const [i, metric] of metrics.entries()) errors.push(...validateMetric(metric, `spec.metrics[${i}]`, hadWrongReference(old) ? 'any' : 'any group'));
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    errors.push(forbidden('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'));
  }
  for (const name of ['scaleUp', 'scaleDown'] as const) {
    const rules = behavior?.[name];
    if (rules !== undefined) errors.push(...validateScalingRules(rules, `spec.behavior.${name}`));
  }
  return errors;
}

/** Which apiVersions a reference may have. */
type Versions = 'any' | 'any group' | 'with group';

function hadWrongReference(old: HorizontalPodAutoscaler | undefined): boolean {
  return (old?.spec.metrics ?? []).some(
    ({ type, object }) => type === 'Object' && versionProblem(object?.describedObject.apiVersion, 'any group') !== undefined,
  );
}

function versionProblem(apiVersion = '', versions: Versions): string | undefined {
  if (versions === 'any') return undefined;
  const slashes = apiVersion.split('/').length - 1;
  if (slashes > 1) return `unexpected GroupVersion string: ${apiVersion}`;
  return versions === 'with group' && (slashes === 0 || apiVersion.startsWith('/')) ? 'apiVersion must specify API group' : undefined;
}

function validateReference({ kind, name, apiVersion }: CrossVersionObjectReference, field: string, versions: Versions): FieldError[] {
  const named = (value: string, at: string): FieldError[] => (value === '' ? [required(at)] : invalidEach(at, value, pathSegmentProblems(value, false)));
  const problem = versionProblem(apiVersion, versions);
  return [
    ...named(kind, `${field}.kind`),
    ...named(name, `${field}.name`),
    ...(problem === undefined ? [] : [invalid(`${field}.apiVersion`, apiVersion ?? '', problem)]),
  ];
}

const sources = {
  object: 'Object',
  external: 'External',
  pods: 'Pods',
  resource: 'Resource',
  containerResource: 'ContainerResource',
} as const;
type Source = keyof typeof sources;
const sourceNames = Object.keys(sources) as Source[];
const types = Object.values(sources).toSorted();

function validateMetric(metric: MetricSpec, field: string, versions: Versions): FieldError[] {
  const { type } = metric;
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${field}.type`, 'must specify a metric source type'));
  const unknown = notSupported(`${field}.type`, type, types);
  const expected = sourceNames.find((name) => sources[name] === type);
  if (expected === undefined) errors.push(unknown);
  const present = sourceNames.filter((name) => metric[name] !== undefined);
  const [first] = present;
  if (first !== undefined) errors.push(...validateSource(metric, first, { field: `${field}.${first}`, versions }));
  if (expected === undefined) errors.push(unknown);
  else if (metric[expected] === undefined) errors.push(required(`${field}.${expected}`, 'must populate information for the given metric source'));
  if (present.length === 1) return errors;
  return [...errors, ...present.filter((name) => name !== expected).map((name) => forbidden(`${field}.${name}`, 'must populate the given metric source only'))];
}

function validateSource(metric: MetricSpec, name: Source, { field, versions }: { field: string; versions: Versions }): FieldError[] {
  const { object, external, pods, resource, containerResource } = metric;
  const target = metric[name]?.target ?? { type: '' };
  const missing = (of: string, detail: string): FieldError => required(`${field}.target.${of}`, detail);
  const checked = validateTarget(target, `${field}.target`);
  const { value, averageValue } = target;
  switch (name) {
    case 'object':
      return [
        ...(object === undefined ? [] : validateReference(object.describedObject, `${field}.describedObject`, versions)),
        ...validateIdentifier(object?.metric, `${field}.metric`),
        ...checked,
        ...(value === undefined && averageValue === undefined ? [missing('averageValue', 'must set either a target value or averageValue')] : []),
      ];
    case 'external': {
      const both = value !== undefined && averageValue !== undefined;
      return [
        ...validateIdentifier(external?.metric, `${field}.metric`),
        ...checked,
        ...(value === undefined && averageValue === undefined
          ? [missing('averageValue', 'must set either a target value for metric or a per-pod target')]
          : []),
        ...(both ? [forbidden(`${field}.target.value`, 'may not set both a target value for metric and a per-pod target')] : []),
      ];
    }
    case 'pods':
      return [
        ...validateIdentifier(pods?.metric, `${field}.metric`),
        ...checked,
        ...(averageValue === undefined ? [missing('averageValue', 'must specify a positive target averageValue')] : []),
      ];
    case 'resource':
      return [...resourceName(resource?.name, `${field}.name`), ...checked, ...rawOrUtilization(target, `${field}.target`)];
    case 'containerResource':
      return [
        ...resourceName(containerResource?.name, `${field}.name`),
        ...(containerResource?.name === undefined || containerResource.name === ''
          ? []
          : validateContainerResourceName(containerResource.name, `${field}.name`)),
        ...containerName(containerResource?.container, `${field}.container`),
        ...checked,
        ...rawOrUtilization(target, `${field}.target`),
      ];
  }
}

const resourceName = (name = '', field: string): FieldError[] => (name === '' ? [required(field, 'must specify a resource name')] : []);
const containerName = (name = '', field: string): FieldError[] =>
  name === '' ? [required(field, 'must specify a container')] : invalidEach(field, name, dnsLabelProblems(name));

function rawOrUtilization({ averageUtilization, averageValue }: MetricTarget, field: string): FieldError[] {
  if (averageUtilization === undefined && averageValue === undefined) {
    return [required(`${field}.averageUtilization`, 'must set either a target raw value or a target utilization')];
  }
  const both = averageUtilization !== undefined && averageValue !== undefined;
  return both ? [forbidden(`${field}.averageValue`, 'may not set both a target raw value and a target utilization')] : [];
}

function validateIdentifier(identifier: MetricIdentifier | undefined, field: string): FieldError[] {
  const { name } = identifier ?? { name: '' };
  return name === '' ? [required(`${field}.name`, 'must specify a metric name')] : invalidEach(`${field}.name`, name, pathSegmentProblems(name, false));
}

function validateTarget({ type, value, averageValue, averageUtilization }: MetricTarget, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${field}.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    errors.push(invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const [name, quantity] of Object.entries({ value, averageValue })) {
    if (quantity !== undefined && quantitySign(quantity) !== 1) errors.push(invalid(`${field}.${name}`, quantity, 'must be positive'));
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(`${field}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  return errors;
}

const selections = ['Disabled', 'Max', 'Min'];

function validateScalingRules({ stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance }: HPAScalingRules, field: string): FieldError[] {
  const at = `${field}.stabilizationWindowSeconds`;
  return [
    ...(seconds !== undefined && seconds < 0 ? [invalid(at, seconds, 'must be greater than or equal to zero')] : []),
    ...(seconds !== undefined && seconds > MAX_WINDOW_SECONDS ? [invalid(at, seconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`)] : []),
    ...(selectPolicy === undefined || selections.includes(selectPolicy) ? [] : [notSupported(`${field}.selectPolicy`, selectPolicy, selections)]),
    ...(policies.length === 0 ? [required(`${field}.policies`, 'must specify at least one Policy')] : []),
    ...policies.flatMap((policy, i) => validatePolicy(policy, `${field}.policies[${i}]`)),
    ...(tolerance === undefined ? [] : nonNegativeQuantity(tolerance, `${field}.tolerance`)),
  ];
}

const policyTypes = ['Percent', 'Pods'];

function validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, field: string): FieldError[] {
  const at = `${field}.periodSeconds`;
  return [
    ...(policyTypes.includes(type) ? [] : [notSupported(`${field}.type`, type, policyTypes)]),
    ...(value > 0 ? [] : [invalid(`${field}.value`, value, 'must be greater than zero')]),
    ...(periodSeconds > 0 ? [] : [invalid(at, periodSeconds, 'must be greater than zero')]),
    ...(periodSeconds > MAX_PERIOD_SECONDS ? [invalid(at, periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`)] : []),
  ];
}
