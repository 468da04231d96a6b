/** Ways out of a container that worked in some runtime once, as data. */

export interface Attempt {
  readonly name: string;
  /** The CVE, or the class that it belongs to. */
  readonly like: string;
  /**
   * A script of sh(1) that prints ESCAPED and what it got, or what it read: secrets contain the canary. `$R` is where the host's root is mounted, which only the
   * privileged pod has; elsewhere it is empty. `prelude` has the other variables and functions.
   */
  readonly script: string;
  /**
   * Why a privileged pod with all namespaces of the host does not succeed either. Absent: it does, which shows that the script would notice; unless the host lacks this
   * path.
   */
  readonly undetected?: string;
  readonly needs?: string;
}

/** What the scripts look for. Paths are the host's. */
export interface Targets {
  /** Files with the canary: in /tmp, in a home directory, in /dev/shm, and in a volume of another pod. */
  readonly temporaryFile: string;
  readonly homeFile: string;
  readonly sharedMemoryFile: string;
  readonly volumeFile: string;
  readonly dataDir: string;
  readonly kubeconfig: string;
  /** The directory of another pod's volumes. */
  readonly otherPod: string;
  readonly socket: string;
  /** Without its leading zero. */
  readonly abstractSocket: string;
  /** A port of the host's loopback that sends the canary. */
  readonly port: number;
  /** A process of another pod, and the shim. */
  readonly otherProcess: number;
  readonly shim: number;
  /** Of a segment of System V shared memory. */
  readonly sharedMemoryKey: number;
  /** Of a key in the host's session keyring. */
  readonly keyName: string;
  /** 'major minor' */
  readonly disk: string;
}

/** `numbers`: of the machine's system calls. */
export const prelude = (targets: Targets, numbers: ReadonlyMap<string, number>): string => `
${Object.entries(targets)
  .map(([name, value]) => `${name}='${value}'`)
  .join('\n')}
number_of() {
  case $1 in
${[...numbers].map(([name, number]) => `    ${name}) echo ${number} ;;`).join('\n')}
    *) echo -1 ;;
  esac
}
# Prints the number of the error, or 0.
call() {
  number=$(number_of $1)
  shift
  perl -e 'my ($number, @args) = map { /^-?\\d+$/ ? $_ + 0 : $_ } @ARGV; my $r = syscall($number, @args); print $r < 0 ? 0 + $! : 0;' "$number" "$@"
}
# Whatever but EPERM, EACCES, ESRCH and ENOSYS says that the kernel would do it.
permitted() {
  case $(call "$@") in 1 | 3 | 13 | 38) ;; *) echo "ESCAPED $*" ;; esac
}
# Opens files for writing, and writes nothing.
writable() {
  for file in "$@"; do [ -e "$file" ] && (: >>"$file") && echo "ESCAPED writes $file"; done
}
content() {
  for file in "$@"; do [ -n "$(head -c 64 "$file" | tr -d '\\0')" ] && echo "ESCAPED reads $file"; done
}
`;
