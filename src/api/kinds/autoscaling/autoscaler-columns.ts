import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from '../../generated/types.ts';
import type { Column } from '../../kind.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';

const UNKNOWN = '<unknown>';
const SHOWN_METRICS = 2;

export const autoscalerColumns: readonly Column<HorizontalPodAutoscaler>[] = [
  nameColumn,
  textColumn('Reference', ({ spec: { scaleTargetRef } }) => `${scaleTargetRef.kind}/${scaleTargetRef.name}`),
  textColumn('Targets', ({ spec, status }) => targets(spec.metrics ?? [], status.currentMetrics ?? [])),
  textColumn('MinPods', ({ spec }) => (spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas))),
  textColumn('MaxPods', ({ spec }) => spec.maxReplicas),
  textColumn('Replicas', ({ status }) => status.currentReplicas ?? 0),
  ageColumn,
];

/** 'cpu: <unknown>/80%, memory: 12Mi/64Mi + 1 more...' */
function targets(metrics: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (metrics.length === 0) return '<none>';
  const shown = metrics.map((metric, i) => target(metric, statuses[i]));
  const more = shown.length > SHOWN_METRICS ? ` + ${shown.length - SHOWN_METRICS} more...` : '';
  return `${shown.slice(0, SHOWN_METRICS).join(', ')}${more}`;
}

function target({ type, external, pods, object, resource, containerResource }: MetricSpec, status: MetricStatus | undefined): string {
  switch (type) {
    case 'External':
      return absolute(external?.target, status?.external?.current);
    case 'Object':
      return absolute(object?.target, status?.object?.current);
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? UNKNOWN}/${pods?.target.averageValue ?? ''}`;
    case 'Resource':
      return relative(resource, status?.resource?.current);
    case 'ContainerResource':
      return relative(containerResource, status?.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

function absolute(wanted: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (wanted?.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${wanted.averageValue} (avg)`;
  return `${current?.value ?? UNKNOWN}/${wanted?.value ?? ''}`;
}

function relative(of: { readonly name: string; readonly target: MetricTarget } | undefined, current: MetricValueStatus | undefined): string {
  const { name, target: wanted } = of ?? { name: '', target: { type: '' } };
  if (wanted.averageValue !== undefined) return `${name}: ${current?.averageValue ?? UNKNOWN}/${wanted.averageValue}`;
  const percent = (value: number | undefined, otherwise: string): string => (value === undefined ? otherwise : `${value}%`);
  return `${name}: ${percent(current?.averageUtilization, UNKNOWN)}/${percent(wanted.averageUtilization, '<auto>')}`;
}
