// Run by hand, when Kubernetes has a new version: reads the Go sources of k8s.io/api and k8s.io/apimachinery and
// writes facts.json. Only structure is taken: names, types, tags and markers, no texts.
//
//     node scripts/generate/extract.mjs DIRECTORY-THAT-HOLDS-k8s.io && npm run format && npm run generate

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, exit } from 'node:process';
import { readFields, readGoPackage } from './go-source.mjs';
import { roots, specials } from './roots.mjs';

const source = argv[2];
if (source === undefined) {
  console.error('usage: node scripts/generate/extract.mjs DIRECTORY-THAT-HOLDS-k8s.io');
  exit(2);
}

/** Where two packages have a type of the same name, the one named first here keeps it; the other's gets its group as prefix. */
const packages = Object.keys(roots);
const scalars = new Set(['string', 'bool', 'int32', 'int64', 'byte', 'any']);
const sources = new Map(packages.map((name) => [name, readGoPackage(join(source, name))]));
/** 'k8s.io/api/events/v1.Event' → 'EventsEvent'; empty while the types that are reached are still being found. */
let shortNames = new Map();
/** @type {Map<string, object>} */
const types = new Map();
/** @type {Map<string, object>} */
const named = new Map();

visitRoots();
shortNames = nameTypes([...types.keys(), ...named.keys()]);
types.clear();
named.clear();
visitRoots();
writeFileSync(new URL('facts.json', import.meta.url), print());

function visitRoots() {
  for (const [name, kinds] of Object.entries(roots)) for (const kind of kinds) visit(name, kind);
}

/** @param {string[]} reached */
function nameTypes(reached) {
  const names = new Map();
  const taken = new Set();
  for (const name of packages) {
    for (const full of reached.filter((type) => type.startsWith(`${name}.`)).sort()) {
      const type = full.slice(name.length + 1);
      const group = name.split('/').at(-2) ?? '';
      const unique = taken.has(type) ? group[0].toUpperCase() + group.slice(1) + type : type;
      taken.add(unique);
      names.set(full, unique);
    }
  }
  return names;
}

function visit(packageName, typeName) {
  const full = `${packageName}.${typeName}`;
  const unique = shortNames.get(full) ?? full;
  if (types.has(unique) || named.has(unique)) return unique;
  const found = sources.get(packageName);
  const struct = found.structs.get(typeName);
  if (struct !== undefined) visitStruct(unique, { packageName, typeName, struct });
  else if (found.named.has(typeName)) visitNamed(unique, { packageName, typeName, declaration: found.named.get(typeName) });
  else throw new Error(`no type ${full}`);
  return unique;
}

function visitStruct(unique, { packageName, typeName, struct }) {
  const facts = {
    package: packageName,
    ...(unique === typeName ? {} : { goName: typeName }),
    ...(hasMarker(struct.markers, 'structType=atomic') || hasMarker(struct.markers, 'mapType=atomic') ? { atomic: true } : {}),
    ...(hasMarker(struct.markers, 'union') ? { union: true } : {}),
    fields: [],
  };
  types.set(unique, facts);
  facts.fields = readFields(struct.fields)
    .filter((field) => field.tags.json !== '-')
    .map((field) => fieldFacts(field, packageName));
}

function visitNamed(unique, { packageName, typeName, declaration }) {
  // An alias, or a struct under another name (core/v1.List), is what it stands for.
  const facts = { go: `${packageName.split('/').at(-1)}.${typeName}`, type: '' };
  named.set(unique, facts);
  facts.type = resolve(declaration.underlying, packageName);
  if (!hasMarker(declaration.markers, 'enum')) return;
  const values = sources.get(packageName).constants.filter((constant) => constant.type === typeName);
  facts.enum = [...new Set(values.map((constant) => constantValue(constant, packageName)))].sort((a, b) => (a < b ? -1 : 1));
}

/** A constant may be another package's: AddressTypeIPv4 = AddressType(v1.IPv4Protocol). */
function constantValue({ value, from }, packageName) {
  if (from === undefined) return value;
  const [qualifier, name] = from.split('.');
  const other = sources.get(sources.get(packageName).imports.get(qualifier));
  return other.constants.find((constant) => constant.name === name).value;
}

/** Go's type expression with every name replaced by the schema's: '*metav1.Time' → '*Time'. */
function resolve(expression, packageName) {
  const pointer = /^(\*|\[\])(.*)$/.exec(expression);
  if (pointer) return pointer[1] + resolve(pointer[2], packageName);
  const map = /^map\[([\w.]+)\](.*)$/.exec(expression);
  if (map) return `map[${resolve(map[1], packageName)}]${resolve(map[2], packageName)}`;
  if (expression === 'interface{}') return 'any';
  if (scalars.has(expression)) return expression;
  const [qualifier, name] = expression.includes('.') ? expression.split('.') : [undefined, expression];
  const from = qualifier === undefined ? packageName : sources.get(packageName).imports.get(qualifier);
  const special = specials[`${from}.${name}`];
  if (special !== undefined) return special;
  if (!sources.has(from)) throw new Error(`${packageName} uses ${expression} of ${from}, which is not read`);
  return visit(from, name);
}

function fieldFacts(field, packageName) {
  const [name, ...options] = (field.tags.json ?? '').split(',');
  const [, number] = (field.tags.protobuf ?? '').split(',');
  const value = (key) => field.markers.filter((marker) => marker.startsWith(`+${key}=`)).map((marker) => marker.slice(key.length + 2));
  const facts = {
    name,
    type: resolve(field.type, packageName),
    inline: options.includes('inline') || (field.embedded && name === '') || undefined,
    omitempty: options.includes('omitempty') || undefined,
    omitzero: options.includes('omitzero') || undefined,
    optional: hasMarker(field.markers, 'optional') || undefined,
    required: hasMarker(field.markers, 'required') || undefined,
    discriminator: hasMarker(field.markers, 'unionDiscriminator') || undefined,
    default: defaultValue(value('default')[0], packageName),
    patchStrategy: field.tags.patchStrategy,
    patchMergeKey: field.tags.patchMergeKey,
    listType: value('listType')[0],
    listMapKeys: value('listMapKey').length > 0 ? value('listMapKey') : undefined,
    mapType: value('mapType')[0] ?? value('structType')[0],
    number: number === undefined || number === '' ? undefined : Number(number),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined));
}

/** A default is JSON, or names a constant: 'ref(AzureSharedBlobDisk)'. */
function defaultValue(text, packageName) {
  const reference = /^ref\((\w+)\)$/.exec(text ?? '');
  if (reference === null) return text === undefined ? undefined : JSON.parse(text);
  return sources.get(packageName).constants.find((constant) => constant.name === reference[1]).value;
}

function hasMarker(markers, name) {
  return markers.some((marker) => marker === `+${name}` || marker.startsWith(`+${name}=`) === true);
}

/** One line per field, so that a new version of Kubernetes reads well as a diff. */
function print() {
  const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  const type = ([name, { fields, ...rest }]) =>
    `    ${JSON.stringify(name)}: {\n${Object.entries(rest)
      .map(([key, fact]) => `      ${JSON.stringify(key)}: ${JSON.stringify(fact)},\n`)
      .join('')}      "fields": [\n${fields.map((field) => `        ${JSON.stringify(field)}`).join(',\n')}\n      ]\n    }`;
  const name = ([key, facts]) => `    ${JSON.stringify(key)}: ${JSON.stringify(facts)}`;
  return `{\n  "types": {\n${sorted(types).map(type).join(',\n')}\n  },\n  "named": {\n${sorted(named).map(name).join(',\n')}\n  }\n}\n`;
}
