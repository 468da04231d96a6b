#!/usr/bin/env node
// The architecture as a check: which folder imports which, where time and randomness come from, how large files and folders are, where unit
// tests lie, and which words stay out. docs/ARCHITECTURE.md explains the layers, docs/GLOSSARY.md the words.
//
//   node scripts/tidy.mjs             everything; exit code 1 and a list of problems
//   node scripts/tidy.mjs PREFIX …    only problems of paths that begin so: src/node/ test/node/
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Layer → what it may import besides itself: `folder` or `folder/file`. 'type folder': its types only. '*': every layer that is not `above` it.
 * 'decisions': of a storage controller the files that load nothing but api, storage/volumes and each other.
 */
const layers = {
  api: [],
  world: [],
  archive: [],
  store: ['grpc', 'world'],
  grpc: ['world'],
  streams: ['api', 'world'],
  client: ['api', 'world'],
  apiserver: ['api', 'store/contract', 'streams', 'world'],
  drivers: ['api', 'aws', 'grpc', 'world'],
  'csi-test': ['grpc', 'world'],
  aws: [],
  cloud: ['aws', 'world'],
  storage: ['api', 'client', 'drivers/contract', 'world'],
  controllers: ['api', 'storage/volumes', 'client', 'world'],
  scheduler: ['api', 'storage/volumes', 'client', 'world'],
  autoscaler: ['api', 'storage/volumes', 'scheduler', 'client', 'world'],
  node: ['api', 'storage/volumes', 'client', 'drivers/contract', 'grpc', 'streams', 'archive', 'world'],
  why: ['api', 'storage/volumes', 'client', 'decisions', 'scheduler', 'autoscaler/requirements', 'autoscaler/provisioning/pod-alternatives'],
  dashboard: ['api', 'storage/volumes', 'client', 'why', 'world', 'type apiserver'],
  // Drivers and the sandbox runtime declare what they need of the machine.
  host: ['world', 'archive', 'type drivers', 'type node'],
  cluster: ['*'],
  sim: ['*'],
  testing: ['*'],
  commands: ['*'],
};
const above = { cluster: ['sim', 'testing', 'commands'], sim: ['testing', 'commands'], testing: ['commands'] };
/** What unit tests may import besides: virtual and real clocks and disks, and the samples and harnesses in test/. */
const testImports = ['sim', 'host'];

/** Folders whose children never import each other, except the children named: a controller never imports another controller. */
const strangers = { storage: ['volumes'], 'controllers/workloads': [], 'controllers/cluster': [] };

/** Layers that may touch the real world, and the files elsewhere whose task is I/O. */
const realWorld = ['host', 'cluster', 'sim', 'commands'];
const ioFiles = [
  /^apiserver\/(http|authentication|certificates|encryption|streams)\//,
  /^apiserver\/(exchange|discovery\/hash|metrics\/process-metrics)\.ts$/,
  /^archive\/decompress/,
  /^aws\/signature-v4/,
  /^client\/http-transport/,
  /^cloud\/http-server/,
  /^dashboard\/server\//,
  /^grpc\/http2-/,
  /^node\/(runtimes\/sandbox|images|kubelet-api|streams|dns|pod-worker\/probes)\//,
  /^streams\//,
];
/** Where the page has its World. */
const browserWorld = 'dashboard/page/api/browser-world.ts';
/** Modules of Node.js that compute or load code and touch nothing else. */
const harmless = ['node:zlib', 'node:module', 'node:stream'];
const impure =
  /\b(Date\.now\(|new Date\(\)|Math\.random\(|(?<!ocket\.)setTimeout\(|setInterval\(|setImmediate\(|performance\.now\(|process\.(env|hrtime|exit))/;

/** A decision is pure: it and the files of its layer that it loads import nothing else but these. Types load nothing. */
const isDecision = (name) => /(^|\/)(decide|reconcile)\.ts$/.test(name);
const pureFolders = ['api/', 'storage/volumes/', 'client/decision.ts'];

const maxLines = 400;
const maxFiles = 30;

/** Words that name no one in particular. The subject of a sentence is a noun of the domain: the binder, a client, the caller. */
const vagueWords = /\b(somebody|whoever|nobody|everybody|anybody)\b/i;
/** Metaphors that were names once. docs/GLOSSARY.md has Kubernetes' word for each. */
const retiredNames = new Set(
  'bell bells crew desk keeper patiently portions sight sights situation surroundings telling tellings trail whereabouts'.split(' '),
);
/** As the last word of a type only. */
const retiredTypes = /^([A-Z]\w*)?(Seen|Told|Around)$/;

const problems = [];
const report = (file, problem) => void problems.push(`${file}: ${problem}`);

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(root, file)));
const textOf = (file) => readFileSync(path.join(root, file), 'utf8');
/** Name below src/ → text. */
const sources = new Map(tracked.filter((file) => /^src\/.*\.tsx?$/.test(file)).map((file) => [file.slice(4), textOf(file)]));
const isTest = (name) => name.endsWith('.test.ts');
const isGenerated = (name) => name.includes('/generated/');
const layerOf = (name) => name.split('/')[0];
/** Name → names below src/ that it imports, types included. */
const imports = new Map();

for (const [name, text] of sources) {
  if (isTest(name)) checkTest(name, text);
  else {
    checkImports(name, text);
    checkPurity(name, text);
  }
  checkLength(name, text);
}
checkFileCycles();
checkFolderCycles();
checkFolders();
checkWords();
checkDocuments();

/** Each import and re-export: where from, and whether only types come over. */
function specifiers(text) {
  return Array.from(text.matchAll(/(?:\b(import|export)\s+(type\s)?[^;'"()]*?\bfrom\s*|\bimport\s*\(?\s*)'([^']+)'/g), ([, , type, target]) => ({
    target,
    isType: type !== undefined,
  }));
}

function resolve(name, target) {
  return path.posix.normalize(path.posix.join(path.posix.dirname(name), target));
}

function checkImports(name, text) {
  const layer = layerOf(name);
  if (layers[layer] === undefined) return report(`src/${name}`, `src/${layer} is in no layer`);
  const own = [];
  imports.set(name, own);
  for (const { target, isType } of specifiers(text)) {
    if (target.startsWith('.')) {
      const to = resolve(name, target);
      own.push(to);
      if (!mayImport(name, to, isType)) report(`src/${name}`, `may not import ${to}`);
    } else if (target.startsWith('node:') && !harmless.includes(target) && !mayDoIo(name)) {
      report(`src/${name}`, `'${target}' outside the layers that touch the real world`);
    }
  }
  if (isDecision(name)) for (const found of impureImports(name)) report(`src/${name}`, `a decision loads ${found}`);
}

function mayImport(name, to, isType) {
  const [from, into] = [layerOf(name), layerOf(to)];
  if (from === into) return !areStrangers(name, to);
  const allowed = layers[from];
  if (allowed.includes('*')) return !(above[from] ?? []).includes(into);
  if (isType && allowed.includes(`type ${into}`)) return true;
  return allowed.some((each) => to === `${each}.ts` || to.startsWith(`${each}/`)) || (allowed.includes('decisions') && isPartOfDecision(to));
}

function areStrangers(name, to) {
  for (const [folder, shared] of Object.entries(strangers)) {
    if (!name.startsWith(`${folder}/`) || !to.startsWith(`${folder}/`)) continue;
    const child = (file) =>
      file
        .slice(folder.length + 1)
        .split('/')
        .slice(0, -1)[0];
    const [from, into] = [child(name), child(to)];
    return from !== undefined && into !== undefined && from !== into && !shared.includes(into);
  }
  return false;
}

/** What a file loads, directly or through files of its own layer, that is neither pure nor of its layer. */
function impureImports(name, visited = new Set([name])) {
  return specifiers(sources.get(name) ?? '').flatMap(({ target, isType }) => {
    const to = resolve(name, target);
    if (isType || pureFolders.some((folder) => to.startsWith(folder))) return [];
    if (!target.startsWith('.') || layerOf(to) !== layerOf(name)) return [`${target.startsWith('.') ? to : target} (${name})`];
    if (visited.has(to)) return [];
    visited.add(to);
    return impureImports(to, visited);
  });
}

/** `storage/x/decide.ts`, or a file beside one that is as pure. */
function isPartOfDecision(name) {
  const [layer, folder, file] = name.split('/');
  return layer === 'storage' && file !== undefined && sources.has(`${layer}/${folder}/decide.ts`) && impureImports(name).length === 0;
}

function mayDoIo(name) {
  return realWorld.includes(layerOf(name)) || ioFiles.some((pattern) => pattern.test(name));
}

function checkPurity(name, text) {
  if (realWorld.includes(layerOf(name)) || name === browserWorld) return;
  text.split('\n').forEach((line, i) => {
    const code = line.replace(/\/\/.*|^\s*\*.*/, '');
    const found = impure.exec(code);
    if (found) report(`src/${name}:${i + 1}`, `${found[0]} (time, randomness and timers come from World)`);
    if (isDecision(name) && /\bawait\b/.test(code)) report(`src/${name}:${i + 1}`, 'a decision awaits');
  });
}

function checkLength(name, text) {
  const lines = text.split('\n').length;
  if (!isGenerated(name) && lines > maxLines + 1) report(`src/${name}`, `${lines} lines (at most ${maxLines}: split it by meaning)`);
}

/** A unit test lies beside its code and imports what its layer may import. What composes other top-level folders lies in test/. */
function checkTest(name, text) {
  const allowed = [...layers[layerOf(name)].map((each) => each.replace('type ', '').split('/')[0]), ...testImports, layerOf(name)];
  if (allowed.includes('*')) return;
  for (const { target } of specifiers(text)) {
    const to = resolve(name, target);
    if (target.startsWith('.') && !to.startsWith('../') && !allowed.includes(layerOf(to))) report(`src/${name}`, `a unit test imports ${to}: move it to test/`);
  }
}

function checkFileCycles() {
  for (const cycle of cycles(imports)) report(`src/${cycle[0]}`, `files import each other: ${cycle.join(' → ')}`);
}

/** At every level: the folders of one folder. */
function checkFolderCycles() {
  const levels = new Map();
  for (const [name, targets] of imports) {
    for (const to of targets) {
      const [from, into] = [name.split('/').slice(0, -1), to.split('/').slice(0, -1)];
      let depth = 0;
      while (depth < from.length && from[depth] === into[depth]) depth++;
      if (depth >= from.length || depth >= into.length) continue;
      const parent = from.slice(0, depth).join('/');
      const edges = levels.get(parent) ?? new Map();
      levels.set(parent, edges);
      const targetsOfFolder = edges.get(from[depth]) ?? new Map();
      edges.set(from[depth], targetsOfFolder);
      targetsOfFolder.set(into[depth], [...(targetsOfFolder.get(into[depth]) ?? []), `${name} → ${to}`]);
    }
  }
  for (const [parent, edges] of levels) {
    const graph = new Map(Array.from(edges, ([from, targets]) => [from, [...targets.keys()]]));
    for (const cycle of cycles(graph)) {
      const steps = cycle.slice(1).map((into, i) => edges.get(cycle[i]).get(into));
      const fewest = steps.reduce((best, each) => (each.length < best.length ? each : best));
      report(`src/${parent}`, `folders import each other: ${cycle.join(' → ')}; ${fewest.length} import(s) to remove: ${fewest.slice(0, 3).join(', ')}`);
    }
  }
}

/** One cycle of each strongly connected part, as nodes from the first to the first. */
function cycles(graph) {
  const found = [];
  const index = new Map();
  const low = new Map();
  const stack = [];
  const onStack = new Set();
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    onStack.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node), low.get(next)));
      } else if (onStack.has(next)) low.set(node, Math.min(low.get(node), index.get(next)));
    }
    if (low.get(node) !== index.get(node)) return;
    const part = stack.splice(stack.lastIndexOf(node));
    for (const each of part) onStack.delete(each);
    if (part.length > 1 || (graph.get(node) ?? []).includes(node)) found.push(cycleIn(graph, new Set(part), node));
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}

/** The shortest way from a node back to itself. */
function cycleIn(graph, part, start) {
  const cameFrom = new Map();
  const queue = [start];
  for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) {
        const way = [start];
        for (let at = node; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
        return way;
      }
      if (!part.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      queue.push(next);
    }
  }
  return [start];
}

function checkFolders() {
  const counts = new Map();
  for (const name of sources.keys()) {
    if (isTest(name)) continue;
    const folder = path.posix.dirname(name);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of counts) if (count > maxFiles) report(`src/${folder}`, `${count} files (at most ${maxFiles}: group them in folders)`);
  for (const layer of new Set(Array.from(sources.keys(), layerOf)))
    if (!existsSync(path.join(root, 'src', layer, 'README.md')))
      report(`src/${layer}`, 'has no README.md: what it is, its most important files, what it may import');
}

function checkWords() {
  for (const file of tracked) {
    if (!/^((src|test|bench|scripts|docs)\/.*\.(ts|tsx|mts|mjs|md)|README\.md)$/.test(file)) continue;
    // Generated comments are Kubernetes' own.
    if (isGenerated(file) || file === 'scripts/tidy.mjs') continue;
    const retired = path.posix
      .basename(file)
      .split(/[-.]/)
      .find((word) => retiredNames.has(word));
    if (retired !== undefined) report(file, `"${retired}" is a retired word (docs/GLOSSARY.md)`);
    const isCode = /\.(ts|tsx|mts|mjs)$/.test(file);
    const text = textOf(file);
    const code = isCode ? withoutWords(text).split('\n') : [];
    text.split('\n').forEach((line, i) => {
      const vague = vagueWords.exec(line);
      if (vague) report(`${file}:${i + 1}`, `"${vague[0]}": name the component, client or user`);
      for (const identifier of code[i]?.match(/[A-Za-z_$][\w$]*/g) ?? []) {
        if (isRetired(identifier)) report(`${file}:${i + 1}`, `${identifier} is a retired word (docs/GLOSSARY.md)`);
      }
    });
  }
}

/** Paths that documents name exist, and the glossary's types stand in their files. */
function checkDocuments() {
  for (const file of tracked.filter((name) => /^((docs|src)\/.*|\w+)\.md$/.test(name) && name !== 'CHANGELOG.md')) {
    const text = textOf(file);
    for (const [, named] of text.matchAll(/`((?:src|test|docs|scripts|bench|examples)\/[\w./-]+)`/g))
      if (!existsSync(path.join(root, named))) report(file, `names ${named}, which does not exist`);
    if (file !== 'docs/GLOSSARY.md') continue;
    for (const [, types, files] of text.matchAll(/^\|[^|]*\|[^|]*\|([^|]*)\|([^|]*)\|$/gm)) {
      const code = [...files.matchAll(/`(src\/[^`]+\.ts)`/g)].map(([, each]) => (existsSync(path.join(root, each)) ? textOf(each) : '')).join('\n');
      for (const [, type] of types.matchAll(/`(\w+)`/g))
        if (!new RegExp(`\\b(class|interface|type|const|function) ${type}\\b`).test(code)) report(file, `${type} is not declared in${files.trimEnd()}`);
    }
  }
}

function isRetired(identifier) {
  return retiredTypes.test(identifier) || (identifier.match(/[A-Z]?[a-z]+/g) ?? []).some((word) => retiredNames.has(word.toLowerCase()));
}

/** The same lines without comments and without the text of strings. */
function withoutWords(text) {
  const blank = (match) => match.replace(/[^\n]/g, ' ');
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, blank).replace(/`(?:[^`\\$]|\\.|\$(?!\{))*`/g, blank);
}

if (sources.size === 0 || imports.size === 0) problems.push('nothing was checked');
const only = process.argv.slice(2);
const shown = problems.filter((problem) => only.length === 0 || only.some((prefix) => problem.startsWith(prefix)));
for (const problem of shown) console.error(problem);
console.log(`tidy: ${sources.size} files, ${[...imports.values()].flat().length} imports, ${shown.length} problems`);
process.exit(shown.length > 0 ? 1 : 0);
