/** Lines for a shell. */
import type { Target } from './target.ts';

/** As it has to be written so that the shell sees one word. */
export const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

/** `kubectl('shop', 'delete', 'pvc', 'data')`; undefined: no namespace. */
export const kubectl = (namespace: string | undefined, ...words: readonly string[]): string =>
  ['kubectl', ...(namespace === undefined ? [] : ['-n', word(namespace)]), ...words.map(word)].join(' ');

export const deleteObject = ({ kind, namespace, name }: Target): string => kubectl(namespace, 'delete', kind === 'va' ? 'volumeattachment' : kind, name);

export const patchVolume = (name: string, change: object): string => kubectl(undefined, 'patch', 'pv', name, '-p', JSON.stringify(change));

/** The volume is free again. Whoever types it vouches for the data. */
export const clearClaimRef = (name: string): string =>
  kubectl(undefined, 'patch', 'pv', name, '--type', 'json', '-p', JSON.stringify([{ op: 'remove', path: '/spec/claimRef' }]));

export const moorWhy = (namespace: string | undefined, target: string): string =>
  ['moor why', target, ...(namespace === undefined ? [] : ['-n', word(namespace)])].join(' ');
