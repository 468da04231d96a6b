/** Beyond Kubernetes: a StatefulSet that asks for it may ask for more storage in its claim templates. */
import { type FieldError, forbidden } from '../../field-error.ts';
import type { PersistentVolumeClaim, StatefulSet } from '../../generated/types.ts';
import { compareQuantities } from '../../quantity.ts';

const growClaims = 'mooring.dev/grow-claims';

export const mayGrowClaims = ({ metadata }: Pick<StatefulSet, 'metadata'>): boolean => metadata.annotations?.[growClaims] === 'true';

type Templates = readonly PersistentVolumeClaim[];

const storageOf = (template: PersistentVolumeClaim | undefined): string | undefined => template?.spec.resources.requests?.['storage'];

/** The templates as if nothing had grown: whatever still differs is a change of something else. */
export function withoutGrowth(templates: Templates, old: Templates): Templates {
  return templates.map((template, i) => {
    const storage = storageOf(old[i]);
    if (storage === undefined || storageOf(template) === undefined) return template;
    const { resources } = template.spec;
    return { ...template, spec: { ...template.spec, resources: { ...resources, requests: { ...resources.requests, storage } } } };
  });
}

export function validateGrowth(templates: Templates, old: Templates, field: string): FieldError[] {
  return templates.flatMap((template, i) => {
    const [storage, before] = [storageOf(template), storageOf(old[i])];
    const shrinks = storage !== undefined && before !== undefined && compareQuantities(storage, before) < 0;
    return shrinks ? [forbidden(`${field}[${i}].spec.resources.requests.storage`, 'may grow, but not shrink')] : [];
  });
}
