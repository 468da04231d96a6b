import type { PublishTarget } from '../../api/volumes/controller-publish.ts';
import { Controller, type ListVolumesResponse_Entry as Entry } from '../../grpc/generated/csi.ts';
import { type DriverAnswer, failed, succeeded } from '../contract.ts';
import type { CsiConnection } from './controller-connection.ts';

/** A driver whose pages never end fails, before its entries fill the memory. */
const maxEntries = 1_000_000;
const pageSize = 1000;

export interface Page<T> {
  readonly entries: readonly T[];
  readonly nextToken: string;
}

/** All pages of a list. A token that comes back means that the pages would never end. */
export async function allPages<T>(what: string, page: (startingToken: string) => Promise<DriverAnswer<Page<T>>>): Promise<DriverAnswer<readonly T[]>> {
  const all: T[] = [];
  const tokens = new Set<string>();
  for (let token = ''; ; ) {
    const answer = await page(token);
    if (!answer.ok) return answer;
    for (const entry of answer.value.entries) all.push(entry);
    token = answer.value.nextToken;
    if (token === '') return succeeded(all);
    if (tokens.has(token) || all.length > maxEntries || tokens.size > maxEntries)
      return failed('Internal', `${what} does not end: ${all.length} entries, and the token ${JSON.stringify(token.slice(0, 100))}`);
    tokens.add(token);
  }
}

const entriesOf = (connection: CsiConnection): Promise<DriverAnswer<readonly Entry[]>> =>
  allPages('ListVolumes', (startingToken) => connection.call(Controller.method.listVolumes, { maxEntries: pageSize, startingToken }));

export async function listVolumeHandles(connection: CsiConnection): Promise<DriverAnswer<readonly string[]>> {
  const entries = await entriesOf(connection);
  return entries.ok ? succeeded(entries.value.flatMap(({ volume }) => (volume === undefined || volume.volumeId === '' ? [] : [volume.volumeId]))) : entries;
}

export async function listPublishedTargets(connection: CsiConnection): Promise<DriverAnswer<readonly PublishTarget[]>> {
  const entries = await entriesOf(connection);
  if (!entries.ok) return entries;
  return succeeded(
    entries.value.flatMap(({ volume, status }) =>
      volume === undefined ? [] : (status?.publishedNodeIds ?? []).map((nodeId) => ({ handle: volume.volumeId, nodeId })),
    ),
  );
}
