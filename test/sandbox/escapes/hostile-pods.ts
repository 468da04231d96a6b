/** Pods whose own definition is the attack: their programs, variables, volumes and paths. Each runs to its end, as root and as another user. */
import type { Container, PodSpec, Volume } from '../../../src/api/generated/types.ts';
import type { Targets } from './attempt.ts';

export interface HostilePod {
  readonly name: string;
  readonly like: string;
  /** The pod is named `name` in Kubernetes' form. All containers have the volumes `payload` at /payload and `empty` at /empty, unless they have mounts. */
  readonly initScript?: string;
  /** The init container runs as root, whatever the user of the others. */
  readonly initAsRoot?: boolean;
  readonly containers: readonly HostileContainer[];
  /** Besides `payload` and `empty`. */
  readonly volumes?: readonly Volume[];
}

type HostileContainer = Partial<Container> & { readonly name: string };

/** The content of the volume `payload`: programs that report rights which the container does not have. */
export const payloadKeys = ['payload', 'setpriv', 'sh', 'env', 'mount', 'nsenter', 'unshare', 'id', 'sleep', 'ip', 'node', 'moor-init'];

/** `ALLOWED`: the capabilities of the container, in hexadecimal. */
export const payload = `#!/bin/sh
echo PAYLOAD
while read -r name mask rest; do
  case $name in CapEff: | CapPrm: | CapBnd:) [ $((0x$mask & ~0x$ALLOWED)) -eq 0 ] || echo "ESCAPED $name $mask" ;; esac
done </proc/self/status
cat "$HOME_FILE" /proc/[0-9]*/root"$HOME_FILE"
exit 0
`;

const script = (text: string): Pick<Container, 'command'> => ({ command: ['/bin/sh', '-c', text] });
const mounts = (...all: readonly [name: string, mountPath: string, subPath?: string][]): Pick<Container, 'volumeMounts'> => ({
  volumeMounts: all.map(([name, mountPath, subPath]) => ({ name, mountPath, ...(subPath === undefined ? {} : { subPath }) })),
});
const look =
  'for file in "$HOME_FILE" /evil"$HOME_FILE" /proc/[0-9]*/root"$HOME_FILE"; do cat "$file"; done; (: >>/proc/sys/kernel/core_pattern) && echo ESCAPED; head -c 8 /proc/keys | grep . && echo ESCAPED; exit 0';

export const hostilePods = ({ homeFile, abstractSocket }: Targets): readonly HostilePod[] => [
  {
    name: 'programs first in PATH',
    like: 'a configMap with the key setpriv',
    containers: [
      { name: 'shell', command: ['sh', '-c', 'id'], ...mounts(['payload', '/usr/local/sbin']) },
      { name: 'setpriv', command: ['setpriv', 'true'], ...mounts(['payload', '/usr/local/sbin']) },
    ],
  },
  {
    name: 'variables of loaders and shells',
    like: 'CVE-2023-4911: GLIBC_TUNABLES, LD_PRELOAD',
    containers: [
      {
        name: 'app',
        command: ['setpriv', 'true'],
        env: Object.entries({
          PATH: '/payload',
          LD_PRELOAD: '/payload/payload',
          LD_LIBRARY_PATH: '/payload',
          LD_AUDIT: '/payload/payload',
          GLIBC_TUNABLES: 'glibc.malloc.mxfast=glibc.malloc.mxfast=A',
          BASH_ENV: '/payload/payload',
          ENV: '/payload/payload',
          NODE_OPTIONS: '--require /payload/payload',
          PERL5OPT: '-d',
          MOOR_SCRIPT: '/payload/payload',
        }).map(([name, value]) => ({ name, value })),
      },
    ],
  },
  {
    name: 'libraries before all others',
    like: 'ld.so.preload',
    containers: [{ name: 'app', ...script(look), ...mounts(['payload', '/etc/ld.so.preload', 'library'], ['payload', '/payload']) }],
  },
  {
    name: 'the executable of the init',
    like: 'CVE-2019-5736: /proc/self/exe',
    containers: [
      { name: 'itself', command: ['/proc/self/exe', '--version'] },
      { name: 'interpreter', ...script('printf "#!/proc/self/exe\\n" >/empty/run; chmod 755 /empty/run; /empty/run') },
      { name: 'memory', command: ['/proc/self/fd/3'] },
    ],
  },
  {
    name: 'a working directory of the host',
    like: 'CVE-2024-21626: leaked descriptors',
    containers: ['fd/3', 'fd/4', 'fd/7', 'cwd', 'root'].map((place) => ({
      name: place.replace('/', '-'),
      workingDir: `/proc/self/${place}`,
      ...script(`for up in . .. ../.. ../../.. ../../../..; do cat ./$up"$HOME_FILE"; done; ${look}`),
    })),
  },
  {
    name: 'a subPath that is a link',
    like: 'CVE-2017-1002101, CVE-2021-25741: subPath',
    initScript: `ln -s / /empty/evil; ln -s ${homeFile} /empty/file; ln -s ../../../../../../../../.. /empty/up; mkdir /empty/below; ln -s / /empty/below/evil`,
    containers: ['evil', 'up', 'below/evil'].map((subPath) => ({ name: subPath.replace('/', '-'), ...script(look), ...mounts(['empty', '/evil', subPath]) })),
  },
  {
    name: 'a mount target that is a link',
    like: 'CVE-2021-30465: mount targets',
    initScript: 'ln -s /proc /empty/proc; ln -s / /empty/root; ln -s /proc/self/fd/3 /empty/descriptor',
    containers: ['proc', 'root', 'descriptor'].map((name) => ({ name, ...script(look), ...mounts(['empty', '/empty'], ['payload', `/empty/${name}`]) })),
  },
  {
    name: 'a termination message that is a link',
    like: 'CVE-2021-25741: links that the kubelet follows',
    initScript: `ln -s ${homeFile} /empty/message`,
    containers: [
      { name: 'app', ...script('rm -f /dev/termination-log; ln -s "$HOME_FILE" /dev/termination-log; exit 0'), terminationMessagePath: '/empty/message' },
    ],
  },
  {
    name: 'devices of a volume',
    like: 'CVE-2025-31133, CVE-2025-52565: /dev/null and /dev/console',
    initScript: 'ln -s /proc/sys/kernel/core_pattern /empty/null; ln -s /proc/sysrq-trigger /empty/console; ln -s /proc /empty/pts; ln -s /proc/sys /empty/shm',
    containers: [
      { name: 'app', ...script(look), ...mounts(['empty', '/dev']) },
      { name: 'terminal', tty: true, ...script(look), ...mounts(['empty', '/dev']) },
    ],
  },
  {
    name: 'a volume in place of proc',
    like: 'CVE-2019-16884, CVE-2023-27561: /proc that is none',
    initScript: 'mkdir -p /empty/self/attr /empty/1 /empty/sys/kernel; ln -s / /empty/1/root; echo x >/empty/self/attr/exec',
    containers: ['/proc', '/sys', '/proc/self', '/sys/fs/cgroup'].map((place, index) => ({
      name: `place-${index}`,
      ...script(look),
      ...mounts(['empty', place]),
    })),
  },
  {
    name: 'links that a volume leaves behind',
    like: 'CVE-2017-1002102: deletion that follows links',
    initScript: `mkdir /empty/a; ln -s $(dirname ${homeFile}) /empty/a/home; ln -s / /empty/root`,
    containers: [{ name: 'app', ...script(look) }],
  },
  {
    name: 'a program with the setuid bit',
    like: 'allowPrivilegeEscalation: false',
    initScript: 'cp /usr/bin/id /empty/id; chmod 4755 /empty/id',
    initAsRoot: true,
    containers: [
      { name: 'app', ...script('[ "$(id -ru)" = 0 ] || [ "$(/empty/id -u)" != 0 ] || echo ESCAPED'), securityContext: { allowPrivilegeEscalation: false } },
      { name: 'permitted', ...script('echo "EUID $(/empty/id -u)"') },
    ],
  },
  {
    name: 'names for the runtime',
    like: 'CVE-2022-23648: paths of images, hostile names',
    containers: [
      {
        name: 'app',
        ...script(look),
        workingDir: '/../../../../..',
        env: [
          { name: 'MOOR_KEPT', value: abstractSocket },
          { name: 'NOTIFY_SOCKET', value: `@${abstractSocket}` },
        ],
      },
      { name: 'named', ...script(look), image: '../../../../../../etc/shadow' },
    ],
  },
];

/** Not privileged, but with `allowPrivilegeEscalation`: it shows that a program with the setuid bit works otherwise. */
export const setuidControl = { pod: 'a program with the setuid bit', container: 'permitted', says: 'EUID 0' };

export interface HostileUser {
  readonly suffix: string;
  readonly uid: number;
  /** The capabilities that it has at most, in hexadecimal. */
  readonly allowed: string;
}

const usual: Pick<Container, 'volumeMounts'> = mounts(['payload', '/payload'], ['empty', '/empty']);

/** The pod's definition for one of the users. `over`: for containers of a weakened pod. */
export function hostileSpec(
  { initScript, initAsRoot = false, containers, volumes = [] }: HostilePod,
  { uid, allowed }: HostileUser,
  homeFile: string,
): PodSpec {
  const env = [
    { name: 'ALLOWED', value: allowed },
    { name: 'HOME_FILE', value: homeFile },
  ];
  const complete = (container: HostileContainer): Container => ({ image: 'x', resources: {}, ...usual, ...container, env: [...env, ...(container.env ?? [])] });
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    securityContext: { runAsUser: uid },
    ...(initScript === undefined
      ? {}
      : { initContainers: [complete({ name: 'init', ...script(initScript), ...(initAsRoot ? { securityContext: { runAsUser: 0 } } : {}) })] }),
    containers: containers.map(complete),
    volumes: [{ name: 'payload', configMap: { name: 'payload', defaultMode: 0o755 } }, { name: 'empty', emptyDir: {} }, ...volumes],
  };
}
