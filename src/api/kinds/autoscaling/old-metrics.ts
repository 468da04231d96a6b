/** Metrics in the form of autoscaling/v1, which the conversion annotations use. */
import type { CrossVersionObjectReference, LabelSelector, MetricIdentifier, MetricSpec, MetricStatus } from '../../generated/types.ts';

type Json = Readonly<Record<string, unknown>>;

/** Of either version, as far as it was given. Clients write annotations: nothing about their content is assumed. */
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

interface Amounts {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

/** What a metric is to be (`target`), or is (`current`): the word is in the names of the old fields. */
type Word = 'target' | 'current';

type Measured<W extends Word, Source> = Source & { readonly [word in W]: Amounts };

interface Metric<W extends Word> {
  readonly type: string;
  readonly object?: Measured<W, { readonly describedObject: CrossVersionObjectReference; readonly metric: MetricIdentifier }>;
  readonly pods?: Measured<W, { readonly metric: MetricIdentifier }>;
  readonly resource?: Measured<W, { readonly name: string }>;
  readonly containerResource?: Measured<W, { readonly name: string; readonly container: string }>;
  readonly external?: Measured<W, { readonly metric: MetricIdentifier }>;
}

export const oldMetricOf = (metric: MetricSpec): Json => oldOf('target', metric, undefined);

export const oldStatusOf = (metric: MetricStatus): Json => oldOf('current', metric, '0');

/** `unknown`: what stands for an amount that is not given, where it need not be. */
function oldOf<W extends Word>(word: W, { type, object, pods, resource, containerResource, external }: Metric<W>, unknown: string | undefined): Json {
  const [value, averageValue, averageUtilization] = [`${word}Value`, `${word}AverageValue`, `${word}AverageUtilization`];
  const relative = (of: Measured<W, { readonly name: string }> | undefined): Json | undefined =>
    of && given<unknown>({ name: of.name, [averageUtilization]: of[word].averageUtilization, [averageValue]: of[word].averageValue ?? unknown });
  return given({
    type,
    object:
      object &&
      given<unknown>({
        target: object.describedObject,
        metricName: object.metric.name,
        [value]: object[word].value ?? '0',
        selector: object.metric.selector,
        averageValue: object[word].averageValue,
      }),
    pods: pods && given<unknown>({ metricName: pods.metric.name, [averageValue]: pods[word].averageValue ?? '0', selector: pods.metric.selector }),
    resource: relative(resource),
    containerResource: containerResource && { ...relative(containerResource), container: containerResource.container },
    external:
      external &&
      given<unknown>({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        [value]: external[word].value ?? unknown,
        [averageValue]: external[word].averageValue,
      }),
  });
}

/** How the old words of each source say how much. */
type Reading = Readonly<Record<'object' | 'pods' | 'relative' | 'external', (of: Json) => Json>>;

export const newMetricOf = (json: Json): MetricSpec =>
  newOf(json, 'target', {
    object: (of) => {
      const [value, averageValue] = [textIn(of, 'targetValue'), textIn(of, 'averageValue')];
      const keepsValue = averageValue === undefined || (value !== undefined && value !== '0');
      return { type: averageValue === undefined ? 'Value' : 'AverageValue', ...given({ value: keepsValue ? value : undefined, averageValue }) };
    },
    pods: (of) => ({ type: 'AverageValue', ...given({ averageValue: textIn(of, 'targetAverageValue') }) }),
    relative: (of) => {
      const [averageUtilization, averageValue] = [numberIn(of, 'targetAverageUtilization'), textIn(of, 'targetAverageValue')];
      return { type: averageUtilization === undefined ? 'AverageValue' : 'Utilization', ...given<unknown>({ averageUtilization, averageValue }) };
    },
    external: (of) => {
      const [value, averageValue] = [textIn(of, 'targetValue'), textIn(of, 'targetAverageValue')];
      return { type: value === undefined ? 'AverageValue' : 'Value', ...given({ value, averageValue }) };
    },
  }) as unknown as MetricSpec;

export const newStatusOf = (json: Json): MetricStatus =>
  newOf(json, 'current', {
    object: (of) => given({ value: textIn(of, 'currentValue'), averageValue: textIn(of, 'averageValue') }),
    pods: (of) => given({ averageValue: textIn(of, 'currentAverageValue') }),
    relative: (of) => given<unknown>({ averageUtilization: numberIn(of, 'currentAverageUtilization'), averageValue: textIn(of, 'currentAverageValue') }),
    external: (of) => given({ value: textIn(of, 'currentValue'), averageValue: textIn(of, 'currentAverageValue') }),
  }) as unknown as MetricStatus;

function newOf(json: Json, word: Word, read: Reading): Json {
  const source = (name: string, make: (of: Json) => Json): Json => (json[name] === undefined ? {} : { [name]: make(objectIn(json, name)) });
  const metricOf = (of: Json, selector: string) => ({ name: textIn(of, 'metricName') ?? '', ...selectorIn(of, selector) });
  const relative = (of: Json): Json => ({ name: textIn(of, 'name') ?? '', [word]: read.relative(of) });
  return {
    type: textIn(json, 'type') ?? '',
    ...source('object', (of) => {
      const [describedObject, amounts, metric] = [referenceIn(objectIn(of, 'target')), { [word]: read.object(of) }, metricOf(of, 'selector')];
      return word === 'target' ? { describedObject, ...amounts, metric } : { metric, ...amounts, describedObject };
    }),
    ...source('pods', (of) => ({ metric: metricOf(of, 'selector'), [word]: read.pods(of) })),
    ...source('resource', relative),
    ...source('containerResource', (of) => ({ ...relative(of), container: textIn(of, 'container') ?? '' })),
    ...source('external', (of) => ({ metric: metricOf(of, 'metricSelector'), [word]: read.external(of) })),
  };
}
