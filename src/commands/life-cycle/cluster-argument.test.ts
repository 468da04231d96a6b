import { expect, test } from 'vitest';
import { missingText } from './cluster-argument.ts';

test.each([
  [undefined, [], 'there is no cluster yet: "moor up" starts one, "moor list" shows all'],
  [undefined, ['shop'], 'there is no cluster without a name of its own: give a name, such as "shop"; "moor list" shows all'],
  ['shp', ['shop'], 'there is no cluster "shp"; did you mean "shop"? "moor list" shows all'],
  ['nope', [], 'there is no cluster "nope": "moor list" shows all'],
])('%s among %j', (name, names, text) => {
  expect(missingText(name, names)).toBe(text);
});
