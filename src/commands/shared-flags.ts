/** Flags, and readings of flags, that several commands have. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { LogLevel } from '../host/world.ts';
import { recordServing } from '../cluster/life-cycle/cluster-record.ts';
import { isSocketAddress, socketForm } from '../cluster/controllers/built-in-drivers.ts';
import { type Flag, type FlagValues, UsageError } from './command.ts';
import { privatePath } from './private-path.ts';

export const logLevelFlag: Flag = {
  name: 'log-level',
  value: 'LEVEL',
  about: 'debug, info, warn or error; on standard error, as lines of JSON unless that is a terminal',
  oneOf: ['debug', 'info', 'warn', 'error'],
  default: 'info, on a terminal warn',
};

export const logLevelOf = (flags: FlagValues): LogLevel => (flags.text('log-level') as LogLevel | undefined) ?? (process.stderr.isTTY ? 'warn' : 'info');

/** For commands that read the store. */
export const encryptionFlag: Flag = {
  name: 'encryption-provider-config',
  value: 'FILE',
  about: 'an EncryptionConfiguration of apiserver.config.k8s.io/v1: which resources are encrypted at rest',
  default: 'no encryption',
};

/** For commands that run an API server. */
export const apiServerFlags: readonly Flag[] = [
  encryptionFlag,
  {
    name: 'admission-control-config-file',
    value: 'FILE',
    about: 'an AdmissionConfiguration of apiserver.config.k8s.io/v1: defaults and exemptions of PodSecurity',
    default: 'namespaces without labels are privileged',
  },
  { name: 'plain', about: 'hide every extension to the Kubernetes API, and serve no dashboard' },
  {
    name: 'dashboard',
    about: 'serve the dashboard at /ui/ also on addresses beyond loopback; =false: not at all',
    default: 'on loopback alone, if the server listens there',
  },
];

/** @throws UsageError */
export function encryptionConfigOf(flags: FlagValues): string | undefined {
  const given = flags.text('encryption-provider-config');
  return given === undefined ? undefined : privatePath('encryption-provider-config', given);
}

/** @throws UsageError */
export function apiServerOptions(flags: FlagValues) {
  const admissionConfig = flags.text('admission-control-config-file');
  return {
    encryptionConfig: encryptionConfigOf(flags),
    admissionConfig: admissionConfig === undefined ? undefined : path.resolve(admissionConfig),
    plain: flags.on('plain'),
    dashboard: flags.text('dashboard') === undefined ? undefined : flags.on('dashboard'),
  };
}

/** For commands beside `moor up` that use the image volumes in its data directory. */
export const imagesFlag: Flag = {
  name: 'data-dir',
  value: 'DIR',
  about: 'the data directory of the "moor up" on this machine, for its image volumes and its certificate authority',
  default: 'that of the "moor up" that serves the cluster, if it runs here',
};

/** For commands that run the controllers, and for the audit of what they made. */
export const csiEndpointFlag: Flag = {
  name: 'csi-endpoint',
  value: 'unix:///PATH',
  about: 'the socket of a CSI driver whose controllers run in this process, without its sidecars; may be given several times',
  default: 'drivers whose CSIDriver has the annotation mooring.dev/controller: built-in',
  repeatable: true,
};

/** @throws UsageError */
export function csiEndpointsOf(flags: FlagValues): readonly string[] {
  const given = flags.all('csi-endpoint');
  const wrong = given.find((address) => !isSocketAddress(address));
  if (wrong !== undefined) throw new UsageError(`--csi-endpoint must be ${socketForm}, not "${wrong}"`);
  return [...new Set(given)];
}

/** @throws UsageError */
export async function dataDirectoryOf(flags: FlagValues, { url }: { readonly url: string }): Promise<string | undefined> {
  const given = flags.text('data-dir');
  if (given !== undefined && !existsSync(given)) throw new UsageError(`--data-dir: ${given} does not exist`);
  return given === undefined ? (await recordServing(url))?.dataDir : path.resolve(given);
}

/** 'HOST:PORT', '[::1]:PORT', ':PORT' (loopback) or 'PORT'. @throws UsageError */
export function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:(?:\[([^\]]+)\]|([^:[\]]*)):)?(\d+)$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--listen must be HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:6443, not "${text}"`);
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port };
}

/** @throws UsageError */
export function wholeNumber(flags: FlagValues, name: string): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number, not "${text}"`);
  return Number(text);
}
