import type { Kind } from '../../../api/kind.ts';
import { kubernetesKinds } from '../../../api/kinds/index.ts';
import { nearestName } from '../../../api/nearest-name.ts';
import { nameOf } from '../../../why/timeline/object-name.ts';
import { PhraseError } from './phrase.ts';

/** An object, named as for kubectl: 'pvc/data -n shop'. */
export interface Reference {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

const served = kubernetesKinds.filter(({ verbs, storage }) => verbs.includes('get') && storage.convert === undefined);
const spellings = new Map([
  ...served.flatMap((kind) => [kind.singular, kind.plural, ...kind.shortNames].map((word): [string, Kind] => [word, kind])),
  ...served.flatMap((kind): [string, Kind][] => (kind.kind === 'VolumeAttachment' ? [['va', kind]] : [])),
]);

/** @throws PhraseError */
export function kindOf(word: string): Kind {
  const kind = spellings.get(word.toLowerCase());
  if (kind !== undefined) return kind;
  const near = nearestName(word.toLowerCase(), spellings.keys());
  throw new PhraseError(`there is no kind "${word}"${near === undefined ? '; one is pod, pvc, pv, statefulset' : `; did you mean "${near}"?`}`);
}

/** @throws PhraseError */
export function parseReference(text: string): Reference {
  const [written = '', namespace = 'default'] = text.split(' -n ');
  const [word = '', name = '', ...rest] = written.split('/');
  if (name === '' || rest.length > 0) throw new PhraseError(`"${written}" names no object; one is "pod/web-0" or "pvc/data -n shop"`);
  const kind = kindOf(word);
  return { kind, namespace: kind.namespaced ? namespace : '', name };
}

export const referenceText = ({ kind, namespace, name }: Reference): string => nameOf({ kind: kind.kind, metadata: { name, namespace } });
