import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, type FlagValues, UsageError } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { controllersFlag, usualLevel } from './controller-level.ts';

/** `moor envtest install`: a folder for KUBEBUILDER_ASSETS. */
export const installCommand: Command = {
  about: `Makes DIR a folder for KUBEBUILDER_ASSETS: kube-apiserver and etcd are scripts that run this moor, kubectl is a link to yours. Go
suites with envtest, and those of other languages that start the same programs, then run unchanged, and their PVCs are bound,
their namespaces end, their owned objects are collected. The variable MOORING_ENVTEST, if the suite sets it, is --controllers.`,
  arguments: { usage: 'DIR', about: 'the folder; it is created', least: 1, most: 1 },
  flags: [controllersFlag, { name: 'kubectl', value: 'FILE', about: 'the kubectl to link to', default: 'the first one in $PATH' }],
  examples: [
    { line: 'moor envtest install bin/envtest && KUBEBUILDER_ASSETS=$PWD/bin/envtest go test ./...', about: 'a suite with storage' },
    { line: 'moor envtest install bin/envtest --controllers all', about: 'pods are scheduled and become Running too' },
  ],
  run: (flags) => install(flags),
};

async function install(flags: FlagValues): Promise<ExitCode> {
  const [directory = ''] = flags.arguments;
  const program = realpathSync(process.argv[1] ?? '');
  const kubectl = kubectlOf(flags.text('kubectl'));
  const level = `--controllers "\${MOORING_ENVTEST:-${flags.text('controllers') ?? usualLevel}}"`;
  try {
    mkdirSync(directory, { recursive: true });
    writeScript(path.join(directory, 'kube-apiserver'), `${shell(process.execPath)} ${shell(program)} envtest kube-apiserver ${level} -- "$@"`);
    writeScript(path.join(directory, 'etcd'), `${shell(process.execPath)} ${shell(program)} envtest etcd -- "$@"`);
    if (kubectl !== undefined) link(kubectl, path.join(directory, 'kubectl'));
  } catch (error) {
    process.stderr.write(`moor envtest install: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodes.failure;
  }
  if (kubectl === undefined) process.stderr.write('moor envtest install: there is no kubectl in $PATH; suites that need it will not find it\n');
  process.stdout.write(`export KUBEBUILDER_ASSETS=${shell(path.resolve(directory))}\n`);
  return exitCodes.success;
}

/** The shell is replaced: the suite's signals reach moor. */
function writeScript(file: string, command: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, `#!/bin/sh\nexec ${command}\n`);
  chmodSync(file, 0o755);
}

function link(target: string, file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) rmSync(file);
  symlinkSync(target, file);
}

/** Undefined: there is none. @throws UsageError if the given one does not exist */
function kubectlOf(given: string | undefined): string | undefined {
  if (given !== undefined) {
    if (!existsSync(given)) throw new UsageError(`--kubectl: there is no ${given}`);
    return realpathSync(given);
  }
  const found = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'kubectl'))
    .find((file) => existsSync(file));
  return found === undefined ? undefined : realpathSync(found);
}

/** One word for a shell. */
const shell = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
