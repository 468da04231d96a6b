/** Commands for a shell. */
import type { Target } from './target.ts';

/** Quoted so that the shell reads one word. */
export const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

/** `kubectl('shop', 'delete', 'pvc', 'data')`; undefined: no namespace. */
export const kubectl = (namespace: string | undefined, ...words: readonly string[]): string =>
  ['kubectl', ...(namespace === undefined ? [] : ['-n', word(namespace)]), ...words.map(word)].join(' ');

export const deleteObject = ({ kind, namespace, name }: Target): string => kubectl(namespace, 'delete', kind === 'va' ? 'volumeattachment' : kind, name);

export const patchVolume = (name: string, change: object): string => kubectl(undefined, 'patch', 'pv', name, '-p', JSON.stringify(change));

/** Makes the volume Available again, with the data that is on it. */
export const clearClaimRef = (name: string): string =>
  kubectl(undefined, 'patch', 'pv', name, '--type', 'json', '-p', JSON.stringify([{ op: 'remove', path: '/spec/claimRef' }]));

/** Reserves the volume, with its data, for the claim of the name in its claimRef that exists now: the uid was that of a deleted one. */
export const clearClaimUid = (name: string): string =>
  kubectl(undefined, 'patch', 'pv', name, '--type', 'json', '-p', JSON.stringify([{ op: 'remove', path: '/spec/claimRef/uid' }]));

export const moorWhy = (namespace: string | undefined, target: string): string =>
  ['moor why', target, ...(namespace === undefined ? [] : ['-n', word(namespace)])].join(' ');
