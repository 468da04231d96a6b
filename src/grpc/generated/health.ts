// Written by scripts/generate-proto.mjs. Do not edit: change proto/, then `npm run generate:proto`.

import type { GenEnum, GenFile, GenMessage, GenService } from '@bufbuild/protobuf/codegenv2';
import { enumDesc, fileDesc, messageDesc, serviceDesc } from '@bufbuild/protobuf/codegenv2';
import type { Message } from '@bufbuild/protobuf';
export const file_health: GenFile =
  /*@__PURE__*/
  fileDesc(
    'CgxoZWFsdGgucHJvdG8SDmdycGMuaGVhbHRoLnYxIiUKEkhlYWx0aENoZWNrUmVxdWVzdBIPCgdzZXJ2aWNlGAEgASgJIqkBChNIZWFsdGhDaGVja1Jlc3BvbnNlEkEKBnN0YXR1cxgBIAEoDjIxLmdycGMuaGVhbHRoLnYxLkhlYWx0aENoZWNrUmVzcG9uc2UuU2VydmluZ1N0YXR1cyJPCg1TZXJ2aW5nU3RhdHVzEgsKB1VOS05PV04QABILCgdTRVJWSU5HEAESDwoLTk9UX1NFUlZJTkcQAhITCg9TRVJWSUNFX1VOS05PV04QAzKyAQoGSGVhbHRoElIKBUNoZWNrEiIuZ3JwYy5oZWFsdGgudjEuSGVhbHRoQ2hlY2tSZXF1ZXN0GiMuZ3JwYy5oZWFsdGgudjEuSGVhbHRoQ2hlY2tSZXNwb25zZSIAElQKBVdhdGNoEiIuZ3JwYy5oZWFsdGgudjEuSGVhbHRoQ2hlY2tSZXF1ZXN0GiMuZ3JwYy5oZWFsdGgudjEuSGVhbHRoQ2hlY2tSZXNwb25zZSIAMAFiBnByb3RvMw',
  );
export type HealthCheckRequest = Message<'grpc.health.v1.HealthCheckRequest'> & {
  service: string;
};
export const HealthCheckRequestSchema: GenMessage<HealthCheckRequest> = /*@__PURE__*/ messageDesc(file_health, 0);
export type HealthCheckResponse = Message<'grpc.health.v1.HealthCheckResponse'> & {
  status: HealthCheckResponse_ServingStatus;
};
export const HealthCheckResponseSchema: GenMessage<HealthCheckResponse> = /*@__PURE__*/ messageDesc(file_health, 1);
export const HealthCheckResponse_ServingStatus = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;
export type HealthCheckResponse_ServingStatus = (typeof HealthCheckResponse_ServingStatus)[keyof typeof HealthCheckResponse_ServingStatus];
export const HealthCheckResponse_ServingStatusSchema: GenEnum<HealthCheckResponse_ServingStatus> = /*@__PURE__*/ enumDesc(file_health, 1, 0);
export const Health: GenService<{
  check: {
    methodKind: 'unary';
    input: typeof HealthCheckRequestSchema;
    output: typeof HealthCheckResponseSchema;
  };
  watch: {
    methodKind: 'server_streaming';
    input: typeof HealthCheckRequestSchema;
    output: typeof HealthCheckResponseSchema;
  };
}> = /*@__PURE__*/ serviceDesc(file_health, 0);
