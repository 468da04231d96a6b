#!/usr/bin/env node
// Bundles the programs of `moor` into a few files each: loading seven hundred takes longer than all the rest of a start. The bundler reads the
// TypeScript sources itself, so a start needs no compiler; the compiler's files beside it are for the library, tests and benchmarks.
// The command is always dist/main/moor.js, which scripts outside the project call.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { sourceDigest, writeDigest } from './build-digest.mjs';

/** The programs that users call. */
const commands = ['moor', 'kubectl-why'];
/** What the package exports: see package.json. */
const libraries = { library: 'src/cluster/library.ts', testing: 'src/testing/index.ts' };
/** The programs that `moor` starts. */
const processes = ['container-shim', 'fuzz-worker'];

export async function bundle({ dir, sourcemap = false }) {
  // The digest is of the moment before the build: a change during it is built by the next start. A build that fails or is interrupted has none.
  const digest = sourceDigest();
  writeDigest(dir, '');
  const bundled = await rolldown({
    input: { ...Object.fromEntries([...commands, ...processes].map((name) => [name, `src/commands/${name}.ts`])), ...libraries },
    platform: 'node',
    // Packages are bundled too: their hundreds of files took a fifth of a start. koffi stays where npm installed it, beside its native library.
    external: /^(node:|koffi$)/,
  });
  // Chunks lie one folder below, as deep as the files that look for package.json and for other programs relative to themselves.
  const next = `${dir}/next-${process.pid}`;
  try {
    const { output } = await bundled.write({ dir: next, sourcemap, entryFileNames: 'main/[name].js', chunkFileNames: 'moor/[name]-[hash].js' });
    mkdirSync(`${next}/moor`, { recursive: true });
    writeFileSync(`${next}/moor/LICENSES.txt`, licenses(output.flatMap(({ moduleIds }) => moduleIds ?? [])));
    // Executable, with the Node.js flags of its first line: a larger young generation saves a tenth of the server's time under load.
    for (const command of commands) chmodSync(`${next}/main/${command}.js`, 0o755);
    replace(dir, next);
    await bundlePage(dir);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
  writeDigest(dir, digest);
}

/** The dashboard: one script and one style sheet, each named by its content, and index.html. New files first: a server may be reading. */
async function bundlePage(dir) {
  const source = 'src/dashboard/page';
  const bundled = await rolldown({
    input: { page: `${source}/main.tsx` },
    platform: 'browser',
    tsconfig: `${source}/tsconfig.json`,
    // What the page shares with the server is left out where it is not used: loading it has no effects.
    treeshake: { moduleSideEffects: [{ test: /\/src\/(api|client|storage|why)\//, sideEffects: false }] },
  });
  const { output } = await bundled.generate({ minify: true, entryFileNames: '[name]-[hash].js', codeSplitting: false });
  const [{ code, fileName: script, moduleIds }] = output;
  const style = readFileSync(`${source}/style.css`, 'utf8').replace(/\s+/g, ' ');
  const styleName = `style-${createHash('sha256').update(style).digest('hex').slice(0, 8)}.css`;
  const page = readFileSync(`${source}/index.html`, 'utf8').replace('STYLE', styleName).replace('SCRIPT', script);
  const files = { [script]: code, [styleName]: style, 'index.html': page, 'LICENSES.txt': licenses(moduleIds) };
  mkdirSync(`${dir}/ui`, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(`${dir}/ui/${name}`, text);
  for (const name of readdirSync(`${dir}/ui`)) if (files[name] === undefined) rmSync(`${dir}/ui/${name}`, { force: true });
}

/** The licences of the packages that these modules are of: a bundle is a copy of them. */
function licenses(modules) {
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)]
    .map(licenseOf)
    .sort((a, b) => a.localeCompare(b))
    .join('\n');
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version}, ${license}\n\n${file === undefined ? '' : readFileSync(`${folder}/${file}`, 'utf8')}`;
}

/** Chunks first, whose names have the hash of their content: a program that starts meanwhile finds all of its own, the old ones or the new ones. */
function replace(dir, next) {
  // A bundle may have no chunks.
  for (const made of [dir, next]) mkdirSync(`${made}/moor`, { recursive: true });
  const chunks = readdirSync(`${next}/moor`);
  for (const folder of ['moor', 'main']) {
    for (const name of readdirSync(`${next}/${folder}`)) renameSync(`${next}/${folder}/${name}`, `${dir}/${folder}/${name}`);
  }
  // A server imports some chunks only when it needs them.
  if (isInUse(dir)) return;
  for (const name of readdirSync(`${dir}/moor`)) if (!chunks.includes(name)) rmSync(`${dir}/moor/${name}`, { force: true });
}

/** Whether a process runs a program of `dir`. Where that cannot be known, it may. */
function isInUse(dir) {
  const programs = path.join(realpathSync(dir), 'main') + path.sep;
  try {
    return readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && programOf(pid).startsWith(programs));
  } catch {
    return true;
  }
}

/** The path of the JavaScript program that a process of Node.js runs; '' if it is another one. */
function programOf(pid) {
  try {
    const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const program = args.find((each) => each !== '' && !each.startsWith('-'));
    return program === undefined ? '' : realpathSync(path.resolve(readlinkSync(`/proc/${pid}/cwd`), program));
  } catch {
    return '';
  }
}

if (process.argv[1] === import.meta.filename) await bundle({ dir: 'dist' });
