import type { SystemCall } from '../../node/runtimes/sandbox/init/program.ts';

/** The architectures that an init can be made for. */
export type InitArchitecture = 'x64' | 'arm64';

/** The numbers of the system calls. */
export const systemCalls: Readonly<Record<SystemCall, Readonly<Record<InitArchitecture, number>>>> = {
  capset: { x64: 126, arm64: 91 },
  chdir: { x64: 80, arm64: 49 },
  clone: { x64: 56, arm64: 220 },
  close_range: { x64: 436, arm64: 436 },
  dup3: { x64: 292, arm64: 24 },
  execve: { x64: 59, arm64: 221 },
  exit_group: { x64: 231, arm64: 94 },
  fchdir: { x64: 81, arm64: 50 },
  fchown: { x64: 93, arm64: 55 },
  ioctl: { x64: 16, arm64: 29 },
  keyctl: { x64: 250, arm64: 219 },
  mount: { x64: 165, arm64: 40 },
  openat: { x64: 257, arm64: 56 },
  openat2: { x64: 437, arm64: 437 },
  pivot_root: { x64: 155, arm64: 41 },
  ppoll: { x64: 271, arm64: 73 },
  prctl: { x64: 157, arm64: 167 },
  read: { x64: 0, arm64: 63 },
  rt_sigaction: { x64: 13, arm64: 134 },
  rt_sigprocmask: { x64: 14, arm64: 135 },
  seccomp: { x64: 317, arm64: 277 },
  setgroups: { x64: 116, arm64: 159 },
  sethostname: { x64: 170, arm64: 161 },
  setns: { x64: 308, arm64: 268 },
  setresgid: { x64: 119, arm64: 149 },
  setresuid: { x64: 117, arm64: 147 },
  setsid: { x64: 112, arm64: 157 },
  socket: { x64: 41, arm64: 198 },
  umask: { x64: 95, arm64: 166 },
  umount2: { x64: 166, arm64: 39 },
  unshare: { x64: 272, arm64: 97 },
  waitid: { x64: 247, arm64: 95 },
  write: { x64: 1, arm64: 64 },
};
