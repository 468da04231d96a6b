import type { Kind } from '../../../api/kind.ts';
import { scenarioKinds } from './scenario-kinds.ts';
import { nearestName } from '../../../api/nearest-name.ts';
import { nameOf } from '../../../why/timeline/object-name.ts';
import { PhraseError, slot, type Slots } from './phrase.ts';

/** An object, named as for kubectl: 'pvc/data -n shop'. */
export interface Reference {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** Kinds of definitions are converted by their own rules, which have one version here. */
const served = scenarioKinds.filter(({ verbs, storage, group }) => verbs.includes('get') && (storage.convert === undefined || group.startsWith('karpenter.')));
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

const nodeOf = 'the node of ';

/** 'node-1', or 'the node of pod/db-0'. @throws PhraseError */
export const nodeIn = (slots: Slots): string => {
  const written = slot(slots, 'node');
  if (written.startsWith(nodeOf)) parseReference(written.slice(nodeOf.length));
  return written.replace(/^node\//, '');
};

/** The pod whose node is meant; undefined: the node is named directly. */
export const podOfNode = (written: string): Reference | undefined => (written.startsWith(nodeOf) ? parseReference(written.slice(nodeOf.length)) : undefined);
