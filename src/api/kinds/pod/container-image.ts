import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

export function validatePullPolicy(policy: string | undefined, field: string): FieldError[] {
  if (policy === undefined || policy === '') return [required(field)];
  return pullPolicies.includes(policy) ? [] : [notSupported(field, policy, pullPolicies)];
}

/** Templates may carry such images: they mean that somebody else will put in the right one. */
export const imageWithoutPadding = (image: string, field: string): FieldError[] =>
  image.trim() === image ? [] : [invalid(field, image, 'must not have leading or trailing whitespace')];
