import { type FieldError, forbidden } from '../field-error.ts';
import type { ObjectMeta, PersistentVolumeClaimTemplate } from '../generated/types.ts';
import { validateClaimSpec } from './claim-spec.ts';
import { validateLabels } from './labels.ts';
import { validateAnnotations } from './metadata.ts';

/** The claim that an ephemeral volume gets. */
export function validateClaimTemplate(template: PersistentVolumeClaimTemplate, field: string): FieldError[] {
  return [...validateTemplateMetadata(template.metadata, `${field}.metadata`), ...validateClaimSpec(template.spec, `${field}.spec`)];
}

/** Labels and annotations are all that a template may say about the objects made from it. */
export function validateTemplateMetadata(metadata: ObjectMeta, field: string): FieldError[] {
  const others = Object.keys(metadata).filter((key) => key !== 'annotations' && key !== 'labels');
  return [
    ...validateAnnotations(metadata.annotations, `${field}.annotations`),
    ...validateLabels(metadata.labels, `${field}.labels`),
    // Kubernetes lowers only the first letter of what it calls UID.
    ...others.map((key) => forbidden(`${field}.${key === 'uid' ? 'uID' : key}`, 'cannot be set')),
  ];
}
