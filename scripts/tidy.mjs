#!/usr/bin/env node
// The architecture as a check: who may import whom, where time and randomness may come from, how long a file may be.
// docs/ARCHITECTURE.md explains the table. Exit code 1 and a list of lines if anything is out of place.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Layer → what it may import besides itself. `folder` or `folder/file`; '*': anything; 'decisions': of a controller's folder
 * what is as pure as its decision is: files that load nothing but api, domain and each other.
 */
const layers = {
  api: [],
  domain: ['api'],
  world: [],
  store: ['world'],
  streams: ['api', 'world'],
  server: ['api', 'domain', 'store/contract', 'streams', 'world'],
  machinery: ['api', 'world'],
  controllers: ['api', 'domain', 'machinery', 'drivers/contract', 'world'],
  workloads: ['api', 'domain', 'machinery', 'world'],
  scheduler: ['api', 'domain', 'machinery', 'world'],
  autoscaler: ['api', 'domain', 'machinery', 'world'],
  node: ['api', 'domain', 'machinery', 'drivers/contract', 'streams', 'world'],
  drivers: ['api', 'domain', 'world'],
  cloud: ['domain', 'world'],
  why: ['api', 'domain', 'decisions', 'scheduler'],
  cli: ['api', 'domain', 'machinery/client', 'why'],
  dashboard: ['api', 'domain', 'machinery/client', 'why'],
  sim: ['*'],
  main: ['*'],
};
/** Folders whose children never import each other: a controller never imports another controller. */
const strangers = ['controllers', 'workloads'];
/** But for these, which are no controllers: what several of their neighbours are made of. */
const sharedByNeighbours = ['workloads/pods'];
/** The only layers that may touch the real world; and files elsewhere whose very task is I/O. */
const realWorld = ['main', 'sim'];
const ioFiles = [
  /^server\/http\//,
  /^node\/sandbox\//,
  /^node\/streams\//,
  /^node\/running\/checks/,
  /^node\/names\/server/,
  /^node\/endpoint\//,
  /^server\/streams\//,
  /^streams\//,
  /^server\/auth\//,
  /^server\/at-rest\//,
  /^machinery\/http-transport/,
  /^cli\//,
];
/** Modules of Node.js that compute or load code and touch nothing else. */
const harmless = ['node:zlib', 'node:module', 'node:stream'];
const impure =
  /\b(Date\.now\(|new Date\(\)|Math\.random\(|(?<!ocket\.)setTimeout\(|setInterval\(|setImmediate\(|performance\.now\(|process\.(env|hrtime|exit))/;
const maxLines = 400;

const problems = [];
let files = 0;
let imports = 0;

for (const file of sourceFiles(path.join(root, 'src'))) {
  files++;
  const name = path.relative(path.join(root, 'src'), file).replaceAll('\\', '/');
  const text = readFileSync(file, 'utf8');
  const isTest = name.endsWith('.test.ts');
  if (!isTest) checkImports(name, text);
  if (!isTest) checkPurity(name, text);
  checkLength(name, text);
}

function checkImports(name, text) {
  const layer = name.split('/')[0];
  const allowed = layers[layer];
  if (!allowed) return void problems.push(`${name}: src/${layer} is in no layer`);
  for (const [, target] of text.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)) {
    imports++;
    const pure = /(^|\/)(decide|diff)\.ts$/.test(name);
    if (!target.startsWith('.')) {
      if (pure) problems.push(`${name}: a decision imports '${target}'`);
      if (target.startsWith('node:') && !harmless.includes(target) && !mayDoIo(name, layer))
        problems.push(`${name}: '${target}' outside the layers that touch the real world`);
      continue;
    }
    const to = path.posix.normalize(path.posix.join(path.posix.dirname(name), target));
    const [toLayer, toChild] = to.split('/');
    if (toLayer === layer) {
      const isShared = sharedByNeighbours.includes(`${toLayer}/${toChild}`);
      if (strangers.includes(layer) && name.split('/')[1] !== toChild && !isShared) problems.push(`${name}: imports its neighbour ${to}`);
      continue;
    }
    const ok =
      allowed.includes('*') || allowed.some((a) => to === `${a}.ts` || to.startsWith(`${a}/`)) || (allowed.includes('decisions') && isPartOfDecision(to));
    if (!ok) problems.push(`${name}: src/${layer} may not import ${to}`);
    if (pure && !['api', 'domain'].includes(toLayer)) problems.push(`${name}: a decision imports ${to}`);
  }
}

/** `controllers/x/decide.ts`, or a file beside one that loads nothing but api, domain and such files itself. Types load nothing. */
function isPartOfDecision(name) {
  const [layer, folder, file] = name.split('/');
  if (layer !== 'controllers' || file === undefined || !existsSync(path.join(root, 'src', layer, folder, 'decide.ts'))) return false;
  const text = readFileSync(path.join(root, 'src', name), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?\bfrom\s+'([^']+)'|\bimport\s*\(?\s*'([^']+)'/gm)].every(([, from, bare]) => {
    const target = from ?? bare;
    const to = path.posix.normalize(path.posix.join(path.posix.dirname(name), target));
    return target.startsWith('.') && (to.startsWith('api/') || to.startsWith('domain/') || (to.startsWith(`${layer}/${folder}/`) && isPartOfDecision(to)));
  });
}

function mayDoIo(name, layer) {
  return realWorld.includes(layer) || ioFiles.some((r) => r.test(name));
}

function checkPurity(name, text) {
  const layer = name.split('/')[0];
  if (realWorld.includes(layer)) return;
  text.split('\n').forEach((line, i) => {
    const code = line.replace(/\/\/.*|^\s*\*.*/, '');
    const found = impure.exec(code);
    if (found) problems.push(`${name}:${i + 1}: ${found[0]} (time, randomness and timers come from World)`);
    if (/(^|\/)(decide|diff)\.ts$/.test(name) && /\bawait\b/.test(code)) problems.push(`${name}:${i + 1}: a decision awaits`);
  });
}

function checkLength(name, text) {
  if (name.includes('/generated/')) return;
  const lines = text.split('\n').length;
  if (lines > maxLines + 1) problems.push(`${name}: ${lines} lines (at most ${maxLines}: split it by meaning)`);
}

function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* sourceFiles(full);
    else if (entry.name.endsWith('.ts')) yield full;
  }
}

if (files === 0 || imports === 0) problems.push('nothing was checked');
for (const p of problems) console.error(p);
console.log(`tidy: ${files} files, ${imports} imports, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
