/**
 * The files of the host that containers see, as an image would bring them: its programs and libraries, what these read in /etc, and the empty directories that
 * every image has. It is a list of what is shown; all else of the host does not exist for a container.
 */
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RootImage } from './container-root.ts';
import { namesIn } from './shim/state-files.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Directories of programs, libraries and what belongs to them. A link, such as /bin with merged-usr, is a link inside too. */
const shownTrees: readonly string[] = words(`
  /bin /sbin /lib /lib32 /lib64 /libx32
  /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libx32 /usr/libexec /usr/share
  /usr/local/bin /usr/local/sbin /usr/local/lib /usr/local/lib64 /usr/local/libexec /usr/local/share
`);

/** Files and directories of /etc without secrets, as far as every user of the host may read them. Never: shadow, gshadow, ssh, sudoers, ssl/private, kubernetes. */
const shownConfiguration: readonly string[] = words(`
  passwd group nsswitch.conf host.conf gai.conf networks protocols services ethertypes rpc netconfig
  ld.so.cache ld.so.conf ld.so.conf.d alternatives
  ssl/certs ssl/openssl.cnf ssl/cert.pem ca-certificates ca-certificates.conf
  pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust/extracted crypto-policies/back-ends gss
  os-release lsb-release debian_version redhat-release system-release alpine-release arch-release issue
  localtime timezone locale.alias locale.conf terminfo inputrc profile bash.bashrc bashrc shells skel
  mime.types magic magic.mime mke2fs.conf xattr.conf fonts login.defs pam.conf pam.d security
  perl python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14
  java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk
`);

/** Directories of every image, with their modes. */
const emptyDirectories: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    words(`
      boot dev etc etc/opt home media mnt opt proc run srv sys usr usr/local
      var var/backups var/cache var/lib var/lib/misc var/local var/log var/mail var/opt var/spool
    `).map((name) => [name, 0o755]),
  ),
  root: 0o700,
  'run/lock': 0o1777,
  tmp: 0o1777,
  'var/tmp': 0o1777,
};

const links: Readonly<Record<string, string>> = { 'etc/mtab': '../proc/self/mounts', 'var/run': '/run', 'var/lock': '/run/lock' };

/** The directory because of which containers would see a path of the host; undefined: they do not see it. */
export const shownTreeOf = (file: string): string | undefined =>
  [...shownTrees, ...shownConfiguration.map((name) => `/etc/${name}`)].find((tree) => file === tree || file.startsWith(`${tree}/`));

export interface HostImageOptions {
  /** Of the host's files: '/'. */
  readonly host: string;
  /** The directory that is made, or made anew. No container runs on it. */
  readonly directory: string;
  /** Its path for the one who mounts it. */
  readonly seenAs: string;
}

/** The image's lowest layer has copies of small files. Trees are shown where they lie: programs that are installed later are seen. */
export function makeHostImage({ host, directory, seenAs }: HostImageOptions): RootImage {
  const trees = shownTrees.flatMap((tree) => entriesOf(path.join(host, tree), tree, 'itself'));
  const entries = [
    ...emptyEntries,
    ...trees,
    ...shownConfiguration.flatMap((name) => entriesOf(path.join(host, 'etc', name), `/etc/${name}`, 'with all below')),
  ];
  // To make it takes longer than to start a container.
  const digest = createHash('sha256').update(JSON.stringify(entries)).digest('hex');
  if (!isMade(directory, digest)) make(directory, { entries, digest });
  const shown = trees.filter(({ type }) => type === 'directory').map(({ name }) => name);
  return {
    layers: [{ target: '/', lower: [seenAs] }, ...shown.map((tree) => ({ target: tree, lower: [path.join(host, tree)] }))],
    hardware: processorsOf(path.join(host, 'sys')),
  };
}

/** A file or directory of the lowest layer. */
type Entry =
  | { readonly type: 'directory'; readonly name: string; readonly mode: number }
  | { readonly type: 'link'; readonly name: string; readonly text: string }
  /** `changed`: when, as the host's file system knows. */
  | { readonly type: 'file'; readonly name: string; readonly mode: number; readonly source: string; readonly changed: readonly number[] };

const emptyEntries: readonly Entry[] = [
  ...Object.entries(emptyDirectories).map(([name, mode]) => ({ type: 'directory', name: `/${name}`, mode }) as const),
  ...Object.entries(links).map(([name, text]) => ({ type: 'link', name: `/${name}`, text }) as const),
];

/** Links stay links, which are resolved inside. A file that only some users of the host may read stays its own. */
function entriesOf(source: string, name: string, how: 'itself' | 'with all below'): readonly Entry[] {
  const facts = lstatSync(source, { throwIfNoEntry: false });
  if (facts?.isSymbolicLink() === true) return [{ type: 'link', name, text: readlinkSync(source) }];
  if (facts === undefined || (facts.mode & 0o004) === 0) return [];
  if (facts.isFile()) return [{ type: 'file', name, mode: facts.mode & 0o755, source, changed: [facts.ino, facts.size, facts.mtimeMs, facts.ctimeMs] }];
  if (!facts.isDirectory()) return [];
  const below = how === 'itself' ? [] : readdirSync(source).flatMap((each) => entriesOf(path.join(source, each), `${name}/${each}`, how));
  return [{ type: 'directory', name, mode: 0o755 }, ...below];
}

const digestOf = (directory: string): string => `${directory}.sha256`;

function isMade(directory: string, digest: string): boolean {
  try {
    return readFileSync(digestOf(directory), 'utf8') === digest;
  } catch {
    return false;
  }
}

/** The digest is written last: an image without one is made anew. */
function make(directory: string, { entries, digest }: { readonly entries: readonly Entry[]; readonly digest: string }): void {
  rmSync(digestOf(directory), { force: true });
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o755);
  for (const entry of entries) {
    const file = path.join(directory, entry.name);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
    if (entry.type === 'link') symlinkSync(entry.text, file);
    else if (entry.type === 'directory') mkdirSync(file, { recursive: true });
    else copyFileSync(entry.source, file);
    if (entry.type !== 'link') chmodSync(file, entry.mode);
  }
  writeFileSync(digestOf(directory), digest);
}

/** As Docker: they tell how warm the processors are. */
function processorsOf(sys: string): readonly string[] {
  const names = namesIn(path.join(sys, 'devices/system/cpu')).filter((name) => /^cpu\d+$/.test(name));
  return names.map((name) => `devices/system/cpu/${name}/thermal_throttle`);
}
