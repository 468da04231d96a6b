import { apiVersionOf, type Kind } from '../api/kind.ts';
import { allKinds } from '../api/kinds/index.ts';
import type { KubeObject } from '../api/object.ts';
import type { Transport } from '../machinery/transport.ts';

/** What a server turned out to serve. */
export interface Discovered {
  /** Of the kinds that we know, those that it has. */
  readonly kinds: readonly Kind[];
  /** It keeps nothing that we do not know: whoever empties a namespace or collects garbage can see all there is. */
  readonly complete: boolean;
}

interface GroupList extends KubeObject {
  readonly groups?: readonly {
    readonly preferredVersion?: { readonly groupVersion: string };
    readonly versions?: readonly { readonly groupVersion: string }[];
  }[];
}

interface ResourceList extends KubeObject {
  readonly resources?: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** @throws if the server gives no answer, or none that makes sense */
export async function discover(transport: Transport): Promise<Discovered> {
  const { groups = [] } = await ask<GroupList>(transport, '/apis');
  const versions = ['v1', ...groups.flatMap((group) => (group.versions ?? []).map(({ groupVersion }) => groupVersion))];
  const preferred = new Set(['v1', ...groups.map((group) => group.preferredVersion?.groupVersion)]);
  const known = new Set(allKinds.map(({ group, plural }) => `${group}/${plural}`));
  const served = new Set<string>();
  let complete = true;
  for (const version of versions) {
    const { resources = [] } = await ask<ResourceList>(transport, version === 'v1' ? '/api/v1' : `/apis/${version}`);
    for (const { name, verbs } of resources) {
      served.add(`${version}/${name}`);
      const group = version.includes('/') ? (version.split('/')[0] ?? '') : '';
      const isKept = verbs.includes('list') && verbs.includes('delete');
      if (isKept && preferred.has(version) && !known.has(`${group}/${name}`)) complete = false;
    }
  }
  return { kinds: allKinds.filter((kind) => served.has(`${apiVersionOf(kind)}/${kind.plural}`)), complete };
}

async function ask<T extends KubeObject>(transport: Transport, path: string): Promise<T> {
  const answer = await transport.send({ method: 'GET', path, query: new URLSearchParams() });
  if (answer.type === 'object') return answer.object as T;
  throw 'error' in answer ? answer.error : new Error(`the server answered ${path} with a ${answer.type}`);
}
