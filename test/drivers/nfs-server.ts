/** A real NFS server for tests. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Server, startServer } from './server.ts';

const settings = (directory: string) => `
  NFS_CORE_PARAM { Protocols = 3; Enable_NLM = false; Enable_RQUOTA = false; }
  NFS_KRB5 { Active_krb5 = false; }
  NFSV4 { Graceless = true; RecoveryBackend = fs; }
  EXPORT {
    Export_Id = 1; Path = ${directory}; Pseudo = /data; Tag = data; Access_Type = RW; Squash = No_root_squash; SecType = sys; Protocols = 3;
    FSAL { Name = VFS; }
  }`;

/** Exports a directory by NFSv3; its settings and log lie in `aside`. */
export function startNfsServer({ exported, aside }: { readonly exported: string; readonly aside: string }): Promise<Server> {
  const [file, log] = [path.join(aside, 'ganesha.conf'), path.join(aside, 'ganesha.log')];
  writeFileSync(file, settings(exported));
  return startServer(`
    mkdir -p /var/lib/nfs /run/ganesha /run/rpcbind
    rpcbind
    mount -t tmpfs tmpfs /var/lib/nfs
    mkdir /var/lib/nfs/ganesha
    ganesha.nfsd -F -f '${file}' -L '${log}' -p /run/ganesha/pid </dev/null &`);
}
