import { type VolumeCapability, VolumeCapability_AccessMode_Mode as Mode } from '../../../grpc/generated/csi.ts';
import { RpcError } from '../../../grpc/status.ts';
import type { VolumeBackend } from './backend.ts';

/** Throws InvalidArgument for a capability that is incomplete. */
export function complete(capability: VolumeCapability | undefined, field = 'volume_capability'): VolumeCapability {
  if (capability === undefined) throw new RpcError('InvalidArgument', `${field} is missing`);
  const { accessType, accessMode } = capability;
  if (accessType.case === undefined) throw new RpcError('InvalidArgument', `${field}.access_type is missing: block or mount would be right`);
  if (accessMode === undefined || accessMode.mode === Mode.UNKNOWN) throw new RpcError('InvalidArgument', `${field}.access_mode is missing`);
  if (!knownModes.has(accessMode.mode)) throw new RpcError('InvalidArgument', `${field}.access_mode ${String(accessMode.mode)} is unknown`);
  return capability;
}

const knownModes = new Set<Mode>(Object.values(Mode));

export function completeAll(capabilities: readonly VolumeCapability[]): readonly VolumeCapability[] {
  if (capabilities.length === 0) throw new RpcError('InvalidArgument', 'volume_capabilities is missing');
  const checked = capabilities.map((each, index) => complete(each, `volume_capabilities[${index}]`));
  if (new Set(checked.map(isBlock)).size > 1) throw new RpcError('InvalidArgument', 'volume_capabilities: block and mount exclude each other');
  return checked;
}

export const isBlock = ({ accessType }: VolumeCapability): boolean => accessType.case === 'block';

/** Why the driver has no such volume; undefined: it has. */
export function refusalOf(backend: VolumeBackend, capabilities: readonly VolumeCapability[]): string | undefined {
  if (!backend.block && capabilities.some((each) => isBlock(each))) return 'block: this driver has no block volumes';
  return capabilities.map((each) => backend.refusal(each)).find((refusal) => refusal !== undefined);
}

/** Whether two pods of one node may have the volume. */
export const isShared = (mode: number): boolean =>
  mode === Mode.SINGLE_NODE_MULTI_WRITER ||
  mode === Mode.MULTI_NODE_READER_ONLY ||
  mode === Mode.MULTI_NODE_SINGLE_WRITER ||
  mode === Mode.MULTI_NODE_MULTI_WRITER;

/** Whether several nodes may have the volume. */
export const isMultiNode = (mode: number): boolean => isShared(mode) && mode !== Mode.SINGLE_NODE_MULTI_WRITER;

/** The same text for the same capability. */
export function capabilityText({ accessType, accessMode }: VolumeCapability): string {
  const mount = accessType.case === 'mount' ? { fsType: accessType.value.fsType, mountFlags: accessType.value.mountFlags } : undefined;
  return JSON.stringify({ type: accessType.case, mode: accessMode?.mode, mount });
}
