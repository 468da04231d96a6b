/** Runs the commands of a page in one shell, in an empty home and a folder that shows the checkout's files and takes what they write. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../moor-process.ts';
import { devicesBelow } from '../drivers/loop-devices.ts';
import { mountsBelow, processesOf } from '../up/machine-traces.ts';
import type { Block, TypedCommand } from './command-blocks.ts';

export interface PageRun {
  readonly code: number | null;
  /** Of the command at which the shell ended, and of `moor delete`. */
  readonly problem: string;
  /** What each command printed; '' of those after a failure. */
  outputOf(command: TypedCommand): string;
  /** What `moor delete` left on the machine: clusters, processes, mounts, loop devices, and files in the home and temporary directory. */
  readonly left: readonly string[];
}

const moorScript = path.join(root, 'dist/main/moor.js');
const limitMs = 240_000;

/** The port of a cluster without a name is taken where another runs. Nothing else is changed. */
const programs = {
  moor: `case "$1 \${2:--}" in "up -"*) shift; set -- up --listen 127.0.0.1:0 "$@" ;; esac
exec "${process.execPath}" "${moorScript}" "$@"`,
  npm: `[ "$1" = start ] || { echo "npm $1: a page can run only npm start; mark the block as not run" >&2; exit 1; }
shift
[ "$1" = -- ] && shift
exec moor up "$@"`,
  npx: `[ "$1" = moor ] || { echo "npx $1: a page can run only npx moor; mark the block as not run" >&2; exit 1; }
exec "$@"`,
} as const;

export async function runPage(page: string, blocks: readonly Block[]): Promise<PageRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-page-'));
  const within = (name: string) => path.join(folder, name);
  try {
    for (const name of ['home', 'work', 'bin', 'output', 'tmp']) mkdirSync(within(name));
    for (const name of readdirSync(root)) if (!name.startsWith('.')) symlinkSync(path.join(root, name), within(`work/${name}`));
    for (const [name, text] of Object.entries(programs)) writeFileSync(within(`bin/${name}`), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const env = {
      PATH: `${within('bin')}:${path.join(root, '.tools/bin')}:${process.env['PATH'] ?? ''}`,
      HOME: within('home'),
      XDG_STATE_HOME: within('home/.local/state'),
      TMPDIR: within('tmp'),
      OUTPUT: within('output'),
    };
    writeFileSync(within('page.sh'), scriptOf(page, blocks));
    const shell = spawn('bash', [within('page.sh')], { cwd: within('work'), env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    let problem = '';
    shell.stderr.on('data', (chunk: Buffer) => {
      problem += chunk.toString();
    });
    const limit = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'), limitMs);
    const [code] = (await once(shell, 'close')) as [number | null];
    clearTimeout(limit);
    const left = [...deleteClusters(env), ...(await lastingBelow(folder))];
    const outputs = new Map(readdirSync(within('output')).map((name) => [name, readFileSync(within(`output/${name}`), 'utf8')]));
    return { code, problem, outputOf: ({ line }) => outputs.get(String(line)) ?? '', left };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** kubectl's cache, and folders that every program may make. */
const ofOthers = /^home\/\.(kube|local|cache)(\/(cache|state|share)(\/.*)?)?$/;

/** A loop device stays while a container of another test, which is just starting, has the mounts of this moment. */
async function lastingBelow(folder: string): Promise<readonly string[]> {
  const end = performance.now() + lastingMs;
  for (;;) {
    const left = leftBelow(folder);
    if (left.length === 0 || performance.now() > end) return left;
    await new Promise((resolve) => void setTimeout(resolve, 200));
  }
}
const lastingMs = 60_000;

/** Of the commands of a page. What they wrote into the checkout's folder is theirs. */
function leftBelow(folder: string): readonly string[] {
  const files = ['home', 'tmp'].flatMap((name) => readdirSync(path.join(folder, name), { recursive: true, encoding: 'utf8' }).map((file) => `${name}/${file}`));
  return [
    ...processesOf(folder).map((each) => `process ${each}`),
    ...mountsBelow(folder).map((each) => `mount ${each}`),
    ...devicesBelow(folder).map((each) => `device ${each}`),
    ...files.filter((file) => !ofOthers.test(file)).map((file) => `file ${file}`),
  ];
}

/** Ends the clusters that the page started, and names what is there afterwards. */
function deleteClusters(env: NodeJS.ProcessEnv & { readonly XDG_STATE_HOME: string }): readonly string[] {
  const moor = (...args: string[]) => spawnSync(process.execPath, [moorScript, ...args], { env, encoding: 'utf8' });
  const clusters = () => JSON.parse(moor('list', '-o', 'json').stdout) as readonly { readonly name: string }[];
  const problems = clusters().flatMap(({ name }) => {
    const { status, stderr } = moor('delete', name, '--yes');
    return status === 0 ? [] : [`moor delete ${name}: ${stderr}`];
  });
  const files = existsSync(env.XDG_STATE_HOME) ? readdirSync(env.XDG_STATE_HOME) : [];
  return [
    ...problems,
    ...clusters().map(({ name }) => `cluster ${name}`),
    ...files.filter((name) => name.startsWith('mooring')).map((name) => `data in ${name}`),
  ];
}

/** The shell ends at the first command that fails and says which; what still runs in its background ends with it; a page may have ended it already. */
function scriptOf(page: string, blocks: readonly Block[]): string {
  const parts = blocks.flatMap((block) => {
    if (block.kind === 'file') return [`printf %s ${quoted(block.text)} >${quoted(block.name)}`];
    return block.kind === 'excused' ? [] : block.commands.map((command) => stepOf(page, command));
  });
  return `set -eo pipefail
at=
finish() {
  code=$?
  [ $code = 0 ] || { echo "$at: exit code $code" >&2; cat "$OUTPUT/\${at##*:}" >&2; }
  running=$(jobs -p)
  [ -z "$running" ] || { kill $running 2>/dev/null || true; wait; }
  exit $code
}
trap finish EXIT
${parts.join('\n')}
`;
}

function stepOf(page: string, { line, text, keepsRunning }: TypedCommand): string {
  const output = `>"$OUTPUT/${line}" 2>&1`;
  const at = `at=${quoted(`${page}:${line}`)}`;
  if (!keepsRunning) return `${at}\n{ ${text}\n} ${output}\n[ $? = 0 ]`;
  return `${at}
( exec ${text}
) ${output} &
until grep -qE '(is|are) ready' "$OUTPUT/${line}"; do kill -0 $!; sleep 0.1; done`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
