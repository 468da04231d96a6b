import { RpcError } from '../../../src/grpc/status.ts';
import type { DriverState } from './driver-state.ts';

/** Tokens are ids: the page begins behind it. */
export function pageOf<Entry extends { readonly id: string }>(
  state: DriverState,
  all: readonly Entry[],
  { maxEntries, startingToken }: { maxEntries: number; startingToken: string },
): { page: readonly Entry[]; nextToken: string } {
  const sorted = [...all].sort((a, b) => (a.id < b.id ? -1 : 1));
  const known = /^after (.+)$/.exec(startingToken)?.[1];
  if (startingToken !== '' && known === undefined && !state.has('list-accepts-bad-token'))
    throw new RpcError('Aborted', `starting_token ${startingToken} is unknown`);
  const rest = known === undefined ? sorted : sorted.filter(({ id }) => id > known).slice(state.has('list-loses-entry') ? 1 : 0);
  const page = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  const isLast = page.length === rest.length && !(state.has('list-never-ends') && maxEntries > 0);
  return { page, nextToken: isLast ? '' : `after ${page.at(-1)?.id ?? known ?? ''}` };
}
