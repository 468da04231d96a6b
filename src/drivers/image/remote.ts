/**
 * Image volumes of nodes that joined: the controllers ask the node, through the API server's proxy to its kubelet API, for the driver's calls.
 *
 *     POST   /imageVolumes/pvc-1?request=…&lease=…&epoch=5     createVolume
 *     PUT    /imageVolumes/pvc-1?request=…&lease=…&epoch=5     controllerExpandVolume
 *     DELETE /imageVolumes/pvc-1?lease=…&epoch=5               deleteVolume
 *
 * The node's authorization is that of every other path: nodes/proxy of this node. It answers with the driver's answer, as JSON.
 */
import { formatQuantity, parseQuantity } from '../../api/quantity.ts';
import type { Asset } from '../../api/volumes/intent.ts';
import {
  type ControllerExpandVolumeRequest,
  type ControllerExpandVolumeResponse,
  type CreateVolumeRequest,
  type DriverAnswer,
  type DriverFailure,
  failed,
  type Leader,
  succeeded,
  type VolumeDriver,
} from '../contract.ts';
import { formatImageHandle, imageAsset, parseImageHandle } from './driver.ts';

export interface ImageRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Sends a request to a node. `value`: its answer, from JSON. @throws Error if it is not known whether the node got it */
export type AskNode = (
  node: string,
  request: ImageRequest,
) => Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly code: number; readonly message: string }>;

const pathOf = (name: string): string => `${imagesPath}${name}`;
const imagesPath = '/imageVolumes/';

/** The driver of this machine's images and of the images of all nodes that joined. */
export function clusterImageDriver(own: VolumeDriver, isHere: (node: string) => boolean | Promise<boolean>, ask: AskNode): VolumeDriver {
  const call = <T>(node: string, request: ImageRequest, read: (value: unknown) => T): Promise<DriverAnswer<T>> => askDriver<T>(request, { node, ask, read });
  return {
    ...own,
    createVolume: async (request, leader) => {
      const { name, selectedNode } = request;
      if (selectedNode === undefined || (await isHere(selectedNode))) return own.createVolume(request, leader);
      return call(selectedNode, { method: 'POST', path: pathOf(name), query: queryOf(leader, request) }, (asset) => assetOf(asset, selectedNode, request));
    },
    deleteVolume: (handle, leader) => {
      const { node, name } = parseImageHandle(handle) ?? {};
      if (node === undefined || name === undefined) return own.deleteVolume(handle, leader);
      return call(node, { method: 'DELETE', path: pathOf(name), query: queryOf(leader) }, () => undefined);
    },
    controllerExpandVolume: async (request, leader) => {
      const { node, name } = parseImageHandle(request.handle) ?? {};
      if (node !== undefined && name !== undefined) return call(node, { method: 'PUT', path: pathOf(name), query: queryOf(leader, request) }, expandedOf);
      return own.controllerExpandVolume?.(request, leader) ?? doesNotGrow;
    },
  };
}

const doesNotGrow = failed('Unimplemented', 'image volumes do not grow here');

const queryOf = ({ lease, epoch }: Leader, request?: object): URLSearchParams =>
  new URLSearchParams({ ...(request === undefined ? {} : { request: JSON.stringify(request) }), lease, epoch: String(epoch) });

/** The asset of the node's own image. The rest of its answer does not count: a node must not make a volume of the files or images of others. */
function assetOf(value: unknown, node: string, { name, capacity, volumeMode }: CreateVolumeRequest): Asset {
  const { handle, nodeAffinity } = value as Partial<Asset>;
  const machine = nodeAffinity?.required?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values?.[0];
  if (handle !== formatImageHandle({ node, name }) || typeof machine !== 'string') throw new Error(`it answered with ${JSON.stringify(handle)}`);
  return imageAsset({ handle, capacity, volumeMode, machine });
}

function expandedOf(value: unknown): ControllerExpandVolumeResponse {
  const { capacity, nodeExpansionRequired } = value as Partial<ControllerExpandVolumeResponse>;
  if (typeof capacity !== 'string' || typeof nodeExpansionRequired !== 'boolean') throw new Error('its answer has no capacity');
  return { capacity: formatQuantity(parseQuantity(capacity)), nodeExpansionRequired };
}

interface AskOptions<T> {
  readonly node: string;
  readonly ask: AskNode;
  /** @throws Error for a value that no driver answers */
  readonly read: (value: unknown) => T;
}

async function askDriver<T>(request: ImageRequest, { node, ask, read }: AskOptions<T>): Promise<DriverAnswer<T>> {
  try {
    const answer = await ask(node, request);
    if (answer.ok) {
      const driverAnswer = answer.value as DriverAnswer<unknown>;
      if (driverAnswer.ok) return succeeded(read(driverAnswer.value));
      return isFailure(driverAnswer) ? driverAnswer : failed('Unavailable', `node ${node} answered with something else than a driver's answer`);
    }
    const { code, message } = answer;
    // A kubelet without this path has no image volumes: a pod that waits gets another node.
    if (request.method === 'POST' && (code === 404 || code === 405)) return failed('ResourceExhausted', `node ${node} keeps no image volumes`);
    return failed('Unavailable', `node ${node} answered ${code}: ${message.trim()}`);
  } catch (error) {
    return failed('Unavailable', `node ${node} cannot be asked: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const isFailure = ({ ok, code, message }: Partial<DriverFailure>): boolean => ok === false && typeof code === 'string' && typeof message === 'string';

/** The node's part. Undefined: the path is of something else. */
export async function answerImageRequest(driver: VolumeDriver, node: string, request: ImageRequest): Promise<DriverAnswer<unknown> | undefined> {
  if (!request.path.startsWith(imagesPath)) return undefined;
  const name = request.path.slice(imagesPath.length);
  const { query } = request;
  const leader = { lease: query.get('lease') ?? '', epoch: Number(query.get('epoch') ?? Number.NaN) };
  if (leader.lease === '' || !Number.isSafeInteger(leader.epoch)) return failed('InvalidArgument', 'lease and epoch are required');
  const handle = formatImageHandle({ node, name });
  let parameters: object;
  try {
    parameters = JSON.parse(query.get('request') ?? '{}') as object;
  } catch {
    return failed('InvalidArgument', 'request is no JSON');
  }
  switch (request.method) {
    case 'POST':
      return driver.createVolume({ ...(parameters as CreateVolumeRequest), name, selectedNode: node }, leader);
    case 'PUT':
      return (await driver.controllerExpandVolume?.({ ...(parameters as ControllerExpandVolumeRequest), handle }, leader)) ?? doesNotGrow;
    case 'DELETE':
      return driver.deleteVolume(handle, leader);
    default:
      return undefined;
  }
}
