import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

export function validatePullPolicy(policy: string | undefined, field: string): FieldError[] {
  if (policy === undefined || policy === '') return [required(field)];
  return pullPolicies.includes(policy) ? [] : [notSupported(field, policy, pullPolicies)];
}

/** A pod template may have such an image: an operator is expected to replace it. */
export const imageWithoutPadding = (image: string, field: string): FieldError[] =>
  image.trim() === image ? [] : [invalid(field, image, 'must not have leading or trailing whitespace')];
