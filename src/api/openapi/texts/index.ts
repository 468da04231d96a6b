/**
 * The texts of `kubectl explain`. They are ours, and short: storage in full, of other kinds the most important fields.
 * A new kind gets its text in one of the files beside; the test finds texts of types and fields that do not exist.
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

/** For every object and list without its own text. */
const inAllKinds: readonly (readonly [string, string])[] = [
  ['apiVersion', 'The group and version that this object is written in.'],
  ['kind', 'What this object is.'],
  ['metadata', 'What all objects, or all lists, say about themselves.'],
  ['items', 'The objects.'],
];
const none: TypeTexts = { type: undefined, fields: new Map() };

/** `isKind`: the type has kind and apiVersion. */
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
