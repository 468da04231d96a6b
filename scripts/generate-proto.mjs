#!/usr/bin/env node
// npm run generate:proto: writes src/grpc/generated/ from proto/*.proto, by buf and protoc-gen-es, which are installed for this run only.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Versions that run on Node.js 20. */
const packages = ['@bufbuild/buf@1.74.0', '@bufbuild/protoc-gen-es@2.12.0'];
const project = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const target = path.join(project, 'src/grpc/generated');

const tools = mkdtempSync(path.join(tmpdir(), 'mooring-proto-'));
try {
  execFileSync('npm', ['install', '--silent', '--no-save', '--prefix', tools, ...packages], { stdio: 'inherit' });
  const bin = path.join(tools, 'node_modules/.bin');
  const plugin = { local: path.join(bin, 'protoc-gen-es'), out: tools, opt: ['target=ts', 'import_extension=ts'] };
  const template = JSON.stringify({ version: 'v2', plugins: [plugin] });
  execFileSync(path.join(bin, 'buf'), ['generate', path.join(project, 'proto'), '--template', template], { cwd: tools, stdio: 'inherit' });
  mkdirSync(target, { recursive: true });
  for (const file of readdirSync(tools).filter((name) => name.endsWith('_pb.ts')))
    writeFileSync(path.join(target, file.replace('_pb.ts', '.ts')), erasable(readFileSync(path.join(tools, file), 'utf8')));
} finally {
  rmSync(tools, { recursive: true, force: true });
}
execFileSync('npx', ['biome', 'check', '--write', target], { cwd: project, stdio: 'inherit' });

/** TypeScript that is erased leaves no code behind: an enum becomes an object and a type. The comments repeat names only. */
function erasable(text) {
  const enums = text.replaceAll(/export enum (\w+) \{([^}]*)\}/g, (_, name, body) => {
    const members = withoutComments(body).replaceAll(/(\w+) = (\d+)/g, '$1: $2');
    return `export const ${name} = {${members}} as const;\nexport type ${name} = (typeof ${name})[keyof typeof ${name}];`;
  });
  return `// Written by scripts/generate-proto.mjs. Do not edit: change proto/, then \`npm run generate:proto\`.\n${withoutComments(enums)}`;
}

function withoutComments(text) {
  return text.replaceAll(/^\s*\/\*[\s\S]*?\*\/\n/gm, '').replaceAll(/^\s*\/\/.*\n/gm, '');
}
