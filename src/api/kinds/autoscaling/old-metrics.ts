/** Metrics in the words of autoscaling/v1, in which annotations speak of them. */
import type { CrossVersionObjectReference, LabelSelector, MetricSpec, MetricStatus } from '../../generated/types.ts';

type Json = Readonly<Record<string, unknown>>;

/** Of either version, as far as it was given. Annotations come from whoever writes them: nothing is taken for granted. */
const given = <T>(values: Readonly<Record<string, T | undefined>>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<string, T>;

const textIn = (json: Json, name: string): string | undefined => {
  const value = json[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
};
const numberIn = (json: Json, name: string): number | undefined => (typeof json[name] === 'number' ? json[name] : undefined);
const objectIn = (json: Json, name: string): Json => (typeof json[name] === 'object' && json[name] !== null ? (json[name] as Json) : {});

const selectorIn = (json: Json, name: string): { selector?: LabelSelector } => (json[name] === undefined ? {} : { selector: objectIn(json, name) });

const referenceIn = (json: Json): CrossVersionObjectReference => {
  const apiVersion = textIn(json, 'apiVersion');
  return { kind: textIn(json, 'kind') ?? '', name: textIn(json, 'name') ?? '', ...(apiVersion === undefined ? {} : { apiVersion }) };
};

export function oldMetricOf({ type, object, pods, resource, containerResource, external }: MetricSpec): Json {
  const relative = (of: { name: string; target: MetricTargetLike } | undefined): Json | undefined =>
    of && given({ name: of.name, targetAverageUtilization: of.target.averageUtilization, targetAverageValue: of.target.averageValue });
  return given({
    type,
    object:
      object &&
      given<unknown>({
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      }),
    pods: pods && given<unknown>({ metricName: pods.metric.name, targetAverageValue: pods.target.averageValue ?? '0', selector: pods.metric.selector }),
    resource: relative(resource),
    containerResource: containerResource && { ...relative(containerResource), container: containerResource.container },
    external:
      external &&
      given<unknown>({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  });
}

interface MetricTargetLike {
  readonly averageUtilization?: number;
  readonly averageValue?: string;
}

export function newMetricOf(json: Json): MetricSpec {
  const type = textIn(json, 'type') ?? '';
  const [object, pods, external] = [objectIn(json, 'object'), objectIn(json, 'pods'), objectIn(json, 'external')];
  const relative = (of: Json) => {
    const [averageUtilization, averageValue] = [numberIn(of, 'targetAverageUtilization'), textIn(of, 'targetAverageValue')];
    const target = { type: averageUtilization === undefined ? 'AverageValue' : 'Utilization', ...given({ averageUtilization, averageValue }) };
    return { name: textIn(of, 'name') ?? '', target };
  };
  const metricOf = (of: Json, selector: string) => ({ name: textIn(of, 'metricName') ?? '', ...selectorIn(of, selector) });
  const [objectAverage, externalValue] = [textIn(object, 'averageValue'), textIn(external, 'targetValue')];
  const objectValue = textIn(object, 'targetValue');
  const keepsValue = objectAverage === undefined || (objectValue !== undefined && objectValue !== '0');
  return {
    type,
    ...(json['object'] === undefined
      ? {}
      : {
          object: {
            describedObject: referenceIn(objectIn(object, 'target')),
            target: {
              type: objectAverage === undefined ? 'Value' : 'AverageValue',
              ...given({ value: keepsValue ? objectValue : undefined, averageValue: objectAverage }),
            },
            metric: metricOf(object, 'selector'),
          },
        }),
    ...(json['pods'] === undefined
      ? {}
      : { pods: { metric: metricOf(pods, 'selector'), target: { type: 'AverageValue', ...given({ averageValue: textIn(pods, 'targetAverageValue') }) } } }),
    ...(json['resource'] === undefined ? {} : { resource: relative(objectIn(json, 'resource')) }),
    ...(json['containerResource'] === undefined
      ? {}
      : { containerResource: { ...relative(objectIn(json, 'containerResource')), container: textIn(objectIn(json, 'containerResource'), 'container') ?? '' } }),
    ...(json['external'] === undefined
      ? {}
      : {
          external: {
            metric: metricOf(external, 'metricSelector'),
            target: {
              type: externalValue === undefined ? 'AverageValue' : 'Value',
              ...given({ value: externalValue, averageValue: textIn(external, 'targetAverageValue') }),
            },
          },
        }),
  };
}

export function oldStatusOf({ type, object, pods, resource, containerResource, external }: MetricStatus): Json {
  const relative = (of: { name: string; current: MetricTargetLike } | undefined): Json | undefined =>
    of && given<unknown>({ name: of.name, currentAverageUtilization: of.current.averageUtilization, currentAverageValue: of.current.averageValue ?? '0' });
  return given({
    type,
    object:
      object &&
      given<unknown>({
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      }),
    pods: pods && given<unknown>({ metricName: pods.metric.name, currentAverageValue: pods.current.averageValue ?? '0', selector: pods.metric.selector }),
    resource: relative(resource),
    containerResource: containerResource && { ...relative(containerResource), container: containerResource.container },
    external:
      external &&
      given<unknown>({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? '0',
        currentAverageValue: external.current.averageValue,
      }),
  });
}

export function newStatusOf(json: Json): MetricStatus {
  const [object, pods, external] = [objectIn(json, 'object'), objectIn(json, 'pods'), objectIn(json, 'external')];
  const metricOf = (of: Json, selector: string) => ({ name: textIn(of, 'metricName') ?? '', ...selectorIn(of, selector) });
  const relative = (of: Json) => ({
    name: textIn(of, 'name') ?? '',
    current: { ...given({ averageUtilization: numberIn(of, 'currentAverageUtilization') }), ...given({ averageValue: textIn(of, 'currentAverageValue') }) },
  });
  return {
    type: textIn(json, 'type') ?? '',
    ...(json['object'] === undefined
      ? {}
      : {
          object: {
            metric: metricOf(object, 'selector'),
            current: given({ value: textIn(object, 'currentValue'), averageValue: textIn(object, 'averageValue') }),
            describedObject: referenceIn(objectIn(object, 'target')),
          },
        }),
    ...(json['pods'] === undefined
      ? {}
      : { pods: { metric: metricOf(pods, 'selector'), current: given({ averageValue: textIn(pods, 'currentAverageValue') }) } }),
    ...(json['resource'] === undefined ? {} : { resource: relative(objectIn(json, 'resource')) }),
    ...(json['containerResource'] === undefined
      ? {}
      : { containerResource: { ...relative(objectIn(json, 'containerResource')), container: textIn(objectIn(json, 'containerResource'), 'container') ?? '' } }),
    ...(json['external'] === undefined
      ? {}
      : {
          external: {
            metric: metricOf(external, 'metricSelector'),
            current: given({ value: textIn(external, 'currentValue'), averageValue: textIn(external, 'currentAverageValue') }),
          },
        }),
  };
}
