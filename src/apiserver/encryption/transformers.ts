import { sharedKeysKey } from '../certificates/shared-keys.ts';
import type { Kind } from '../../api/kind.ts';
import { Transformer } from './transformer.ts';
import type { TransformerOf } from './encrypted-store.ts';
import type { EncryptionRule, GroupResource } from './encryption-configuration.ts';

const root = '/registry/';

/**
 * The transformer of a key: that of its resource, else that of its group ('*.apps'), else that of all resources ('*.*').
 * The keys that servers share are secrets. Side records (allocated addresses, epochs of Leases) are never encrypted.
 */
export function transformersOf(rules: readonly EncryptionRule[], kinds: readonly Kind[]): TransformerOf {
  const byResource = transformersByResource(rules);
  const resources = new Map(kinds.map(({ storage, group, plural }) => [storage.resource, { group, resource: plural }]));
  // Events of both groups are stored as events of the core group.
  resources.set('events', { group: '', resource: 'events' });
  const cached = new Map<string, Transformer | undefined>();
  const ofKeys = choose(byResource, { group: '', resource: 'secrets' });
  return (key) => {
    if (key === sharedKeysKey) return ofKeys;
    const path = pathOf(key, resources);
    if (path === undefined) return undefined;
    if (cached.has(path)) return cached.get(path);
    const transformer = choose(byResource, resources.get(path) ?? customResource(path));
    cached.set(path, transformer);
    return transformer;
  };
}

function transformersByResource(rules: readonly EncryptionRule[]): ReadonlyMap<string, Transformer> {
  const names = [...new Set(rules.map(({ resource }) => nameOf(resource)))];
  return new Map(
    names.flatMap((name) => {
      const [first, ...others] = rules.filter(({ resource }) => nameOf(resource) === name).flatMap(({ providers }) => providers);
      return first === undefined ? [] : [[name, new Transformer(first, ...others)] as const];
    }),
  );
}

const nameOf = ({ group, resource }: GroupResource): string => `${resource}.${group}`;

function choose(transformers: ReadonlyMap<string, Transformer>, { group, resource }: GroupResource): Transformer | undefined {
  return transformers.get(`${resource}.${group}`) ?? transformers.get(`*.${group}`) ?? transformers.get('*.*');
}

/** 'secrets', 'apps/deployments', 'example.com/widgets'; undefined: not of a resource. */
function pathOf(key: string, resources: ReadonlyMap<string, GroupResource>): string | undefined {
  if (!key.startsWith(root)) return undefined;
  const first = key.indexOf('/', root.length);
  if (first < 0) return undefined;
  const one = key.slice(root.length, first);
  if (resources.has(one)) return one;
  const second = key.indexOf('/', first + 1);
  const two = key.slice(root.length, second < 0 ? key.length : second);
  return second > 0 && (resources.has(two) || one.includes('.')) ? two : undefined;
}

function customResource(path: string): GroupResource {
  const [group = '', resource = ''] = path.split('/');
  return { group, resource };
}
