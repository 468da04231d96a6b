import type { ObjectMeta } from './generated/types.ts';
import type { KubeObject } from './object.ts';

/** The metadata of an object that the API server has stored: the registry sets these three, and no write can remove them. */
export interface StoredMeta extends ObjectMeta {
  name: string;
  uid: string;
  resourceVersion: string;
}

/** An object as the registry and the caches hand it out. A client's own draft is a plain `T`, in which the server fills in the rest. */
export type Stored<T extends KubeObject = KubeObject> = T & { metadata: StoredMeta };
