import { mkdirSync } from 'node:fs';
import {
  GroupController,
  Controller,
  Identity,
  Node,
  PluginCapability_Service_Type,
  PluginCapability_VolumeExpansion_Type,
} from '../../../src/grpc/generated/csi.ts';
import { GrpcServer } from '../../../src/grpc/http2-server.ts';
import { handlersOf } from '../../../src/grpc/service.ts';
import { realMounts } from '../../../src/host/mounts.ts';
import { DriverState } from './driver-state.ts';
import { isFault } from './faults.ts';
import { nodeMethods } from './node.ts';
import { groupMethods } from './snapshots.ts';
import { controllerMethods } from './volumes.ts';

// A CSI driver whose volumes are folders: correct, but for the faults that are named.
//
//   node main.mjs ENDPOINT DIR mounts|folders [FAULT …]
const [endpoint = '', directory = '', how, ...named] = process.argv.slice(2);
const unknown = named.find((each) => !isFault(each));
if (unknown !== undefined) throw new Error(`there is no fault ${unknown}`);
mkdirSync(directory, { recursive: true });
const state = new DriverState({ directory, faults: new Set(named.filter(isFault)), nodeId: 'node-1' });
const { CONTROLLER_SERVICE, GROUP_CONTROLLER_SERVICE } = PluginCapability_Service_Type;

const server = new GrpcServer(
  handlersOf(Identity, {
    getPluginInfo: async () => ({ name: 'faulty.csi.mooring.dev', vendorVersion: '1.0.0' }),
    getPluginCapabilities: async () => ({
      capabilities: [
        ...[CONTROLLER_SERVICE, GROUP_CONTROLLER_SERVICE].map((type) => ({ type: { case: 'service' as const, value: { type } } })),
        { type: { case: 'volumeExpansion' as const, value: { type: PluginCapability_VolumeExpansion_Type.ONLINE } } },
      ],
    }),
    probe: async () => ({ ready: true }),
  }),
  handlersOf(Controller, controllerMethods(state)),
  handlersOf(GroupController, groupMethods(state)),
  handlersOf(Node, nodeMethods(state, how === 'mounts' ? realMounts() : undefined)),
);
await server.listen(endpoint);
console.log(`listening at ${endpoint}`);
process.on('SIGTERM', () => process.exit(0));
