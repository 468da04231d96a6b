// Written by scripts/generate-proto.mjs. Do not edit: change proto/, then `npm run generate:proto`.

import type { GenEnum, GenFile, GenMessage, GenService } from '@bufbuild/protobuf/codegenv2';
import { enumDesc, fileDesc, messageDesc, serviceDesc } from '@bufbuild/protobuf/codegenv2';
import type { Message } from '@bufbuild/protobuf';
export const file_etcd: GenFile =
  /*@__PURE__*/
  fileDesc(
    'CgpldGNkLnByb3RvEgxldGNkc2VydmVycGIiXAoOUmVzcG9uc2VIZWFkZXISEgoKY2x1c3Rlcl9pZBgBIAEoBBIRCgltZW1iZXJfaWQYAiABKAQSEAoIcmV2aXNpb24YAyABKAMSEQoJcmFmdF90ZXJtGAQgASgEImYKCEtleVZhbHVlEgsKA2tleRgBIAEoDBIXCg9jcmVhdGVfcmV2aXNpb24YAiABKAMSFAoMbW9kX3JldmlzaW9uGAMgASgDEg8KB3ZlcnNpb24YBCABKAMSDQoFdmFsdWUYBSABKAwiowEKBUV2ZW50EisKBHR5cGUYASABKA4yHS5ldGNkc2VydmVycGIuRXZlbnQuRXZlbnRUeXBlEiIKAmt2GAIgASgLMhYuZXRjZHNlcnZlcnBiLktleVZhbHVlEicKB3ByZXZfa3YYAyABKAsyFi5ldGNkc2VydmVycGIuS2V5VmFsdWUiIAoJRXZlbnRUeXBlEgcKA1BVVBAAEgoKBkRFTEVURRABIowBCgxSYW5nZVJlcXVlc3QSCwoDa2V5GAEgASgMEhEKCXJhbmdlX2VuZBgCIAEoDBINCgVsaW1pdBgDIAEoAxIQCghyZXZpc2lvbhgEIAEoAxIUCgxzZXJpYWxpemFibGUYByABKAgSEQoJa2V5c19vbmx5GAggASgIEhIKCmNvdW50X29ubHkYCSABKAgifwoNUmFuZ2VSZXNwb25zZRIsCgZoZWFkZXIYASABKAsyHC5ldGNkc2VydmVycGIuUmVzcG9uc2VIZWFkZXISIwoDa3ZzGAIgAygLMhYuZXRjZHNlcnZlcnBiLktleVZhbHVlEgwKBG1vcmUYAyABKAgSDQoFY291bnQYBCABKAMiKAoKUHV0UmVxdWVzdBILCgNrZXkYASABKAwSDQoFdmFsdWUYAiABKAwiOwoLUHV0UmVzcG9uc2USLAoGaGVhZGVyGAEgASgLMhwuZXRjZHNlcnZlcnBiLlJlc3BvbnNlSGVhZGVyIjQKEkRlbGV0ZVJhbmdlUmVxdWVzdBILCgNrZXkYASABKAwSEQoJcmFuZ2VfZW5kGAIgASgMIlQKE0RlbGV0ZVJhbmdlUmVzcG9uc2USLAoGaGVhZGVyGAEgASgLMhwuZXRjZHNlcnZlcnBiLlJlc3BvbnNlSGVhZGVyEg8KB2RlbGV0ZWQYAiABKAMivgEKCVJlcXVlc3RPcBIzCg1yZXF1ZXN0X3JhbmdlGAEgASgLMhouZXRjZHNlcnZlcnBiLlJhbmdlUmVxdWVzdEgAEi8KC3JlcXVlc3RfcHV0GAIgASgLMhguZXRjZHNlcnZlcnBiLlB1dFJlcXVlc3RIABJAChRyZXF1ZXN0X2RlbGV0ZV9yYW5nZRgDIAEoCzIgLmV0Y2RzZXJ2ZXJwYi5EZWxldGVSYW5nZVJlcXVlc3RIAEIJCgdyZXF1ZXN0IsYBCgpSZXNwb25zZU9wEjUKDnJlc3BvbnNlX3JhbmdlGAEgASgLMhsuZXRjZHNlcnZlcnBiLlJhbmdlUmVzcG9uc2VIABIxCgxyZXNwb25zZV9wdXQYAiABKAsyGS5ldGNkc2VydmVycGIuUHV0UmVzcG9uc2VIABJCChVyZXNwb25zZV9kZWxldGVfcmFuZ2UYAyABKAsyIS5ldGNkc2VydmVycGIuRGVsZXRlUmFuZ2VSZXNwb25zZUgAQgoKCHJlc3BvbnNlIsYCCgdDb21wYXJlEjMKBnJlc3VsdBgBIAEoDjIjLmV0Y2RzZXJ2ZXJwYi5Db21wYXJlLkNvbXBhcmVSZXN1bHQSMwoGdGFyZ2V0GAIgASgOMiMuZXRjZHNlcnZlcnBiLkNvbXBhcmUuQ29tcGFyZVRhcmdldBILCgNrZXkYAyABKAwSEQoHdmVyc2lvbhgEIAEoA0gAEhYKDG1vZF9yZXZpc2lvbhgGIAEoA0gAIkAKDUNvbXBhcmVSZXN1bHQSCQoFRVFVQUwQABILCgdHUkVBVEVSEAESCAoETEVTUxACEg0KCU5PVF9FUVVBTBADIkcKDUNvbXBhcmVUYXJnZXQSCwoHVkVSU0lPThAAEgoKBkNSRUFURRABEgcKA01PRBACEgkKBVZBTFVFEAMSCQoFTEVBU0UQBEIOCgx0YXJnZXRfdW5pb24iiAEKClR4blJlcXVlc3QSJgoHY29tcGFyZRgBIAMoCzIVLmV0Y2RzZXJ2ZXJwYi5Db21wYXJlEigKB3N1Y2Nlc3MYAiADKAsyFy5ldGNkc2VydmVycGIuUmVxdWVzdE9wEigKB2ZhaWx1cmUYAyADKAsyFy5ldGNkc2VydmVycGIuUmVxdWVzdE9wInsKC1R4blJlc3BvbnNlEiwKBmhlYWRlchgBIAEoCzIcLmV0Y2RzZXJ2ZXJwYi5SZXNwb25zZUhlYWRlchIRCglzdWNjZWVkZWQYAiABKAgSKwoJcmVzcG9uc2VzGAMgAygLMhguZXRjZHNlcnZlcnBiLlJlc3BvbnNlT3AiJQoRQ29tcGFjdGlvblJlcXVlc3QSEAoIcmV2aXNpb24YASABKAMiQgoSQ29tcGFjdGlvblJlc3BvbnNlEiwKBmhlYWRlchgBIAEoCzIcLmV0Y2RzZXJ2ZXJwYi5SZXNwb25zZUhlYWRlciKbAQoMV2F0Y2hSZXF1ZXN0EjoKDmNyZWF0ZV9yZXF1ZXN0GAEgASgLMiAuZXRjZHNlcnZlcnBiLldhdGNoQ3JlYXRlUmVxdWVzdEgAEj4KEHByb2dyZXNzX3JlcXVlc3QYAyABKAsyIi5ldGNkc2VydmVycGIuV2F0Y2hQcm9ncmVzc1JlcXVlc3RIAEIPCg1yZXF1ZXN0X3VuaW9uInYKEldhdGNoQ3JlYXRlUmVxdWVzdBILCgNrZXkYASABKAwSEQoJcmFuZ2VfZW5kGAIgASgMEhYKDnN0YXJ0X3JldmlzaW9uGAMgASgDEhcKD3Byb2dyZXNzX25vdGlmeRgEIAEoCBIPCgdwcmV2X2t2GAYgASgIIhYKFFdhdGNoUHJvZ3Jlc3NSZXF1ZXN0IsgBCg1XYXRjaFJlc3BvbnNlEiwKBmhlYWRlchgBIAEoCzIcLmV0Y2RzZXJ2ZXJwYi5SZXNwb25zZUhlYWRlchIQCgh3YXRjaF9pZBgCIAEoAxIPCgdjcmVhdGVkGAMgASgIEhAKCGNhbmNlbGVkGAQgASgIEhgKEGNvbXBhY3RfcmV2aXNpb24YBSABKAMSFQoNY2FuY2VsX3JlYXNvbhgGIAEoCRIjCgZldmVudHMYCyADKAsyEy5ldGNkc2VydmVycGIuRXZlbnQiDwoNU3RhdHVzUmVxdWVzdCKUAQoOU3RhdHVzUmVzcG9uc2USLAoGaGVhZGVyGAEgASgLMhwuZXRjZHNlcnZlcnBiLlJlc3BvbnNlSGVhZGVyEg8KB3ZlcnNpb24YAiABKAkSDgoGZGJTaXplGAMgASgDEg4KBmxlYWRlchgEIAEoBBIOCgZlcnJvcnMYCCADKAkSEwoLZGJTaXplSW5Vc2UYCSABKAMy0AEKAktWEkAKBVJhbmdlEhouZXRjZHNlcnZlcnBiLlJhbmdlUmVxdWVzdBobLmV0Y2RzZXJ2ZXJwYi5SYW5nZVJlc3BvbnNlEjoKA1R4bhIYLmV0Y2RzZXJ2ZXJwYi5UeG5SZXF1ZXN0GhkuZXRjZHNlcnZlcnBiLlR4blJlc3BvbnNlEkwKB0NvbXBhY3QSHy5ldGNkc2VydmVycGIuQ29tcGFjdGlvblJlcXVlc3QaIC5ldGNkc2VydmVycGIuQ29tcGFjdGlvblJlc3BvbnNlMk0KBVdhdGNoEkQKBVdhdGNoEhouZXRjZHNlcnZlcnBiLldhdGNoUmVxdWVzdBobLmV0Y2RzZXJ2ZXJwYi5XYXRjaFJlc3BvbnNlKAEwATJSCgtNYWludGVuYW5jZRJDCgZTdGF0dXMSGy5ldGNkc2VydmVycGIuU3RhdHVzUmVxdWVzdBocLmV0Y2RzZXJ2ZXJwYi5TdGF0dXNSZXNwb25zZWIGcHJvdG8z',
  );
export type ResponseHeader = Message<'etcdserverpb.ResponseHeader'> & {
  clusterId: bigint;
  memberId: bigint;
  revision: bigint;
  raftTerm: bigint;
};
export const ResponseHeaderSchema: GenMessage<ResponseHeader> = /*@__PURE__*/ messageDesc(file_etcd, 0);
export type KeyValue = Message<'etcdserverpb.KeyValue'> & {
  key: Uint8Array;
  createRevision: bigint;
  modRevision: bigint;
  version: bigint;
  value: Uint8Array;
};
export const KeyValueSchema: GenMessage<KeyValue> = /*@__PURE__*/ messageDesc(file_etcd, 1);
export type Event = Message<'etcdserverpb.Event'> & {
  type: Event_EventType;
  kv?: KeyValue | undefined;
  prevKv?: KeyValue | undefined;
};
export const EventSchema: GenMessage<Event> = /*@__PURE__*/ messageDesc(file_etcd, 2);
export const Event_EventType = { PUT: 0, DELETE: 1 } as const;
export type Event_EventType = (typeof Event_EventType)[keyof typeof Event_EventType];
export const Event_EventTypeSchema: GenEnum<Event_EventType> = /*@__PURE__*/ enumDesc(file_etcd, 2, 0);
export type RangeRequest = Message<'etcdserverpb.RangeRequest'> & {
  key: Uint8Array;
  rangeEnd: Uint8Array;
  limit: bigint;
  revision: bigint;
  serializable: boolean;
  keysOnly: boolean;
  countOnly: boolean;
};
export const RangeRequestSchema: GenMessage<RangeRequest> = /*@__PURE__*/ messageDesc(file_etcd, 3);
export type RangeResponse = Message<'etcdserverpb.RangeResponse'> & {
  header?: ResponseHeader | undefined;
  kvs: KeyValue[];
  more: boolean;
  count: bigint;
};
export const RangeResponseSchema: GenMessage<RangeResponse> = /*@__PURE__*/ messageDesc(file_etcd, 4);
export type PutRequest = Message<'etcdserverpb.PutRequest'> & {
  key: Uint8Array;
  value: Uint8Array;
};
export const PutRequestSchema: GenMessage<PutRequest> = /*@__PURE__*/ messageDesc(file_etcd, 5);
export type PutResponse = Message<'etcdserverpb.PutResponse'> & {
  header?: ResponseHeader | undefined;
};
export const PutResponseSchema: GenMessage<PutResponse> = /*@__PURE__*/ messageDesc(file_etcd, 6);
export type DeleteRangeRequest = Message<'etcdserverpb.DeleteRangeRequest'> & {
  key: Uint8Array;
  rangeEnd: Uint8Array;
};
export const DeleteRangeRequestSchema: GenMessage<DeleteRangeRequest> = /*@__PURE__*/ messageDesc(file_etcd, 7);
export type DeleteRangeResponse = Message<'etcdserverpb.DeleteRangeResponse'> & {
  header?: ResponseHeader | undefined;
  deleted: bigint;
};
export const DeleteRangeResponseSchema: GenMessage<DeleteRangeResponse> = /*@__PURE__*/ messageDesc(file_etcd, 8);
export type RequestOp = Message<'etcdserverpb.RequestOp'> & {
  request:
    | {
        value: RangeRequest;
        case: 'requestRange';
      }
    | {
        value: PutRequest;
        case: 'requestPut';
      }
    | {
        value: DeleteRangeRequest;
        case: 'requestDeleteRange';
      }
    | { case: undefined; value?: undefined };
};
export const RequestOpSchema: GenMessage<RequestOp> = /*@__PURE__*/ messageDesc(file_etcd, 9);
export type ResponseOp = Message<'etcdserverpb.ResponseOp'> & {
  response:
    | {
        value: RangeResponse;
        case: 'responseRange';
      }
    | {
        value: PutResponse;
        case: 'responsePut';
      }
    | {
        value: DeleteRangeResponse;
        case: 'responseDeleteRange';
      }
    | { case: undefined; value?: undefined };
};
export const ResponseOpSchema: GenMessage<ResponseOp> = /*@__PURE__*/ messageDesc(file_etcd, 10);
export type Compare = Message<'etcdserverpb.Compare'> & {
  result: Compare_CompareResult;
  target: Compare_CompareTarget;
  key: Uint8Array;
  targetUnion:
    | {
        value: bigint;
        case: 'version';
      }
    | {
        value: bigint;
        case: 'modRevision';
      }
    | { case: undefined; value?: undefined };
};
export const CompareSchema: GenMessage<Compare> = /*@__PURE__*/ messageDesc(file_etcd, 11);
export const Compare_CompareResult = { EQUAL: 0, GREATER: 1, LESS: 2, NOT_EQUAL: 3 } as const;
export type Compare_CompareResult = (typeof Compare_CompareResult)[keyof typeof Compare_CompareResult];
export const Compare_CompareResultSchema: GenEnum<Compare_CompareResult> = /*@__PURE__*/ enumDesc(file_etcd, 11, 0);
export const Compare_CompareTarget = { VERSION: 0, CREATE: 1, MOD: 2, VALUE: 3, LEASE: 4 } as const;
export type Compare_CompareTarget = (typeof Compare_CompareTarget)[keyof typeof Compare_CompareTarget];
export const Compare_CompareTargetSchema: GenEnum<Compare_CompareTarget> = /*@__PURE__*/ enumDesc(file_etcd, 11, 1);
export type TxnRequest = Message<'etcdserverpb.TxnRequest'> & {
  compare: Compare[];
  success: RequestOp[];
  failure: RequestOp[];
};
export const TxnRequestSchema: GenMessage<TxnRequest> = /*@__PURE__*/ messageDesc(file_etcd, 12);
export type TxnResponse = Message<'etcdserverpb.TxnResponse'> & {
  header?: ResponseHeader | undefined;
  succeeded: boolean;
  responses: ResponseOp[];
};
export const TxnResponseSchema: GenMessage<TxnResponse> = /*@__PURE__*/ messageDesc(file_etcd, 13);
export type CompactionRequest = Message<'etcdserverpb.CompactionRequest'> & {
  revision: bigint;
};
export const CompactionRequestSchema: GenMessage<CompactionRequest> = /*@__PURE__*/ messageDesc(file_etcd, 14);
export type CompactionResponse = Message<'etcdserverpb.CompactionResponse'> & {
  header?: ResponseHeader | undefined;
};
export const CompactionResponseSchema: GenMessage<CompactionResponse> = /*@__PURE__*/ messageDesc(file_etcd, 15);
export type WatchRequest = Message<'etcdserverpb.WatchRequest'> & {
  requestUnion:
    | {
        value: WatchCreateRequest;
        case: 'createRequest';
      }
    | {
        value: WatchProgressRequest;
        case: 'progressRequest';
      }
    | { case: undefined; value?: undefined };
};
export const WatchRequestSchema: GenMessage<WatchRequest> = /*@__PURE__*/ messageDesc(file_etcd, 16);
export type WatchCreateRequest = Message<'etcdserverpb.WatchCreateRequest'> & {
  key: Uint8Array;
  rangeEnd: Uint8Array;
  startRevision: bigint;
  progressNotify: boolean;
  prevKv: boolean;
};
export const WatchCreateRequestSchema: GenMessage<WatchCreateRequest> = /*@__PURE__*/ messageDesc(file_etcd, 17);
export type WatchProgressRequest = Message<'etcdserverpb.WatchProgressRequest'> & {};
export const WatchProgressRequestSchema: GenMessage<WatchProgressRequest> = /*@__PURE__*/ messageDesc(file_etcd, 18);
export type WatchResponse = Message<'etcdserverpb.WatchResponse'> & {
  header?: ResponseHeader | undefined;
  watchId: bigint;
  created: boolean;
  canceled: boolean;
  compactRevision: bigint;
  cancelReason: string;
  events: Event[];
};
export const WatchResponseSchema: GenMessage<WatchResponse> = /*@__PURE__*/ messageDesc(file_etcd, 19);
export type StatusRequest = Message<'etcdserverpb.StatusRequest'> & {};
export const StatusRequestSchema: GenMessage<StatusRequest> = /*@__PURE__*/ messageDesc(file_etcd, 20);
export type StatusResponse = Message<'etcdserverpb.StatusResponse'> & {
  header?: ResponseHeader | undefined;
  version: string;
  dbSize: bigint;
  leader: bigint;
  errors: string[];
  dbSizeInUse: bigint;
};
export const StatusResponseSchema: GenMessage<StatusResponse> = /*@__PURE__*/ messageDesc(file_etcd, 21);
export const KV: GenService<{
  range: {
    methodKind: 'unary';
    input: typeof RangeRequestSchema;
    output: typeof RangeResponseSchema;
  };
  txn: {
    methodKind: 'unary';
    input: typeof TxnRequestSchema;
    output: typeof TxnResponseSchema;
  };
  compact: {
    methodKind: 'unary';
    input: typeof CompactionRequestSchema;
    output: typeof CompactionResponseSchema;
  };
}> = /*@__PURE__*/ serviceDesc(file_etcd, 0);
export const Watch: GenService<{
  watch: {
    methodKind: 'bidi_streaming';
    input: typeof WatchRequestSchema;
    output: typeof WatchResponseSchema;
  };
}> = /*@__PURE__*/ serviceDesc(file_etcd, 1);
export const Maintenance: GenService<{
  status: {
    methodKind: 'unary';
    input: typeof StatusRequestSchema;
    output: typeof StatusResponseSchema;
  };
}> = /*@__PURE__*/ serviceDesc(file_etcd, 2);
