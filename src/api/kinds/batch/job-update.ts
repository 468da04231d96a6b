import { type FieldError, invalid } from '../../field-error.ts';
import type { Affinity, Job, JobSpec, PodSpec, PodTemplateSpec } from '../../generated/types.ts';
import { IMMUTABLE, immutable } from '../../validation/metadata.ts';
import { internalForm, podSpecForm, podTemplateForm } from '../pod/internal-form.ts';
import { hasTrueCondition } from './job-conditions.ts';
import { validateJobSpec } from './job-validation.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { without } from '../../validation/without.ts';

/** What a job does is fixed once it is made; how many pods do it at a time is not. Kubernetes checks the spec here once more. */
export function validateJobUpdate({ spec }: Job, old: Job): FieldError[] {
  return [
    ...validateJobSpec(spec, 'spec'),
    ...validateCompletions(spec, old.spec),
    ...immutable(spec.selector, old.spec.selector, 'spec.selector'),
    ...validateTemplateChange(spec.template, old),
    ...immutable(spec.completionMode, old.spec.completionMode, 'spec.completionMode'),
    ...immutableStruct('PodFailurePolicy', spec.podFailurePolicy, { old: old.spec.podFailurePolicy, field: 'spec.podFailurePolicy' }),
    ...immutable(spec.backoffLimitPerIndex, old.spec.backoffLimitPerIndex, 'spec.backoffLimitPerIndex'),
    ...immutable(spec.managedBy, old.spec.managedBy, 'spec.managedBy'),
    ...immutableStruct('SuccessPolicy', spec.successPolicy, { old: old.spec.successPolicy, field: 'spec.successPolicy' }),
  ];
}

function immutableStruct(type: string, value: object | undefined, { old, field }: { old: object | undefined; field: string }): FieldError[] {
  if (sameMeaning(value, old)) return [];
  return [invalid(field, value === undefined ? null : internalForm(type, value), IMMUTABLE)];
}

/** An indexed job can be made larger or smaller, if it runs all indexes at once. */
function validateCompletions(spec: JobSpec, old: JobSpec): FieldError[] {
  const field = 'spec.completions';
  if (spec.completionMode !== 'Indexed') return immutable(spec.completions, old.completions, field);
  if (spec.completions === undefined || spec.completions === old.completions || spec.completions === spec.parallelism) return [];
  return [invalid(field, spec.completions, 'can only be modified in tandem with spec.parallelism')];
}

function validateTemplateChange(template: PodTemplateSpec, old: Job): FieldError[] {
  if (!mayTemplateChange(old)) {
    return sameMeaning(template, old.spec.template) ? [] : [invalid('spec.template', podTemplateForm(template), IMMUTABLE)];
  }
  const expected = withResources(withPlacement(old.spec.template.spec, template.spec), template.spec);
  return sameMeaning(template.spec, expected) ? [] : [invalid('spec.template.spec', podSpecForm(template.spec), IMMUTABLE)];
}

/** A queue may still decide where the pods of a suspended job run and what they get, as long as there are none. */
function mayTemplateChange({ spec, status }: Job): boolean {
  const isIdle = status.startTime === undefined || hasTrueCondition(status, 'Suspended');
  return spec.suspend === true && isIdle && (status.active ?? 0) === 0;
}

/** The old pods, placed as the new ones. */
function withPlacement(old: PodSpec, { nodeSelector, tolerations, schedulingGates, affinity }: PodSpec): PodSpec {
  const placed = placedAffinity(old.affinity, affinity);
  return {
    ...without(old, 'nodeSelector', 'tolerations', 'schedulingGates', 'affinity'),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(schedulingGates === undefined ? {} : { schedulingGates }),
    ...(placed === undefined ? {} : { affinity: placed }),
  };
}

/** The old affinity to other pods, the new one to nodes. */
function placedAffinity(old: Affinity | undefined, affinity: Affinity | undefined): Affinity | undefined {
  if (old === undefined && affinity === undefined) return undefined;
  const others: Affinity = without(old ?? {}, 'nodeAffinity');
  if (affinity === undefined) return Object.keys(others).length === 0 ? undefined : others;
  return affinity.nodeAffinity === undefined ? others : { ...others, nodeAffinity: affinity.nodeAffinity };
}

/** The old containers with the resources of the new ones, where those are the same containers. */
function withResources(old: PodSpec, spec: PodSpec): PodSpec {
  const result: PodSpec = { ...old };
  for (const list of ['containers', 'initContainers'] as const) {
    const [before, now] = [old[list] ?? [], spec[list] ?? []];
    if (before.length !== now.length || before.length === 0) continue;
    result[list] = before.map((container, i) => {
      const other = now[i];
      return other?.name === container.name ? { ...container, resources: other.resources } : container;
    });
  }
  return result;
}
