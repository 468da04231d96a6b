import { goText, goTypeOf } from './go-text.ts';

/**
 * A strategic merge patch that cannot be applied. `malformed`: the patch itself is wrong (400); `unsupported`: it asks for
 * what cannot be done (422); `failed`: anything else (500, as in Kubernetes).
 */
export class StrategicPatchError extends Error {
  readonly type: 'malformed' | 'unsupported' | 'failed';
  constructor(type: 'malformed' | 'unsupported' | 'failed', message: string) {
    super(message);
    this.name = 'StrategicPatchError';
    this.type = type;
  }
}

export const badDeletionList = (): StrategicPatchError => new StrategicPatchError('malformed', 'invalid patch format of primitive list');
export const badRetainKeys = (): StrategicPatchError => new StrategicPatchError('malformed', 'invalid patch format of retainKeys');
export const badElementOrder = (): StrategicPatchError => new StrategicPatchError('malformed', 'invalid patch format of setElementOrder list');
export const noListsOfLists = (): StrategicPatchError => new StrategicPatchError('unsupported', 'lists of lists are not supported');
export const failed = (message: string): StrategicPatchError => new StrategicPatchError('failed', message);
export const noMergeKey = (item: unknown, mergeKey: string): StrategicPatchError =>
  failed(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
export const badType = (expected: 'map[string]interface {}' | '[]interface {}', found: unknown): StrategicPatchError =>
  failed(`expected a ${expected}, but received a ${goTypeOf(found)}`);

export function badDirective(directive: unknown, patch: unknown): StrategicPatchError {
  const word = typeof directive === 'string' ? directive : `%!s(${goTypeOf(directive)}=${goText(directive)})`;
  return failed(`unknown patch type: ${word} in map: ${goText(patch)}`);
}
