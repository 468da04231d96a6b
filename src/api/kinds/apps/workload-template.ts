import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts';
import type { LabelSelector, PodTemplateSpec } from '../../generated/types.ts';
import type { Column } from '../../kind.ts';
import type { KubeObject } from '../../object.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { wideColumn } from '../../printer-columns.ts';
import { isEmptySelector, isValidSelector, selects } from '../../validation/label-selector.ts';
import { validatePodTemplate } from '../pod/pod-validation.ts';

/** What all workloads have: a template of pods, and a selector that finds them again. */

/** `of`: as messages call the workload. */
export function validateSelector(selector: LabelSelector | null, field: string, of: string): FieldError[] {
  if (selector === null) return [required(field)];
  const empty = isEmptySelector(selector) ? [invalid(field, selector, `empty selector is invalid for ${of}`)] : [];
  return [...validateLabelSelector(selector, field), ...empty];
}

/** A workload whose selector misses its own pods would make new ones for ever. */
export function validateTemplateLabels(template: PodTemplateSpec, selector: LabelSelector | null | undefined, field: string): FieldError[] {
  if (selects(selector, template.metadata.labels) !== false) return [];
  return [invalid(`${field}.metadata.labels`, template.metadata.labels ?? null, '`selector` does not match template `labels`')];
}

/** A template of pods that run for good. `of`: as messages call the workload. */
export function validateServingTemplate(template: PodTemplateSpec, field: string, of: string): FieldError[] {
  return [...validatePodTemplate(template, field), ...runsForGood(template, field, of)];
}

export function runsForGood({ spec }: PodTemplateSpec, field: string, of: string): FieldError[] {
  const errors = spec.restartPolicy === 'Always' ? [] : [notSupported(`${field}.spec.restartPolicy`, spec.restartPolicy ?? '', ['Always'])];
  if (spec.activeDeadlineSeconds === undefined) return errors;
  return [...errors, forbidden(`${field}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${of} is not Supported`)];
}

/** The template of a replica set, or of the replica sets that a deployment makes. */
export function validateReplicatedTemplate(template: PodTemplateSpec, selector: LabelSelector | null): FieldError[] {
  if (!isValidSelector(selector)) return [invalid('spec.selector', selector, 'invalid label selector')];
  return [...validateTemplateLabels(template, selector, 'spec.template'), ...validateServingTemplate(template, 'spec.template', 'ReplicaSet')];
}

export function containerColumns<T extends KubeObject>(templateOf: (object: T) => PodTemplateSpec): Column<T>[] {
  const show = (part: 'name' | 'image') => (object: T) => (templateOf(object).spec.containers ?? []).map((container) => container[part] ?? '').join(',');
  return [wideColumn('Containers', show('name')), wideColumn('Images', show('image'))];
}
