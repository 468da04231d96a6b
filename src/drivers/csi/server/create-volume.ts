import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CapacityRange, CreateVolumeRequest, TopologyRequirement, VolumeContentSource, VolumeSchema } from '../../../grpc/generated/csi.ts';
import { RpcError } from '../../../grpc/status.ts';
import { completeAll, isBlock, refusalOf } from './capabilities.ts';
import { type DriverContext, idOf, required, topologyOf } from './driver-context.ts';
import type { ContentSource, VolumeRecord } from './records.ts';

const defaultBytes = 2 ** 30;
const longestName = 128;

/** The same name is the same volume; the same name for another volume is AlreadyExists. */
export async function createVolume(context: DriverContext, request: CreateVolumeRequest): Promise<VolumeRecord> {
  const name = checkedName(request.name);
  const capabilities = completeAll(request.volumeCapabilities);
  const refusal = refusalOf(context.backend, capabilities);
  if (refusal !== undefined) throw new RpcError('InvalidArgument', refusal);
  checkParameters(request);
  checkTopology(context, request.accessibilityRequirements);
  const range = rangeOf(context, request.capacityRange);
  const source = sourceOf(request.volumeContentSource);
  const block = capabilities.some((each) => isBlock(each));
  const id = idOf(context, 'vol', name);
  return context.locks.run(id, async () => {
    const existing = context.volumes.get(id);
    if (existing !== undefined) checkSame(existing, { range, source, block });
    if (existing?.ready === true) return existing;
    const content = source === undefined ? undefined : contentOf(context, source);
    const volume = existing ?? newVolume({ id, name, block, source, bytes: sizeFor(context, range, content?.bytes ?? 0) });
    if (existing === undefined && volume.bytes > (await context.backend.availableBytes()) && context.backend.granularity === 1)
      throw new RpcError('OutOfRange', `${volume.bytes} bytes are more than the backend has`);
    if (!context.backend.isRecordOnly) await context.volumes.put(volume);
    await context.backend.create(volume, content?.path);
    const ready = { ...volume, ready: true };
    await context.volumes.put(ready);
    return ready;
  });
}

export function checkedName(name: string): string {
  required(name, 'name');
  if (Buffer.byteLength(name) > longestName)
    throw new RpcError('InvalidArgument', `name has ${Buffer.byteLength(name)} bytes: at most ${longestName} are allowed`);
  return name;
}

function checkParameters({ parameters, mutableParameters }: CreateVolumeRequest): void {
  // The provisioner's --extra-create-metadata.
  const unknown = Object.keys(parameters).find((key) => !key.startsWith('csi.storage.k8s.io/'));
  if (unknown !== undefined) throw new RpcError('InvalidArgument', `parameters: ${JSON.stringify(unknown)} is unknown; this driver has no parameters`);
  const [mutable] = Object.keys(mutableParameters);
  if (mutable !== undefined)
    throw new RpcError('InvalidArgument', `mutable_parameters: ${JSON.stringify(mutable)} is unknown; this driver cannot modify volumes`);
}

function checkTopology(context: DriverContext, requirement: TopologyRequirement | undefined): void {
  const terms = requirement === undefined ? [] : requirement.requisite.length > 0 ? requirement.requisite : requirement.preferred;
  if (terms.length > 0 && !terms.some(({ segments }) => isHere(context, segments)))
    throw new RpcError('ResourceExhausted', `accessibility_requirements: the volumes of this driver are on node ${context.nodeId}`);
}

export function isHere(context: DriverContext, segments: Readonly<Record<string, string>>): boolean {
  const own = topologyOf(context).segments;
  return Object.entries(segments).every(([key, value]) => own[key] === undefined || own[key] === value);
}

interface Range {
  readonly least: number;
  readonly most: number;
}

export function rangeOf({ backend }: DriverContext, range: CapacityRange | undefined): Range {
  const least = Number(range?.requiredBytes ?? 0n);
  const most = Number(range?.limitBytes ?? 0n);
  if (least < 0 || most < 0) throw new RpcError('InvalidArgument', 'capacity_range: sizes are not negative');
  if (most > 0 && most < least) throw new RpcError('InvalidArgument', `capacity_range: limit_bytes ${most} is less than required_bytes ${least}`);
  if (least > backend.mostBytes)
    throw new RpcError('OutOfRange', `capacity_range.required_bytes ${least} is too large: a volume has at most ${backend.mostBytes}`);
  return { least, most: most === 0 ? Number.POSITIVE_INFINITY : most };
}

/** As much as is required and as the source has, in whole units. */
function sizeFor({ backend }: DriverContext, { least, most }: Range, ofSource: number): number {
  const wanted = Math.max(least, ofSource) || Math.min(defaultBytes, most);
  const bytes = wholeUnits(backend.granularity, wanted);
  if (bytes > most) throw new RpcError('OutOfRange', `capacity_range.limit_bytes ${most}: the volume needs ${bytes} bytes`);
  return bytes;
}

/** An image of less than 1 MiB has no room for a file system. */
export const wholeUnits = (unit: number, bytes: number): number => (unit === 1 ? bytes : Math.max(Math.ceil(bytes / unit) * unit, 2 ** 20));

function sourceOf(source: VolumeContentSource | undefined): ContentSource | undefined {
  if (source === undefined) return undefined;
  switch (source.type.case) {
    case 'snapshot':
      return { type: 'snapshot', id: required(source.type.value.snapshotId, 'volume_content_source.snapshot.snapshot_id') };
    case 'volume':
      return { type: 'volume', id: required(source.type.value.volumeId, 'volume_content_source.volume.volume_id') };
    case undefined:
      throw new RpcError('InvalidArgument', 'volume_content_source.type is missing: snapshot or volume would be right');
  }
}

function contentOf({ backend, volumes, snapshots }: DriverContext, { type, id }: ContentSource): { readonly path: string; readonly bytes: number } {
  const found = type === 'volume' ? volumes.get(id) : snapshots.get(id);
  if (found?.ready !== true) throw new RpcError('NotFound', `volume_content_source: ${type} ${JSON.stringify(id)} does not exist`);
  return { path: type === 'volume' ? backend.volumePath(id) : backend.snapshotPath(id), bytes: found.bytes };
}

function checkSame(existing: VolumeRecord, { range, source, block }: { range: Range; source: ContentSource | undefined; block: boolean }): void {
  const differs = (what: string): RpcError => new RpcError('AlreadyExists', `volume ${JSON.stringify(existing.name)} exists already, with another ${what}`);
  if (existing.bytes < range.least || existing.bytes > range.most) throw differs(`capacity: ${existing.bytes} bytes`);
  if (existing.source?.id !== source?.id || existing.source?.type !== source?.type) throw differs('content source');
  if (existing.block !== block) throw differs('access type');
}

const newVolume = (volume: Pick<VolumeRecord, 'id' | 'name' | 'bytes' | 'block' | 'source'>): VolumeRecord => ({
  ...volume,
  ready: false,
  attachedTo: {},
  onNode: { staged: undefined, published: {} },
});

export function volumeMessage(context: DriverContext, { id, bytes, source }: VolumeRecord): MessageInitShape<typeof VolumeSchema> {
  return {
    volumeId: id,
    capacityBytes: BigInt(bytes),
    accessibleTopology: [topologyOf(context)],
    ...(source === undefined ? {} : { contentSource: sourceMessage(source) }),
  };
}

const sourceMessage = ({ type, id }: ContentSource): NonNullable<MessageInitShape<typeof VolumeSchema>['contentSource']> =>
  type === 'snapshot' ? { type: { case: 'snapshot', value: { snapshotId: id } } } : { type: { case: 'volume', value: { volumeId: id } } };
