import type { Kind } from '../../api/kind.ts';
import { Transformer } from './transformer.ts';
import type { TransformerOf } from './encrypted-store.ts';
import type { EncryptionRule, GroupResource } from './encryption-configuration.ts';

const root = '/registry/';

/**
 * Which envelope the values of a key have: that of its resource, else that of its group ('*.apps'), else that of everything ('*.*').
 * What is no resource (allocated addresses, epochs of leases) is never encrypted.
 */
export function transformersOf(rules: readonly EncryptionRule[], kinds: readonly Kind[]): TransformerOf {
  const byResource = transformersByResource(rules);
  const resources = new Map(kinds.map(({ storage, group, plural }) => [storage.resource, { group, resource: plural }]));
  // Both kinds of events are kept as those of the core group.
  resources.set('events', { group: '', resource: 'events' });
  const known = new Map<string, Transformer | undefined>();
  return (key) => {
    const path = pathOf(key, resources);
    if (path === undefined) return undefined;
    if (known.has(path)) return known.get(path);
    const envelope = choose(byResource, resources.get(path) ?? customResource(path));
    known.set(path, envelope);
    return envelope;
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

function choose(envelopes: ReadonlyMap<string, Transformer>, { group, resource }: GroupResource): Transformer | undefined {
  return envelopes.get(`${resource}.${group}`) ?? envelopes.get(`*.${group}`) ?? envelopes.get('*.*');
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
