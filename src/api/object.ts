import type { ObjectMeta } from './generated/types.ts';

/** Any object on the wire. `metadata` is always there once an object was decoded. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}
