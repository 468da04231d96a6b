import { duplicate, type FieldError, required } from '../../field-error.ts';
import { repeats } from '../../validation/repeats.ts';

/** All that is wrong with the conditions of a FlowSchema or PriorityLevelConfiguration: each type occurs once. */
export function validateStatus(conditions: readonly { readonly type?: string }[] = []): FieldError[] {
  const types = conditions.map(({ type = '' }) => type);
  const isRepeated = repeats(types);
  return types.flatMap((type, i) => {
    const field = `status.conditions[${i}].type`;
    return [...(isRepeated[i] ? [duplicate(field, type)] : []), ...(type === '' ? [required(field)] : [])];
  });
}
