import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Certificates } from '../../apiserver/certificates/certificate-files.ts';
import { base64, entryNameOf, isOfOneCluster, kubeconfig, renderKubeconfig } from '../../client/kubeconfig.ts';
import { bootstrappers } from '../../apiserver/user.ts';
import { writeSecret } from '../../host/secret-files.ts';
import { readIfThere } from '../../host/read-if-there.ts';

/** The file has entries of other clusters, and --merge-kubeconfig is not given. */
export class KubeconfigInUse extends Error {}

export interface SaveOptions {
  readonly server: string;
  readonly certificates: Certificates;
  readonly merge: boolean;
  /** The name of the cluster. */
  readonly name?: string | undefined;
}

/** Writes a kubeconfig for the administrator. A file with other entries than Mooring's is changed only with `merge`. */
export async function saveKubeconfig(file: string, { server, certificates, merge, name }: SaveOptions): Promise<void> {
  const { authority, admin } = certificates;
  const config = kubeconfig({ server, authority: authority.certificate, name: entryNameOf(name), user: { type: 'certificate', ...admin } });
  const existing = await readIfThere(file);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  if (existing === undefined || existing.trim() === '' || (!merge && isOfOneCluster(existing))) return writeSecret(file, renderKubeconfig(config));
  if (!merge)
    throw new KubeconfigInUse(`${file} exists and holds more than Mooring's own entries. Choose another --kubeconfig, or add to it with --merge-kubeconfig.`);
  // Loaded only here: reading arbitrary YAML needs a library.
  const { mergeKubeconfig } = await import('../../client/kubeconfig-merge.ts');
  await writeSecret(file, mergeKubeconfig(existing, config));
}

/** The file is written again every day; one more day is in reserve. */
const BOOTSTRAP_DAYS = 2;

/** Writes a kubeconfig whose only right is to request a node's certificate. `file` undefined: none is written. */
export async function saveBootstrapKubeconfig(file: string | undefined, options: Omit<SaveOptions, 'merge'>): Promise<void> {
  if (file === undefined) return;
  const bootstrapper = await options.certificates.issueClient({ name: 'system:bootstrap:mooring', groups: [bootstrappers] }, BOOTSTRAP_DAYS);
  await saveKubeconfig(file, { ...options, certificates: { ...options.certificates, admin: bootstrapper }, merge: false });
}

/** Removes the entries of a cluster that is deleted, and the file if it has no others. One that has become another cluster's stays. */
export async function removeKubeconfig(file: string, authority: string): Promise<void> {
  const existing = await readIfThere(file);
  if (existing?.includes(base64(authority)) !== true) return;
  if (isOfOneCluster(existing)) return rm(file, { force: true });
  const { withoutCluster } = await import('../../client/kubeconfig-merge.ts');
  await writeSecret(file, withoutCluster(existing, base64(authority)));
}
