/** A CSI driver's controller service that does what the class of a volume says, for tests of the built-in controllers. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { CallHandler } from '../../src/grpc/channel.ts';
import {
  Controller,
  type CreateVolumeRequest,
  CreateVolumeRequestSchema,
  CreateVolumeResponseSchema,
  ControllerServiceCapability_RPC_Type as Rpc,
  Identity,
  PluginCapability_Service_Type as Service,
} from '../../src/grpc/generated/csi.ts';
import { GrpcServer } from '../../src/grpc/http2-server.ts';
import { handlersOf } from '../../src/grpc/service.ts';
import { RpcError } from '../../src/grpc/status.ts';

/** Parameter `does` of a StorageClass; absent: what is right. */
export type Behaviour = 'hang' | 'garbage' | 'flood' | 'small' | 'steal' | 'nameless';

export class ScriptedController {
  readonly #address: string;
  #server: GrpcServer | undefined;
  /** Names by id. */
  readonly volumes = new Map<string, string>();
  /** The last parameters of ControllerModifyVolume, by id. */
  readonly modified = new Map<string, Readonly<Record<string, string>>>();
  /** From now on every call is answered as it should be. */
  isHealed = false;

  constructor(address: string) {
    this.#address = address;
  }

  async start(): Promise<void> {
    const rpcs = [Rpc.CREATE_DELETE_VOLUME, Rpc.LIST_VOLUMES, Rpc.MODIFY_VOLUME];
    const handlers = new Map(
      handlersOf(Controller, {
        controllerGetCapabilities: async () => ({ capabilities: rpcs.map((type) => ({ type: { case: 'rpc' as const, value: { type } } })) }),
        deleteVolume: async ({ volumeId }) => {
          this.volumes.delete(volumeId);
          return {};
        },
        listVolumes: async () => ({ entries: [...this.volumes.keys()].map((volumeId) => ({ volume: { volumeId, capacityBytes: GiB } })) }),
        controllerModifyVolume: async ({ volumeId, mutableParameters }) => {
          if (mutableParameters['iops'] === undefined) throw new RpcError('InvalidArgument', 'iops is missing');
          this.modified.set(volumeId, mutableParameters);
          return {};
        },
      }),
    );
    handlers.set('/csi.v1.Controller/CreateVolume', (call) => this.#create(call));
    this.#server = new GrpcServer(
      handlersOf(Identity, {
        probe: async () => ({ ready: true }),
        getPluginInfo: async () => ({ name: driverName, vendorVersion: '1' }),
        getPluginCapabilities: async () => ({ capabilities: [{ type: { case: 'service', value: { type: Service.CONTROLLER_SERVICE } } }] }),
      }),
      handlers,
    );
    await this.#server.listen(this.#address);
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  async *#create(call: Parameters<CallHandler>[0]): AsyncGenerator<Uint8Array> {
    for await (const bytes of call.requests) {
      const request = fromBinary(CreateVolumeRequestSchema, bytes);
      const does = this.isHealed ? undefined : (request.parameters['does'] as Behaviour | undefined);
      if (does === 'hang') await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
      if (does === 'garbage') yield new Uint8Array(64).fill(0xff);
      if (does === 'flood') while (!call.signal.aborted) yield new Uint8Array(1 << 20);
      const answer = this.#answer(request, does);
      if (does === undefined || does === 'small' || does === 'steal' || does === 'nameless') yield answer;
      return;
    }
  }

  #answer({ name }: CreateVolumeRequest, does: Behaviour | undefined): Uint8Array {
    const [first = ''] = this.volumes.keys();
    const id = does === 'steal' ? first : does === 'nameless' ? '' : `id-of-${name}`;
    if (does === undefined || does === 'small') this.volumes.set(id, name);
    return toBinary(CreateVolumeResponseSchema, create(CreateVolumeResponseSchema, { volume: { volumeId: id, capacityBytes: does === 'small' ? 1n : GiB } }));
  }
}

export const driverName = 'scripted.csi.example.com';
const GiB = 1024n ** 3n;
