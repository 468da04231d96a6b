import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { CustomResourceDefinition } from '../../api/apiextensions/definition.ts';
import { followedKinds } from '../../api/kinds/index.ts';
import type { KubeObject } from '../../api/object.ts';
import { parseRequestInfo } from '../../api/request-info.ts';
import type { Transport } from '../../client/transport.ts';

/** What an API server serves. */
export interface ServedKinds {
  /** Of the known kinds, those that it has. */
  readonly kinds: readonly Kind[];
  /** It stores no unknown kind: the namespace controller and the garbage collector see every object. */
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

interface DefinitionList extends KubeObject {
  readonly items?: readonly Pick<CustomResourceDefinition, 'spec'>[];
}

/** @throws if the server does not answer, or not as an API server */
export async function discoverServedKinds(transport: Transport): Promise<ServedKinds> {
  const { groups = [] } = await ask<GroupList>(transport, '/apis');
  const versions = ['v1', ...groups.flatMap((group) => (group.versions ?? []).map(({ groupVersion }) => groupVersion))];
  const preferred = new Set(['v1', ...groups.map((group) => group.preferredVersion?.groupVersion)]);
  const known = new Set(followedKinds.map(({ group, plural }) => `${group}/${plural}`));
  const served = new Set<string>();
  const unknown = new Set<string>();
  for (const version of versions) {
    const { resources = [] } = await ask<ResourceList>(transport, version === 'v1' ? '/api/v1' : `/apis/${version}`);
    for (const { name, verbs } of resources) {
      served.add(`${version}/${name}`);
      const group = version.includes('/') ? (version.split('/')[0] ?? '') : '';
      const isKept = verbs.includes('list') && verbs.includes('delete');
      if (isKept && preferred.has(version) && !known.has(`${group}/${name}`)) unknown.add(`${group}/${name}`);
    }
  }
  const defined = unknown.size > 0 && served.has(definitions) ? await definedNames(transport) : [];
  for (const name of defined) unknown.delete(name);
  return { kinds: followedKinds.filter((kind) => served.has(`${apiVersionOf(kind)}/${kind.plural}`)), complete: unknown.size === 0 };
}

const definitions = 'apiextensions.k8s.io/v1/customresourcedefinitions';

/** Kinds of CustomResourceDefinitions, which the controllers learn from the definitions. */
async function definedNames(transport: Transport): Promise<readonly string[]> {
  const { items = [] } = await ask<DefinitionList>(transport, `/apis/${definitions}`);
  return items.map(({ spec }) => `${spec.group}/${spec.names.plural}`);
}

async function ask<T extends KubeObject>(transport: Transport, path: string): Promise<T> {
  const query = new URLSearchParams();
  const answer = await transport.send({ info: parseRequestInfo('GET', path, query), query });
  if (answer.type === 'object') return answer.object as T;
  throw 'error' in answer ? answer.error : new Error(`the server answered ${path} with a ${answer.type}`);
}
