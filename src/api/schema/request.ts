import type { Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface DecodeRequest {
  /** The kind that the path takes. Body without kind or apiVersion: it is taken to be this one. */
  readonly expected: Pick<Kind, 'group' | 'version' | 'kind' | 'type'>;
  readonly body:
    | { readonly type: 'json' | 'yaml' | 'protobuf'; readonly bytes: Uint8Array }
    /** Parsed already, by someone we trust to have made plain JSON (a patched object, a caller in this process). */
    | { readonly type: 'value'; readonly value: unknown };
  readonly fieldValidation: FieldValidation;
}

export interface DecodedRequest<T extends KubeObject> {
  readonly object: T;
  /** Texts for the Warning header; only with fieldValidation Warn. */
  readonly warnings: readonly string[];
}

/**
 * What a request's body holds, decoded, with apiVersion and kind set.
 * @throws ApiError 400, in Kubernetes' words
 */
export function decodeRequest<T extends KubeObject>(request: DecodeRequest): DecodedRequest<T> {
  void request;
  throw new Error('not written yet');
}
