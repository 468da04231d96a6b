// Written by scripts/generate-proto.mjs. Do not edit: change proto/, then `npm run generate:proto`.

import type { GenFile, GenMessage, GenService } from '@bufbuild/protobuf/codegenv2';
import { fileDesc, messageDesc, serviceDesc } from '@bufbuild/protobuf/codegenv2';
import type { Message } from '@bufbuild/protobuf';
export const file_pluginregistration: GenFile =
  /*@__PURE__*/
  fileDesc(
    'ChhwbHVnaW5yZWdpc3RyYXRpb24ucHJvdG8SEnBsdWdpbnJlZ2lzdHJhdGlvbiINCgtJbmZvUmVxdWVzdCJWCgpQbHVnaW5JbmZvEgwKBHR5cGUYASABKAkSDAoEbmFtZRgCIAEoCRIQCghlbmRwb2ludBgDIAEoCRIaChJzdXBwb3J0ZWRfdmVyc2lvbnMYBCADKAkiPgoSUmVnaXN0cmF0aW9uU3RhdHVzEhkKEXBsdWdpbl9yZWdpc3RlcmVkGAEgASgIEg0KBWVycm9yGAIgASgJIhwKGlJlZ2lzdHJhdGlvblN0YXR1c1Jlc3BvbnNlMtIBCgxSZWdpc3RyYXRpb24STAoHR2V0SW5mbxIfLnBsdWdpbnJlZ2lzdHJhdGlvbi5JbmZvUmVxdWVzdBoeLnBsdWdpbnJlZ2lzdHJhdGlvbi5QbHVnaW5JbmZvIgASdAoYTm90aWZ5UmVnaXN0cmF0aW9uU3RhdHVzEiYucGx1Z2lucmVnaXN0cmF0aW9uLlJlZ2lzdHJhdGlvblN0YXR1cxouLnBsdWdpbnJlZ2lzdHJhdGlvbi5SZWdpc3RyYXRpb25TdGF0dXNSZXNwb25zZSIAYgZwcm90bzM',
  );
export type InfoRequest = Message<'pluginregistration.InfoRequest'> & {};
export const InfoRequestSchema: GenMessage<InfoRequest> = /*@__PURE__*/ messageDesc(file_pluginregistration, 0);
export type PluginInfo = Message<'pluginregistration.PluginInfo'> & {
  type: string;
  name: string;
  endpoint: string;
  supportedVersions: string[];
};
export const PluginInfoSchema: GenMessage<PluginInfo> = /*@__PURE__*/ messageDesc(file_pluginregistration, 1);
export type RegistrationStatus = Message<'pluginregistration.RegistrationStatus'> & {
  pluginRegistered: boolean;
  error: string;
};
export const RegistrationStatusSchema: GenMessage<RegistrationStatus> = /*@__PURE__*/ messageDesc(file_pluginregistration, 2);
export type RegistrationStatusResponse = Message<'pluginregistration.RegistrationStatusResponse'> & {};
export const RegistrationStatusResponseSchema: GenMessage<RegistrationStatusResponse> = /*@__PURE__*/ messageDesc(file_pluginregistration, 3);
export const Registration: GenService<{
  getInfo: {
    methodKind: 'unary';
    input: typeof InfoRequestSchema;
    output: typeof PluginInfoSchema;
  };
  notifyRegistrationStatus: {
    methodKind: 'unary';
    input: typeof RegistrationStatusSchema;
    output: typeof RegistrationStatusResponseSchema;
  };
}> = /*@__PURE__*/ serviceDesc(file_pluginregistration, 0);
