// Reads the Go files that declare Kubernetes' API types: structs with their tags and markers, named types, constants.
// A line-by-line reader is enough, because gofmt fixes the layout of these files.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ name: string, type: string, tags: Record<string, string>, markers: string[], embedded: boolean }} GoField
 * @typedef {{ fields: string[], markers: string[] }} GoStruct the fields as lines: most structs are never needed
 * @typedef {{ underlying: string, markers: string[] }} GoNamed
 * @typedef {{ structs: Map<string, GoStruct>, named: Map<string, GoNamed>, constants: { name: string, type: string, value: string, from?: string }[], imports: Map<string, string> }} GoPackage
 */

/**
 * @param {string} directory
 * @returns {GoPackage}
 */
export function readGoPackage(directory) {
  /** @type {GoPackage} */
  const found = { structs: new Map(), named: new Map(), constants: [], imports: new Map() };
  for (const file of readdirSync(directory).sort()) {
    if (!file.endsWith('.go') || file.endsWith('_test.go') || file.startsWith('zz_generated') || file.startsWith('generated.')) continue;
    const text = readFileSync(join(directory, file), 'utf8').replace(/^\s*\/\*[\s\S]*?\*\/$/gm, '');
    readGoFile(text.split('\n'), found);
  }
  return found;
}

/**
 * @param {string[]} lines
 * @param {GoPackage} found
 */
function readGoFile(lines, found) {
  /** @type {string[]} */
  let markers = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const marker = /^\/\/ ?(\+.*)$/.exec(line);
    const struct = /^type (\w+) struct \{$/.exec(line);
    const named = /^type (\w+) =? ?([\w.[\]*]+)$/.exec(line);
    const imported = /^\t(\w+ )?"([\w./-]+)"$/.exec(line);
    const constant = /^\t(\w+)\s+(\w+)\s+= "(.*)"/.exec(line) ?? /^\t(\w+)\s+= (\w+)\("(.*)"\)/.exec(line);
    const converted = /^\t(\w+)\s+= (\w+)\((\w+\.\w+)\)/.exec(line);
    if (marker) markers.push(marker[1].trim());
    else if (struct) {
      const end = lines.indexOf('}', i);
      found.structs.set(struct[1], { fields: lines.slice(i + 1, end), markers });
      markers = [];
      i = end;
    } else if (named) {
      found.named.set(named[1], { underlying: named[2], markers });
      markers = [];
    } else if (imported) found.imports.set(imported[1]?.trim() ?? imported[2].slice(imported[2].lastIndexOf('/') + 1), imported[2]);
    else if (constant) found.constants.push({ name: constant[1], type: constant[2], value: constant[3] });
    else if (converted) found.constants.push({ name: converted[1], type: converted[2], value: '', from: converted[3] });
    else if (line !== '' && !line.startsWith('//')) markers = [];
  }
}

/**
 * @param {string[]} lines the inside of a struct
 * @returns {GoField[]}
 */
export function readFields(lines) {
  /** @type {GoField[]} */
  const fields = [];
  /** @type {string[]} */
  let markers = [];
  for (const line of lines) {
    const marker = /^\t\/\/ ?(\+.*)$/.exec(line);
    const field = /^\t(\w+)\s+([^\s`]+)\s*`(.*)`/.exec(line);
    const embedded = /^\t([\w.]+)\s*`(.*)`/.exec(line);
    if (marker) markers.push(marker[1].trim());
    else if (field) {
      fields.push({ name: field[1], type: field[2], tags: readTags(field[3]), markers, embedded: false });
      markers = [];
    } else if (embedded) {
      fields.push({ name: embedded[1].replace(/^.*\./, ''), type: embedded[1], tags: readTags(embedded[2]), markers, embedded: true });
      markers = [];
    } else if (!/^\s*(\/\/.*)?$/.test(line)) throw new Error(`cannot read the field ${line}`);
  }
  return fields;
}

/**
 * @param {string} text json:"name,omitempty" protobuf:"bytes,1,opt,name=name"
 * @returns {Record<string, string>}
 */
function readTags(text) {
  return Object.fromEntries([...text.matchAll(/(\w+):"([^"]*)"/g)].map((match) => [match[1], match[2]]));
}
