import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { encodeEnvelope, encodeMessage, encodeProtobuf, encodeProtobufList, encodeWatchFrame } from '../../api/protobuf/index.ts';
import type { Status } from '../../api/status.ts';
import type { ListMeta, ObjectRevision, WatchEvent } from '../api.ts';
import type { Target } from './accept.ts';
import { isList, isNoList } from './metadata-only.ts';
import type { WholeResponse } from './whole-response.ts';
import { apiVersionOfTarget } from './targets.ts';

/** An answer in Kubernetes' protobuf. @throws ApiError 406 */
export function protobufOf(response: WholeResponse, as: Target | undefined): Uint8Array {
  switch (response.type) {
    case 'status':
      return encodeProtobuf(response.status);
    case 'plain':
      return as === undefined ? encodeProtobuf(response.object) : partial(response.object, as);
    case 'object':
      return as === undefined ? object(response.kind, response.stored) : partial(response.stored.object, as);
    case 'list':
      return as === undefined ? list(response.kind, response.items, response.metadata) : partialList(response, as);
  }
}

export const protobufFrame = (kind: Kind, event: WatchEvent, as: Target | undefined): Uint8Array =>
  encodeWatchFrame(event.type, as === undefined ? object(kind, event.stored) : partial(event.stored.object, as));

export const protobufErrorFrame = (status: Status): Uint8Array => encodeWatchFrame('ERROR', encodeProtobuf(status));

const object = (kind: Kind, stored: ObjectRevision): Uint8Array =>
  encodeEnvelope({ apiVersion: apiVersionOf(kind), kind: kind.kind }, encodeMessage(kind.type, stored.object));

function list(kind: Kind, items: readonly ObjectRevision[], metadata: ListMeta): Uint8Array {
  const messages = items.map((item) => encodeMessage(kind.type, item.object));
  return encodeProtobufList({ apiVersion: apiVersionOf(kind), kind: `${kind.kind}List`, metadata }, messages);
}

function partial(whole: KubeObject, as: Target): Uint8Array {
  if (as.kind === 'PartialObjectMetadataList') throw isNoList(whole.kind);
  return encodeEnvelope({ apiVersion: apiVersionOfTarget(as), kind: as.kind }, encodeMessage(as.kind, { metadata: whole.metadata }));
}

function partialList({ kind, items, metadata }: Extract<WholeResponse, { type: 'list' }>, as: Target): Uint8Array {
  if (as.kind === 'PartialObjectMetadata') throw isList(kind.kind);
  const messages = items.map((item) => encodeMessage('PartialObjectMetadata', { metadata: item.object.metadata }));
  return encodeProtobufList({ apiVersion: apiVersionOfTarget(as), kind: as.kind, metadata }, messages);
}
