import type { KubeObject } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { ListMeta } from '../api.ts';
import type { Target } from './accept.ts';
import { listMetadata } from './list.ts';
import { apiVersionOfTarget } from './targets.ts';

/** An object of which only the metadata is shown: what garbage collectors and metadata informers ask for. */
export const partialMetadata = (object: KubeObject, as: Target): object => ({
  kind: 'PartialObjectMetadata',
  apiVersion: apiVersionOfTarget(as),
  metadata: object.metadata,
});

export const partialMetadataList = (objects: readonly KubeObject[], metadata: ListMeta, as: Target): object => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: apiVersionOfTarget(as),
  metadata: listMetadata(metadata),
  items: objects.map((object) => partialMetadata(object, as)),
});

export const isNoList = (kind: string): ApiError =>
  new ApiError(406, 'NotAcceptable', `you requested PartialObjectMetadataList, but the requested object is not a list (${kind})`);

export const isList = (kind: string): ApiError =>
  new ApiError(406, 'NotAcceptable', `you requested PartialObjectMetadata, but the requested object is a list (${kind}List)`);
