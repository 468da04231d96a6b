/** A CSI driver behind real sockets, with volumes that are directories of its machine, and every failure that a test asks for. */
import { rmSync } from 'node:fs';
import { ensureBound, type NodeHost, removeMountPoint } from '../../src/drivers/mount/node-host.ts';
import { Identity, Node, NodeServiceCapability_RPC_Type as Rpc, VolumeUsage_Unit as Unit } from '../../src/grpc/generated/csi.ts';
import { Registration } from '../../src/grpc/generated/pluginregistration.ts';
import { GrpcServer } from '../../src/grpc/http2-server.ts';
import { handlersOf } from '../../src/grpc/service.ts';
import type { ErrorCode } from '../../src/grpc/status.ts';
import { RpcError } from '../../src/grpc/status.ts';

type Method = keyof (typeof Node)['method'];

export interface FakeDriverOptions {
  readonly host: NodeHost;
  /** Of the volumes' content. */
  readonly directory: string;
  readonly name?: string;
  readonly versions?: readonly string[];
  readonly capabilities?: readonly (keyof typeof Rpc)[];
  readonly nodeId?: string;
  readonly maxVolumes?: bigint;
  readonly topology?: Readonly<Record<string, string>>;
}

export interface RecordedCall {
  readonly method: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** What a method does instead of its task: fail, or never answer. */
export type Misbehaviour = { readonly code: ErrorCode; readonly message: string; readonly after?: boolean } | 'hang' | 'lie';

export class FakeCsiDriver {
  readonly #options: FakeDriverOptions;
  readonly #servers = new Map<string, GrpcServer>();
  readonly calls: RecordedCall[] = [];
  /** By method, until it is deleted. */
  readonly misbehaves = new Map<Method, Misbehaviour>();
  /** The statuses that the node reported to the registration socket. */
  readonly statuses: { readonly registered: boolean; readonly error: string }[] = [];
  maxVolumes: bigint;
  /** Of all volumes. */
  condition: { readonly abnormal: boolean; readonly message: string } | undefined;

  constructor(options: FakeDriverOptions) {
    this.#options = options;
    this.maxVolumes = options.maxVolumes ?? 0n;
  }

  get name(): string {
    return this.#options.name ?? 'fake.example.com';
  }

  /** The names of the methods that changed something, in order. */
  get changes(): readonly string[] {
    return this.calls.flatMap(({ method }) => (method.startsWith('nodeGet') ? [] : [method]));
  }

  last(method: Method): Readonly<Record<string, unknown>> | undefined {
    return this.calls.findLast((call) => call.method === method)?.request;
  }

  async listen(socket: string): Promise<void> {
    const identity = handlersOf(Identity, {
      getPluginInfo: async () => ({ name: this.name, vendorVersion: '1' }),
      probe: async () => ({ ready: true }),
    });
    await this.#serve(socket, new GrpcServer(identity, this.#node()));
  }

  /** `endpoint`: of the driver; '': the registration socket itself. */
  async listenForRegistration(socket: string, endpoint: string, type = 'CSIPlugin'): Promise<void> {
    const registration = handlersOf(Registration, {
      getInfo: async () => ({ type, name: this.name, endpoint, supportedVersions: [...(this.#options.versions ?? ['1.0.0'])] }),
      notifyRegistrationStatus: async ({ pluginRegistered: registered, error }) => {
        this.statuses.push({ registered, error });
        return {};
      },
    });
    await this.#serve(socket, new GrpcServer(registration, ...(endpoint === '' ? [this.#node()] : [])));
  }

  /** Ends the server, and removes its socket. */
  async stop(socket: string): Promise<void> {
    await this.#servers.get(socket)?.close();
    this.#servers.delete(socket);
    rmSync(socket, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#servers.keys()) await this.stop(socket);
  }

  async #serve(socket: string, server: GrpcServer): Promise<void> {
    await server.listen(`unix://${socket}`);
    this.#servers.set(socket, server);
  }

  #node(): ReturnType<typeof handlersOf> {
    const { host, directory, capabilities = ['STAGE_UNSTAGE_VOLUME'], nodeId = 'node-1', topology = {} } = this.#options;
    const contentOf = (volumeId: string): string => `${directory}/${volumeId.slice(-40)}`;
    return handlersOf(Node, {
      nodeGetCapabilities: (request) =>
        this.#task('nodeGetCapabilities', request, async () => ({
          capabilities: capabilities.map((name) => ({ type: { case: 'rpc' as const, value: { type: Rpc[name] } } })),
        })),
      nodeGetInfo: (request) =>
        this.#task('nodeGetInfo', request, async () => ({ nodeId, maxVolumesPerNode: this.maxVolumes, accessibleTopology: { segments: topology } })),
      nodeStageVolume: (request) =>
        this.#task('nodeStageVolume', request, async () => {
          const isBlock = request.volumeCapability?.accessType.case === 'block';
          await host.files.makeDirectory(contentOf(request.volumeId), 0o755);
          if (!isBlock) await ensureBound(host, { source: contentOf(request.volumeId), target: request.stagingTargetPath, readOnly: false, options: [] });
          return {};
        }),
      nodeUnstageVolume: (request) =>
        this.#task('nodeUnstageVolume', request, async () => {
          await removeMountPoint(host, request.stagingTargetPath);
          return {};
        }),
      nodePublishVolume: (request) =>
        this.#task('nodePublishVolume', request, async () => {
          const isStaged = request.stagingTargetPath !== '';
          if (!isStaged) await host.files.makeDirectory(contentOf(request.volumeId), 0o755);
          const isBlock = request.volumeCapability?.accessType.case === 'block';
          const device = `${contentOf(request.volumeId)}/device`;
          if (isBlock) await host.files.write(device, new Uint8Array(), 0o600);
          const source = isBlock ? device : isStaged ? request.stagingTargetPath : contentOf(request.volumeId);
          await ensureBound(host, { source, target: request.targetPath, readOnly: request.readonly, options: [] });
          return {};
        }),
      nodeUnpublishVolume: (request) =>
        this.#task('nodeUnpublishVolume', request, async () => {
          await removeMountPoint(host, request.targetPath);
          return {};
        }),
      nodeExpandVolume: (request) => this.#task('nodeExpandVolume', request, async () => ({ capacityBytes: request.capacityRange?.requiredBytes ?? 0n })),
      nodeGetVolumeStats: (request) =>
        this.#task('nodeGetVolumeStats', request, async () => ({
          usage: [
            { unit: Unit.BYTES, total: 100n, used: 30n, available: 70n },
            { unit: Unit.INODES, total: 10n, used: 3n, available: 7n },
          ],
          ...(this.condition === undefined ? {} : { volumeCondition: this.condition }),
        })),
    });
  }

  async #task<T>(method: Method, request: object, task: () => Promise<T>): Promise<T> {
    const { $typeName: _, ...fields } = request as { readonly $typeName?: string };
    this.calls.push({ method, request: fields });
    const bad = this.misbehaves.get(method);
    if (bad === 'hang') return new Promise(() => undefined);
    if (bad === 'lie') return {} as T;
    if (bad !== undefined && bad.after !== true) throw new RpcError(bad.code, bad.message);
    const answer = await task();
    if (bad !== undefined) throw new RpcError(bad.code, bad.message);
    return answer;
  }
}
