import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Certificates } from '../../apiserver/certificates/certificate-files.ts';
import { kubeconfig, renderKubeconfig } from '../../client/kubeconfig.ts';
import { bootstrappers } from '../../apiserver/user.ts';
import { writeSecret } from '../../host/secret-files.ts';

/** The file belongs to other clusters as well, and nobody said that it may be changed. */
export class KubeconfigInUse extends Error {}

export interface SaveOptions {
  readonly server: string;
  readonly certificates: Certificates;
  readonly merge: boolean;
}

/** Writes a kubeconfig for the administrator. A file with anything in it but our own entries is changed only if `merge` says so. */
export async function saveKubeconfig(file: string, { server, certificates, merge }: SaveOptions): Promise<void> {
  const { authority, admin } = certificates;
  const config = kubeconfig({ server, authority: authority.certificate, user: { type: 'certificate', ...admin } });
  const existing = await readIfThere(file);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  if (existing === undefined || existing.trim() === '' || (!merge && isOurs(existing))) return writeSecret(file, renderKubeconfig(config));
  if (!merge)
    throw new KubeconfigInUse(`${file} exists and holds more than Mooring's own entries. Choose another --kubeconfig, or say --merge-kubeconfig to add to it.`);
  // Loaded only here: reading other people's YAML takes a library.
  const { mergeKubeconfig } = await import('../../client/kubeconfig-merge.ts');
  await writeSecret(file, mergeKubeconfig(existing, config));
}

/** A day for it to be written anew, and a day to spare. */
const BOOTSTRAP_DAYS = 2;

/** Writes a kubeconfig that is good for one thing: to ask for the certificate of a node. Undefined: nobody wants one. */
export async function saveBootstrapKubeconfig(file: string | undefined, options: Omit<SaveOptions, 'merge'>): Promise<void> {
  if (file === undefined) return;
  const bootstrapper = await options.certificates.issueClient({ name: 'system:bootstrap:mooring', groups: [bootstrappers] }, BOOTSTRAP_DAYS);
  await saveKubeconfig(file, { ...options, certificates: { ...options.certificates, admin: bootstrapper }, merge: false });
}

/** Ours: as an earlier start wrote it, that is, with no entry of another name. */
function isOurs(text: string): boolean {
  const names = [...text.matchAll(/^\s*-?\s*"?name"?:\s*"?([^"\s]*)"?\s*$/gm)].map((match) => match[1]);
  return names.length > 0 && names.every((name) => name === 'mooring');
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
