import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { formatQuantity, quantityOf, quantityValue } from '../../api/quantity.ts';
import type { AccessibilityRequirements, ContentSource, SecretName } from '../../api/volumes/intent.ts';
import type { PublishRequest, UnpublishRequest } from '../../api/volumes/controller-publish.ts';
import { Controller, ControllerServiceCapability_RPC_Type as Rpc, PluginCapability_Service_Type as Service } from '../../grpc/generated/csi.ts';
import {
  type Attacher,
  type ControllerExpandVolumeRequest,
  type ControllerExpandVolumeResponse,
  type ControllerModifyVolumeRequest,
  type CreatedVolume,
  type CreateVolumeRequest,
  done,
  type DriverAnswer,
  type DriverCapacity,
  type DriverFailure,
  failed,
  type GetCapacityRequest,
  type Leader,
  succeeded,
  type VolumeDriver,
} from '../contract.ts';
import { assetOf } from './controller-asset.ts';
import type { CsiConnection } from './controller-connection.ts';
import type { CsiIdentity } from './controller-identity.ts';
import { listPublishedTargets, listVolumeHandles } from './controller-listing.ts';
import { isFinalRpc } from './rpc-failure.ts';
import { groupSnapshotterOf, snapshotterOf } from './controller-snapshots.ts';
import { volumeCapabilityOf, type VolumeCapabilityInit } from './volume-capability.ts';

/** The controller service of a CSI driver, with the calls and the error semantics of Kubernetes' sidecars. */
export function csiVolumeDriver(connection: CsiConnection, identity: CsiIdentity, answersSince: number): VolumeDriver {
  const controller = new CsiController(connection, identity);
  const has = (rpc: Rpc): boolean => identity.controller.has(rpc);
  const capabilities = capabilitiesOf(identity, answersSince);
  return {
    capabilities,
    handleFor: () => undefined,
    handleOf: ({ csi }) => (csi?.driver === identity.name ? csi.volumeHandle : undefined),
    createVolume: (request, leader) => controller.createVolume(request, leader),
    deleteVolume: (handle, leader, secret) => controller.deleteVolume(handle, leader, secret),
    listVolumes: async () => (has(Rpc.LIST_VOLUMES) ? listVolumeHandles(connection) : failed('Unimplemented', `${identity.name} does not report LIST_VOLUMES`)),
    ...(capabilities.expands === 'never' ? {} : { controllerExpandVolume: (request, leader) => controller.expandVolume(request, leader) }),
    attacher: attacherOf(controller, identity, connection),
    ...(has(Rpc.MODIFY_VOLUME) ? { controllerModifyVolume: (request, leader) => controller.modifyVolume(request, leader) } : {}),
    ...(has(Rpc.GET_CAPACITY) ? { getCapacity: (request) => controller.getCapacity(request) } : {}),
    ...snapshotterOf(connection, identity),
    ...groupSnapshotterOf(connection, identity),
  };
}

function capabilitiesOf({ name, services, controller, expandsOnNode }: CsiIdentity, answersSince: number): DriverCapabilities {
  const provisions = controller.has(Rpc.CREATE_DELETE_VOLUME);
  return {
    name,
    provisions,
    deletes: provisions,
    mountOptions: true,
    // CSI has no capability for it: a driver that has none refuses createVolume.
    block: true,
    expands: controller.has(Rpc.EXPAND_VOLUME) || expandsOnNode ? 'always' : 'never',
    attaches: true,
    csi: {
      topology: services.has(Service.VOLUME_ACCESSIBILITY_CONSTRAINTS),
      clones: controller.has(Rpc.CLONE_VOLUME),
      restores: controller.has(Rpc.CREATE_DELETE_SNAPSHOT),
      modifies: controller.has(Rpc.MODIFY_VOLUME),
      reportsCapacity: controller.has(Rpc.GET_CAPACITY),
      answersSince,
    },
  };
}

/** Without PUBLISH_UNPUBLISH_VOLUME every volume is attached everywhere: external-attacher's trivial handler. */
function attacherOf(controller: CsiController, { controller: rpcs }: CsiIdentity, connection: CsiConnection): Attacher {
  if (!rpcs.has(Rpc.PUBLISH_UNPUBLISH_VOLUME)) {
    return { controllerPublishVolume: async () => succeeded({}), controllerUnpublishVolume: async () => done };
  }
  return {
    controllerPublishVolume: (request, leader) => controller.publishVolume(request, leader),
    controllerUnpublishVolume: (request, leader) => controller.unpublishVolume(request, leader),
    ...(rpcs.has(Rpc.LIST_VOLUMES) && rpcs.has(Rpc.LIST_VOLUMES_PUBLISHED_NODES) ? { listPublishedVolumes: () => listPublishedTargets(connection) } : {}),
  };
}

class CsiController {
  readonly #connection: CsiConnection;
  readonly #identity: CsiIdentity;

  constructor(connection: CsiConnection, identity: CsiIdentity) {
    this.#connection = connection;
    this.#identity = identity;
  }

  async createVolume(request: CreateVolumeRequest, leader: Leader): Promise<DriverAnswer<CreatedVolume>> {
    const { csi, source } = request;
    const volumeCapabilities = this.#capabilities(request);
    if (!volumeCapabilities.ok) return { ...volumeCapabilities, reschedule: false };
    const secrets = await this.#connection.secrets(csi?.secrets.provisioner);
    // Nothing was asked of the driver.
    if (!secrets.ok) return { ...secrets, final: true, reschedule: false };
    const requiredBytes = quantityValue(request.capacity);
    const answer = await this.#connection.call(
      Controller.method.createVolume,
      {
        name: request.name,
        capacityRange: { requiredBytes },
        volumeCapabilities: volumeCapabilities.value,
        parameters: { ...request.parameters },
        secrets: { ...secrets.value },
        mutableParameters: { ...csi?.mutableParameters },
        ...(source === undefined ? {} : { volumeContentSource: contentSourceOf(source) }),
        ...(csi?.accessibilityRequirements === undefined ? {} : { accessibilityRequirements: requirementsOf(csi.accessibilityRequirements) }),
      },
      { leader },
    );
    const hasTopology = this.#identity.services.has(Service.VOLUME_ACCESSIBILITY_CONSTRAINTS);
    if (!answer.ok) return createFailure(answer, hasTopology && request.selectedNode !== undefined);
    const { volume } = answer.value;
    // There may be a volume, and it has no name here. The next attempt, with the same name, may tell it.
    if (volume === undefined || volume.volumeId === '') return { ...failed('Internal', 'CreateVolume answered no volume_id'), final: false, reschedule: false };
    return succeeded(assetOf({ driver: this.#identity.name, hasTopology, request, requiredBytes, volume }));
  }

  /** One for each access mode. */
  #capabilities({ accessModes, volumeMode, mountOptions, csi }: CreateVolumeRequest): DriverAnswer<VolumeCapabilityInit[]> {
    const capabilities: VolumeCapabilityInit[] = [];
    for (const mode of accessModes) {
      const capability = this.#capability({ accessModes: [mode], volumeMode, mountOptions, fsType: csi?.fsType });
      if (!capability.ok) return capability;
      capabilities.push(capability.value);
    }
    return succeeded(capabilities);
  }

  #capability(access: Parameters<typeof volumeCapabilityOf>[0]): DriverAnswer<VolumeCapabilityInit> {
    return volumeCapabilityOf(access, { singleNodeMultiWriter: this.#identity.controller.has(Rpc.SINGLE_NODE_MULTI_WRITER) });
  }

  async deleteVolume(volumeId: string, leader: Leader, secret?: SecretName): Promise<DriverAnswer<undefined>> {
    const secrets = { ...(await this.#connection.secretsIfThere(secret)) };
    const call = () => this.#connection.call(Controller.method.deleteVolume, { volumeId, secrets }, { leader });
    return emptied(await this.#connection.oneAtATime(volumeId, call));
  }

  async publishVolume({ handle, nodeId, readOnly, volumeAttributes, secret, ...access }: PublishRequest, leader: Leader) {
    const capability = this.#capability({ volumeMode: undefined, ...access });
    if (!capability.ok) return capability;
    const secrets = await this.#connection.secrets(secret);
    if (!secrets.ok) return secrets;
    const answer = await this.#connection.call(
      Controller.method.controllerPublishVolume,
      {
        volumeId: handle,
        nodeId,
        readonly: readOnly && this.#identity.controller.has(Rpc.PUBLISH_READONLY),
        volumeCapability: capability.value,
        volumeContext: { ...volumeAttributes },
        secrets: { ...secrets.value },
      },
      { leader },
    );
    return answer.ok ? succeeded(answer.value.publishContext) : answer;
  }

  async unpublishVolume({ handle, nodeId, secret }: UnpublishRequest, leader: Leader): Promise<DriverAnswer<undefined>> {
    const secrets = await this.#connection.secrets(secret);
    if (!secrets.ok) return secrets;
    return emptied(
      await this.#connection.call(Controller.method.controllerUnpublishVolume, { volumeId: handle, nodeId, secrets: { ...secrets.value } }, { leader }),
    );
  }

  /** A driver without EXPAND_VOLUME expands on the node alone: external-resizer's trivial resizer. */
  async expandVolume({ handle, capacity, volume = {} }: ControllerExpandVolumeRequest, leader: Leader): Promise<DriverAnswer<ControllerExpandVolumeResponse>> {
    if (!this.#identity.controller.has(Rpc.EXPAND_VOLUME)) return succeeded({ capacity, nodeExpansionRequired: true });
    const { csi, accessModes = [], volumeMode, mountOptions } = volume;
    const capability = this.#capability({ accessModes, volumeMode, mountOptions, fsType: csi?.fsType });
    if (!capability.ok) return capability;
    const { name, namespace } = csi?.controllerExpandSecretRef ?? {};
    const secrets = await this.#connection.secrets(name === undefined || namespace === undefined ? undefined : { namespace, name });
    if (!secrets.ok) return { ...secrets, final: true };
    const requiredBytes = quantityValue(capacity);
    const request = { volumeId: handle, capacityRange: { requiredBytes }, volumeCapability: capability.value, secrets: { ...secrets.value } };
    const answer = await this.#connection.oneAtATime(handle, () => this.#connection.call(Controller.method.controllerExpandVolume, request, { leader }));
    if (!answer.ok) return answer;
    const { capacityBytes, nodeExpansionRequired } = answer.value;
    if (capacityBytes < requiredBytes) {
      return {
        ...failed('Internal', `ControllerExpandVolume answered ${capacityBytes} bytes, less than the ${requiredBytes} that were asked for`),
        final: false,
      };
    }
    return succeeded({ capacity: formatQuantity(quantityOf(capacityBytes, 'BinarySI')), nodeExpansionRequired });
  }

  async modifyVolume({ handle, mutableParameters, secret }: ControllerModifyVolumeRequest, leader: Leader): Promise<DriverAnswer<undefined>> {
    const secrets = await this.#connection.secrets(secret);
    if (!secrets.ok) return { ...secrets, final: true };
    const request = { volumeId: handle, mutableParameters: { ...mutableParameters }, secrets: { ...secrets.value } };
    const call = () => this.#connection.call(Controller.method.controllerModifyVolume, request, { leader });
    const answer = emptied(await this.#connection.oneAtATime(handle, call));
    // Where the driver answered, external-resizer counts Unknown as final: the volume may get another class.
    return answer.ok ? answer : { ...answer, final: isFinalRpc(answer) };
  }

  async getCapacity({ parameters, topology }: GetCapacityRequest): Promise<DriverAnswer<DriverCapacity>> {
    const request = { parameters: { ...parameters }, ...(topology === undefined ? {} : { accessibleTopology: { segments: { ...topology } } }) };
    const answer = await this.#connection.call(Controller.method.getCapacity, request);
    if (!answer.ok) return answer;
    const { availableCapacity, maximumVolumeSize } = answer.value;
    if (availableCapacity < 0n) return failed('Internal', `GetCapacity answered ${availableCapacity} bytes`);
    return succeeded({ available: availableCapacity, ...(maximumVolumeSize === undefined ? {} : { maximumVolumeSize }) });
  }
}

/** external-provisioner's checkError: which failures leave nothing behind, and which may not happen on another node. */
function createFailure(failure: DriverFailure, mayReschedule: boolean): DriverFailure {
  const { code } = failure;
  const final = failure.final ?? !background.has(code);
  return { ...failure, final, reschedule: final && mayReschedule && code === 'ResourceExhausted' };
}

const background: ReadonlySet<DriverFailure['code']> = new Set(['Canceled', 'DeadlineExceeded', 'Unavailable', 'Aborted']);

const emptied = (answer: DriverAnswer<unknown>): DriverAnswer<undefined> => (answer.ok ? done : answer);

const contentSourceOf = ({ type, handle }: ContentSource) =>
  type === 'volume'
    ? { type: { case: 'volume' as const, value: { volumeId: handle } } }
    : { type: { case: 'snapshot' as const, value: { snapshotId: handle } } };

const requirementsOf = ({ requisite, preferred }: AccessibilityRequirements) => ({
  requisite: requisite.map(({ segments }) => ({ segments: { ...segments } })),
  preferred: preferred.map(({ segments }) => ({ segments: { ...segments } })),
});
