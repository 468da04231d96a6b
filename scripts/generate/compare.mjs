// Run by hand, after `npm run build`: compares the OpenAPI document made from the schema with one of a running Kubernetes
// (without texts), and prints every difference: definitions, and the paths of the kinds served.
//
//     node scripts/generate/compare.mjs REFERENCE.json

import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { allKinds } from '../../dist/api/kinds/index.js';
import { openApiV2 } from '../../dist/api/openapi/index.js';
import { discover } from '../../dist/apiserver/discovery/resources.js';

const reference = JSON.parse(readFileSync(argv[2], 'utf8'));
const made = openApiV2(discover(allKinds), '');
let differences = 0;

for (const [name, definition] of Object.entries(made.definitions))
  compare(`definition ${name}`, withoutKinds(definition), withoutKinds(reference.definitions[name]));
for (const [path, { parameters: _, ...methods }] of Object.entries(made.paths)) {
  for (const [method, operation] of Object.entries(methods)) compare(`${method} ${path}`, essence(operation), essence(reference.paths[path]?.[method]));
}
console.log(`${Object.keys(made.definitions).length} definitions, ${Object.keys(made.paths).length} paths, ${differences} differences`);
exit(differences === 0 ? 0 : 1);

/** Kinds that exist in every group are listed with the groups served. */
function withoutKinds(definition) {
  if (definition === undefined) return undefined;
  const { 'x-kubernetes-group-version-kind': _, ...rest } = definition;
  return { ...rest, ...(rest.required === undefined ? {} : { required: [...rest.required].sort(byCodeUnits) }) };
}

/** The order in which Go sorts, too. */
function byCodeUnits(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

function essence(operation) {
  if (operation === undefined) return undefined;
  const { operationId, 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind } = operation;
  return { operationId, action, kind };
}

function compare(what, ours, theirs) {
  if (sortedText(ours) === sortedText(theirs)) return;
  differences++;
  console.log(`${what}\n  ours    ${sortedText(ours)}\n  theirs  ${sortedText(theirs)}`);
}

function sortedText(value) {
  return JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
