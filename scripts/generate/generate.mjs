// npm run generate: writes src/api/generated/types.ts and schema.ts from facts.json.
// With --check it writes nothing and fails if the files on disk are not what it would write.

import { readFileSync, writeFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { roots } from './roots.mjs';

const facts = JSON.parse(readFileSync(new URL('facts.json', import.meta.url), 'utf8'));
const target = new URL('../../src/api/generated/', import.meta.url);
const header = '// Written by scripts/generate/generate.mjs from facts.json. Do not edit: change the generator, then `npm run generate`.\n\n';

/** The wire types of Go's scalars and of the types with an encoding of their own, in TypeScript. */
const scalars = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  any: 'unknown',
  UID: 'string',
  NodeName: 'string',
  Quantity: 'string',
  Time: 'string',
  MicroTime: 'string',
  IntOrString: 'number | string',
  RawExtension: 'unknown',
  FieldsV1: 'Record<string, unknown>',
};

/** Types of one package may carry its group before their name, so that they differ from those of another. */
const isKnown = (from, kind) => Object.entries(facts.types).some(([name, type]) => type.package === from && name.endsWith(kind));
const missing = Object.entries(roots).flatMap(([from, kinds]) => kinds.filter((kind) => !isKnown(from, kind)));
if (missing.length > 0) {
  console.error(`facts.json has nothing about ${missing.join(', ')}: run scripts/generate/extract.mjs first, its head says how`);
  exit(1);
}

const outputs = { 'types.ts': header + printTypes(), 'schema.ts': header + printSchema() };
for (const [name, text] of Object.entries(outputs)) {
  const file = new URL(name, target);
  if (!argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`src/api/generated/${name} is not what the facts say; run npm run generate`);
    exit(1);
  }
}

function printTypes() {
  const intro =
    '/**\n * Kubernetes objects in decoded form: a field that is always printed is required here, every other one is optional.\n' +
    ' * Quantities, times and bytes (base64) are the strings of the wire, the first two in canonical form.\n */\n\n';
  return intro + Object.entries(facts.types).map(printInterface).join('\n');
}

function printInterface([name, { fields }]) {
  const bases = fields.filter((field) => field.inline).map((field) => field.type);
  const members = fields.filter((field) => !field.inline).map((field) => printMember(name, field));
  const head = `export interface ${name}${bases.length > 0 ? ` extends ${bases.join(', ')}` : ''} `;
  return members.length === 0 ? `${head}{}\n` : `${head}{\n${members.join('')}}\n`;
}

function printMember(owner, field) {
  const type = typeScriptType(field.type.replace(/^\*/, ''));
  // Every decoded object knows its kind, also where Kubernetes' own struct lets it be empty.
  const always = owner === 'TypeMeta' || alwaysPrinted(field);
  const nullable = always && canBeNull(field) && !(field.name === 'items' && owner.endsWith('List'));
  return `  ${field.name}${always ? '' : '?'}: ${type}${nullable ? ' | null' : ''};\n`;
}

/** Whether Go prints the field whatever its value: omitempty never drops a struct. */
function alwaysPrinted(field) {
  if (field.omitzero) return false;
  return !field.omitempty || isStructByValue(field.type);
}

function isStructByValue(type) {
  return type in facts.types || ['Time', 'MicroTime', 'Quantity', 'IntOrString', 'RawExtension', 'FieldsV1'].includes(type);
}

/** Whether Go prints null where the field is not set. */
function canBeNull({ type }) {
  return /^(\*|\[\]|map\[)/.test(underlying(type)) || ['Time', 'MicroTime', 'RawExtension'].includes(type);
}

function underlying(type) {
  return facts.named[type]?.type ?? type;
}

function typeScriptType(type) {
  if (type === '[]byte') return 'string';
  const pointer = /^\*(.*)$/.exec(type);
  if (pointer) return typeScriptType(pointer[1]);
  const list = /^\[\](.*)$/.exec(type);
  if (list) return `${bracketed(typeScriptType(list[1]))}[]`;
  const map = /^map\[\w+\](.*)$/.exec(type);
  if (map) return `Record<string, ${typeScriptType(map[1])}>`;
  if (type in facts.named) return typeScriptType(facts.named[type].type);
  return scalars[type] ?? type;
}

function bracketed(type) {
  return type.includes('|') ? `(${type})` : type;
}

function printSchema() {
  const intro =
    '/**\n * The schema as text, a line per field, so that loading costs next to nothing: a type is parsed when it is first used\n' +
    ' * (src/api/schema/type-schema.ts). A line: JSON name, type, protobuf number, then flags.\n */\n';
  const types = Object.entries(facts.types).map(
    ([name, type]) => `  ${name}: \`${[printTypeLine(name, type), ...type.fields.map(printFieldLine)].join('\n')}\`,\n`,
  );
  const named = Object.entries(facts.named).map(([name, { go, type, enum: values }]) => `  ${name}: ${printNamed(go, type, values)},\n`);
  return (
    `${intro}export const typeLines: Readonly<Record<string, string>> = {\n${types.join('')}};\n\n` +
    '/** Named types that are no structs: their name in Go, what they are, and their values if they are enumerations. */\n' +
    'export const namedTypes: Readonly<Record<string, { readonly go: string; readonly type: string; readonly values?: readonly string[] }>> = {\n' +
    `${named.join('')}};\n`
  );
}

function printTypeLine(name, { package: from, goName, atomic, union }) {
  return [from, goName ?? name, ...(atomic ? ['atomic'] : []), ...(union ? ['union'] : [])].join(' ');
}

function printFieldLine(field) {
  const flags = ['inline', 'omitempty', 'omitzero', 'optional', 'required', 'discriminator'].filter((flag) => field[flag]);
  const values = [
    ['patch', field.patchStrategy],
    ['mergeKey', field.patchMergeKey],
    ['list', field.listType],
    ['keys', field.listMapKeys?.join(',')],
    ['map', field.mapType],
    ['default', JSON.stringify(field.default)],
  ];
  return [field.name || '-', field.type, field.number ?? 0, ...flags, ...values.filter(([, value]) => value !== undefined).map((pair) => pair.join('='))].join(
    ' ',
  );
}

function printNamed(go, type, values) {
  const quote = (text) => `'${text}'`;
  return `{ go: ${quote(go)}, type: ${quote(type)}${values === undefined ? '' : `, values: [${values.map(quote).join(', ')}]`} }`;
}
