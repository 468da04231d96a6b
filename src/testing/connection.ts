import type { Kind } from '../api/kind.ts';
import { customResourceDefinitionKind } from '../api/kinds/apiextensions/custom-resource-definition.ts';
import { kindByName } from '../api/kinds/index.ts';
import type { KubeObject } from '../api/object.ts';
import { createClient, type Client } from '../client/client.ts';
import type { Transport } from '../client/transport.ts';
import type { AssertionContext } from '../sim/scenario/assertions.ts';
import { PhraseError } from '../sim/scenario/language/phrase.ts';
import { kindOf, parseReference, type Reference } from '../sim/scenario/language/reference.ts';
import type { World } from '../world/world.ts';
import type { ObjectRef } from './kind-types.ts';

/** How a test reaches its cluster. */
export interface ClusterConnection {
  readonly transport: Transport;
  readonly world: Pick<World, 'clock' | 'timers'>;
  /** Runs the work to its end. On virtual time this is what makes time pass. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Called before objects of a kind are applied. */
  prepare(kind: Kind): Promise<void>;
  /** What conditions are checked against. */
  readonly facts: AssertionContext;
  /** Calls back after each change that may concern the object. Returns what ends it. */
  onChange(reference: Reference, listener: () => void): () => void;
}

/** @throws PhraseError if there is no such kind */
export async function resolveReference(connection: ClusterConnection, ref: ObjectRef, namespace: string): Promise<Reference> {
  if (typeof ref !== 'string') {
    const kind = await kindOfObject(connection, ref);
    return { kind, namespace: kind.namespaced ? (ref.metadata.namespace ?? namespace) : '', name: ref.metadata.name ?? '' };
  }
  const written = ref.includes(' -n ') ? ref : `${ref} -n ${namespace}`;
  try {
    return parseReference(written);
  } catch (error) {
    if (!(error instanceof PhraseError)) throw error;
    // The words of a custom kind are known to its definition only.
    const [, word = '', name = '', within = ''] = /^([^/]+)\/([^/ ]+) -n (\S+)$/.exec(written) ?? [];
    const kind = await customKind(connection, ({ names }) => wordsOf(names).includes(word.toLowerCase()));
    if (kind === undefined) throw error;
    return { kind, namespace: kind.namespaced ? within : '', name };
  }
}

/** @throws PhraseError if there is no such kind */
export async function resolveKind(connection: ClusterConnection, word: string): Promise<Kind> {
  try {
    return kindOf(word);
  } catch (error) {
    if (!(error instanceof PhraseError)) throw error;
    const kind = await customKind(connection, ({ names }) => wordsOf(names).includes(word.toLowerCase()));
    if (kind === undefined) throw error;
    return kind;
  }
}

/** @throws PhraseError if there is no such kind */
export async function kindOfObject(connection: ClusterConnection, { apiVersion, kind: name }: Pick<KubeObject, 'apiVersion' | 'kind'>): Promise<Kind> {
  const kind =
    kindByName(apiVersion, name) ?? (await customKind(connection, ({ names, group, version }) => names.kind === name && `${group}/${version}` === apiVersion));
  if (kind === undefined) throw new PhraseError(`there is no kind "${name}" of ${apiVersion}; apply its CustomResourceDefinition first`);
  return kind;
}

interface CustomNames {
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
}

interface CustomVersion {
  readonly names: CustomNames;
  readonly group: string;
  readonly version: string;
}

const wordsOf = ({ kind, plural, singular, shortNames = [] }: CustomNames): readonly string[] => [kind.toLowerCase(), plural, singular ?? '', ...shortNames];

async function customKind(connection: ClusterConnection, matches: (version: CustomVersion) => boolean): Promise<Kind | undefined> {
  const found = await connection.run(() => clientOf(connection).list(customResourceDefinitionKind));
  if (!found.ok) throw found.error;
  for (const { spec } of found.value.items) {
    for (const { name: version, served } of spec.versions ?? []) {
      const { group, names, scope } = spec;
      if (served && matches({ names, group, version })) return customResource({ group, version, names, namespaced: scope === 'Namespaced' });
    }
  }
  return undefined;
}

/** What a client needs of a kind that the server knows better. */
function customResource({ group, version, names, namespaced }: CustomVersion & { readonly namespaced: boolean }): Kind {
  const { kind, plural } = names;
  return { group, version, kind, plural, namespaced, columns: [] as Kind['columns'] } as Kind;
}

export const clientOf = ({ transport }: Pick<ClusterConnection, 'transport'>): Client => createClient({ transport });
