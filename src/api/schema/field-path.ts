import type { JsonPath } from '../json.ts';
import { type TypeExpression, typeSchema } from './type-schema.ts';

/** 'spec.containers[0].name' */
export function pathText(path: JsonPath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

/** Whether the schema decodes what is at a path: not if the way there leads through an unknown field or opaque data. */
export function isDecodedAt(type: string, path: JsonPath): boolean {
  let here: TypeExpression | undefined = { type: 'struct', name: type, pointer: false, go: '' };
  for (const segment of path) {
    here = here === undefined ? undefined : step(here, segment);
    if (here === undefined) return false;
  }
  return true;
}

function step(type: TypeExpression, segment: string | number): TypeExpression | undefined {
  switch (type.type) {
    case 'struct':
      return typeSchema(type.name).byName.get(String(segment))?.type;
    case 'list':
    case 'map':
      return type.of;
    default:
      return undefined;
  }
}
