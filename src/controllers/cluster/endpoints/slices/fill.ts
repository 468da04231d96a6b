/** Distributes endpoints over slices: as few slices as possible are written, and none exceeds the limit. */
import type { Endpoint, EndpointSlice } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { identityOf, equalEndpoints } from './desired-endpoints.ts';

export const endpointsPerSlice = 100;

export interface Filled {
  readonly unchanged: readonly Stored<EndpointSlice>[];
  readonly changed: readonly { readonly slice: Stored<EndpointSlice>; readonly endpoints: readonly Endpoint[] }[];
  /** Slices that have no endpoints any more. */
  readonly emptied: readonly Stored<EndpointSlice>[];
  /** The contents of new slices. */
  readonly created: readonly (readonly Endpoint[])[];
}

/** `wanted`: by identity. `mustChange`: the slice has to be written for another reason, such as its labels. */
export function fill(
  slices: readonly Stored<EndpointSlice>[],
  wanted: ReadonlyMap<string, Endpoint>,
  mustChange: (slice: Stored<EndpointSlice>) => boolean,
): Filled {
  const left = new Map(wanted);
  const unchanged = new Set<Stored<EndpointSlice>>();
  const changed = new Map<Stored<EndpointSlice>, Endpoint[]>();
  const emptied: Stored<EndpointSlice>[] = [];
  for (const slice of slices) {
    const held = slice.endpoints ?? [];
    const kept = held.flatMap((endpoint) => take(left, identityOf(endpoint)));
    const isSame = kept.length === held.length && kept.every((endpoint, i) => equalEndpoints(endpoint, held[i] ?? endpoint));
    if (isSame && !mustChange(slice)) unchanged.add(slice);
    else if (kept.length === 0 && held.length > 0) emptied.push(slice);
    else changed.set(slice, kept);
  }
  topUp([...changed.values()], left);
  const created: Endpoint[][] = [];
  while (left.size > 0) {
    const roomy = left.size < endpointsPerSlice ? closestFit([...unchanged], left.size) : undefined;
    const contents = roomy === undefined ? [] : [...(roomy.endpoints ?? [])];
    if (roomy === undefined) created.push(contents);
    else {
      unchanged.delete(roomy);
      changed.set(roomy, contents);
    }
    topUp([contents], left);
  }
  return { unchanged: [...unchanged], changed: [...changed].map(([slice, endpoints]) => ({ slice, endpoints })), emptied, created };
}

function take(left: Map<string, Endpoint>, identity: string): readonly Endpoint[] {
  const endpoint = left.get(identity);
  left.delete(identity);
  return endpoint === undefined ? [] : [endpoint];
}

/** The fullest first: slices that are written anyway take as much as they can. */
function topUp(contents: readonly Endpoint[][], left: Map<string, Endpoint>): void {
  for (const endpoints of [...contents].sort((a, b) => b.length - a.length)) {
    for (const [identity, endpoint] of left) {
      if (endpoints.length >= endpointsPerSlice) break;
      endpoints.push(endpoint);
      left.delete(identity);
    }
  }
}

/** The fullest slice that has room for all of them. */
function closestFit(slices: readonly Stored<EndpointSlice>[], count: number): Stored<EndpointSlice> | undefined {
  let best: { readonly slice: Stored<EndpointSlice>; readonly room: number } | undefined;
  for (const slice of slices) {
    const room = endpointsPerSlice - (slice.endpoints ?? []).length - count;
    if (room >= 0 && room < (best?.room ?? endpointsPerSlice)) best = { slice, room };
  }
  return best?.slice;
}
