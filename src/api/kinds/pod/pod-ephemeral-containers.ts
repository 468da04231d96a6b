/** pods/ephemeralcontainers: containers are added to a pod that runs, to look into it. They stay: none is changed or removed. */
import { type FieldError, forbidden } from '../../field-error.ts';
import type { Pod } from '../../generated/types.ts';
import type { SpecPartRules } from '../../kind.ts';
import { quoteGo } from '../../json.ts';
import { entry } from '../../validation/field-rules.ts';
import { MIRROR_POD, validateAnnotationChanges, validatePodAnnotations } from './pod-annotations.ts';
import { containerDiff } from './pod-diff.ts';
import { dropDisabledFields } from './pod-disabled-fields.ts';
import { keepMetadata, wholePod } from './pod-subresource.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { without } from '../../validation/without.ts';

export const podEphemeralContainers: SpecPartRules<Pod> = {
  prepareForUpdate: keepAllButEphemeral,
  refuse: ({ metadata }) =>
    entry(metadata.annotations, MIRROR_POD) === undefined ? [] : [forbidden(wholePod, 'static pods do not support ephemeral containers')],
  validateUpdate: validateEphemeralContainers,
};

function keepAllButEphemeral(pod: Pod, old: Pod): void {
  const { ephemeralContainers } = pod.spec;
  pod.spec = { ...without(old.spec, 'ephemeralContainers'), ...(ephemeralContainers === undefined ? {} : { ephemeralContainers }) };
  pod.status = old.status;
  keepMetadata(pod, old);
  dropDisabledFields(pod.spec);
}

/** Patches do not keep the order: each is looked for by its name, and of two with one name the last counts. */
function validateEphemeralContainers({ metadata, spec }: Pod, old: Pod): FieldError[] {
  const field = 'spec.ephemeralContainers';
  const byName = new Map((spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  const changes = (old.spec.ephemeralContainers ?? []).flatMap((before) => {
    const now = byName.get(before.name);
    const named = `existing ephemeral containers ${quoteGo(before.name)}`;
    if (now === undefined) return [forbidden(field, `${named} may not be removed\n`)];
    return sameMeaning(before, now) ? [] : [forbidden(field, `${named} may not be changed\n${containerDiff(before, now)}`)];
  });
  return [
    ...validateAnnotationChanges(metadata.annotations, old.metadata.annotations),
    ...validatePodAnnotations(metadata.annotations, spec, 'metadata.annotations'),
    ...changes,
  ];
}
