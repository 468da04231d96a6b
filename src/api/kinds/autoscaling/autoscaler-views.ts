/**
 * Autoscalers are stored as autoscaling/v2 and seen as v1 as well, which has a field for one metric. All else goes through annotations there and
 * back (v1.36.4: pkg/apis/autoscaling/v1/conversion.go), so that a client of the first version loses nothing.
 */
import type {
  AutoscalingHorizontalPodAutoscaler,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  MetricSpec,
  MetricStatus,
  ObjectMeta,
} from '../../generated/types.ts';
import { isJsonObject } from '../../json.ts';
import { newMetricOf, newStatusOf, oldMetricOf, oldStatusOf } from './old-metrics.ts';

export const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const statusesAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics';
const conditionsAnnotation = 'autoscaling.alpha.kubernetes.io/conditions';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';
const carried: readonly string[] = [metricsAnnotation, statusesAnnotation, conditionsAnnotation, behaviorAnnotation];

const utilizationOf = ({ type, resource }: MetricSpec): number | undefined =>
  type === 'Resource' && resource?.name === 'cpu' ? resource.target.averageUtilization : undefined;

export function oldAutoscalerOf({ metadata, spec, status }: HorizontalPodAutoscaler): AutoscalingHorizontalPodAutoscaler {
  const { scaleTargetRef, minReplicas, maxReplicas, metrics = [], behavior } = spec;
  const target = metrics.map(utilizationOf).find((utilization) => utilization !== undefined);
  const others = metrics.filter((metric) => utilizationOf(metric) === undefined);
  const { currentMetrics, conditions = [], currentReplicas = 0, ...counts } = status;
  const cpu = (currentMetrics ?? []).find(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu');
  const current = cpu?.resource?.current.averageUtilization;
  const texts: Record<string, string> = {};
  if (others.length > 0) texts[metricsAnnotation] = JSON.stringify(others.map(oldMetricOf));
  if ((currentMetrics ?? []).length > 0) texts[statusesAnnotation] = JSON.stringify((currentMetrics ?? []).map(oldStatusOf));
  if (behavior !== undefined) texts[behaviorAnnotation] = JSON.stringify(capitalized(behavior));
  if (conditions.length > 0) texts[conditionsAnnotation] = JSON.stringify(conditions);
  return {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    metadata: annotated(metadata, texts),
    spec: {
      scaleTargetRef,
      ...(minReplicas === undefined ? {} : { minReplicas }),
      maxReplicas,
      ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }),
    },
    status: { ...counts, currentReplicas, ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }) },
  };
}

export function newAutoscalerOf({ metadata, spec, status }: AutoscalingHorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: target } = spec;
  const own: MetricSpec[] =
    target === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } } }];
  const others = listIn(metadata, metricsAnnotation).map(newMetricOf);
  const { currentCPUUtilizationPercentage: current, currentReplicas, ...counts } = status;
  const told = listIn(metadata, statusesAnnotation).map(newStatusOf);
  const known: MetricStatus[] = current === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }];
  const statuses = told.length > 0 ? told : known;
  const behavior = behaviorIn(metadata);
  const conditions = listIn(metadata, conditionsAnnotation) as unknown as HorizontalPodAutoscaler['status']['conditions'];
  return {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: annotated(metadata, {}),
    spec: {
      scaleTargetRef,
      ...(minReplicas === undefined ? {} : { minReplicas }),
      maxReplicas,
      ...(others.length + own.length === 0 ? {} : { metrics: [...others, ...own] }),
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      ...counts,
      ...(currentReplicas === 0 ? {} : { currentReplicas }),
      currentMetrics: statuses.length === 0 ? null : statuses,
      ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
    },
  };
}

/** With these annotations in the place of all that are carried. */
function annotated(metadata: ObjectMeta, texts: Readonly<Record<string, string>>): ObjectMeta {
  const { annotations: given = {}, ...rest } = metadata;
  const annotations = { ...Object.fromEntries(Object.entries(given).filter(([name]) => !carried.includes(name))), ...texts };
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

type Json = Readonly<Record<string, unknown>>;

/** An annotation with any other content is ignored. */
function read({ annotations }: ObjectMeta, name: string): unknown {
  try {
    return JSON.parse(annotations?.[name] ?? 'null');
  } catch {
    return null;
  }
}

function listIn(metadata: ObjectMeta, name: string): readonly Json[] {
  const value = read(metadata, name);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function behaviorIn(metadata: ObjectMeta): HorizontalPodAutoscalerBehavior | undefined {
  const value = read(metadata, behaviorAnnotation);
  return isJsonObject(value) && Object.keys(value).length > 0 ? (uncapitalized(value) as HorizontalPodAutoscalerBehavior) : undefined;
}

/** Kubernetes writes the fields of this one as Go has them. */
const capitalized = (value: unknown): unknown => renamed(value, (name) => name.charAt(0).toUpperCase() + name.slice(1));
const uncapitalized = (value: unknown): unknown => renamed(value, (name) => name.charAt(0).toLowerCase() + name.slice(1));

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[rename(name), renamed(member, rename)]])));
}
