/**
 * What `kubectl explain` says. The texts are ours, and short: about storage in full, about the rest what everybody asks first.
 * A new kind gets its line in one of the files beside; the test says if a text speaks of what does not exist.
 */
import { admissionTexts } from './admission.ts';
import { objectTexts } from './objects.ts';
import { storageTexts } from './storage.ts';
import { volumeTexts } from './volumes.ts';

interface TypeTexts {
  readonly type: string | undefined;
  /** By the field's name. */
  readonly fields: ReadonlyMap<string, string>;
}

export const texts: Readonly<Record<string, string>> = { ...objectTexts, ...admissionTexts, ...volumeTexts, ...storageTexts };

/** In every object and list, unless it has words of its own. */
const inAllKinds: readonly (readonly [string, string])[] = [
  ['apiVersion', 'The group and version that this object is written in.'],
  ['kind', 'What this object is.'],
  ['metadata', 'What all objects, or all lists, say about themselves.'],
  ['items', 'The objects.'],
];
const none: TypeTexts = { type: undefined, fields: new Map() };

/** `isKind`: the type stands on its own, with a kind and a version. */
export function textsOf(type: string, isKind: boolean): TypeTexts {
  const text = texts[type];
  if (text === undefined) return isKind ? { ...none, fields: new Map(inAllKinds) } : none;
  const [first, ...lines] = text.split('\n');
  const own = lines.map((line): [string, string] => {
    const end = line.indexOf(' ');
    return [line.slice(0, end), line.slice(end + 1)];
  });
  return { type: first, fields: new Map([...(isKind ? inAllKinds : []), ...own]) };
}
