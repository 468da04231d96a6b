import { createHash } from 'node:crypto';
import path from 'node:path';

/** The paths and names of a shim. */
export interface Layout {
  readonly root: string;
  /** A short name, unique on this machine. */
  readonly name: string;
  /** An empty directory. */
  readonly scratch: string;
  /** The devices of every container. */
  readonly devices: string;
  readonly pods: string;
  /** The control group of all containers. */
  readonly group: string;
  /** The bridge of the pods' network: a name of at most 15 characters. */
  readonly bridge: string;
  /** The files of the host that containers see. */
  readonly image: string;
  pod(uid: string): string;
  podCheckpoint(uid: string): string;
  files(uid: string): { readonly hosts: string; readonly resolvConf: string; readonly hostname: string };
  containers(uid: string): string;
  containerCheckpoint(uid: string, id: string): string;
  terminationMessage(uid: string, id: string): string;
  logs(pod: { readonly uid: string; readonly namespace: string; readonly name: string }, container: string): string;
  /** The mark of a process. */
  mark(what: string): string;
}

export function layoutOf(root: string): Layout {
  const name = nameOf(root);
  const pod = (uid: string) => path.join(root, 'pods', safe(uid));
  const containers = (uid: string) => path.join(pod(uid), 'containers');
  return {
    root,
    name,
    scratch: path.join(root, 'stage'),
    devices: path.join(root, 'devices'),
    pods: path.join(root, 'pods'),
    group: groupOf(root),
    bridge: `moor-${name}`,
    image: path.join(root, 'image'),
    pod,
    podCheckpoint: (uid) => path.join(pod(uid), 'pod.json'),
    files: (uid) => ({ hosts: path.join(pod(uid), 'hosts'), resolvConf: path.join(pod(uid), 'resolv.conf'), hostname: path.join(pod(uid), 'hostname') }),
    containers,
    containerCheckpoint: (uid, id) => path.join(containers(uid), `${id}.json`),
    terminationMessage: (uid, id) => path.join(containers(uid), `${id}.message`),
    logs: (of, container) => path.join(root, 'logs', safe(`${of.namespace}_${of.name}_${of.uid}`), safe(container)),
    mark: (what) => `${name}:${what}`,
  };
}

/** Eight characters of a path's hash. */
export const nameOf = (root: string): string => createHash('sha256').update(path.resolve(root)).digest('hex').slice(0, 8);

/** The control group of a shim. */
export const groupOf = (root: string): string => `moor-${nameOf(root)}`;

/** The shim's socket: Linux limits the length of its path. */
export const socketOf = (root: string): string => path.join('/run/moor', `${nameOf(root)}.sock`);

/** The API server validates names; a slash would still lead elsewhere. */
const safe = (name: string): string => name.replaceAll(/[/\0]/g, '-').replace(/^\.+$/, '-');
