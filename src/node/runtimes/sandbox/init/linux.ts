/** Numbers of Linux' interfaces, the same on all architectures of an init. */
export const errors = { EPERM: 1, ENOENT: 2, EACCES: 13, EFAULT: 14, ENOTDIR: 20, EINVAL: 22, ENAMETOOLONG: 36, ENOSYS: 38, ELOOP: 40 } as const;

/** Of clone(2), unshare(2) and setns(2). */
export const clone = {
  vm: 0x100,
  files: 0x400,
  vfork: 0x4000,
  parent: 0x8000,
  newMounts: 0x2_0000,
  setParentThreadId: 0x10_0000,
  newControlGroup: 0x200_0000,
  newHostname: 0x400_0000,
  newIpc: 0x800_0000,
  newProcesses: 0x2000_0000,
  newNetwork: 0x4000_0000,
} as const;

export const signals = { kill: 9, child: 17, stop: 19, last: 64 } as const;

export const processControl = { setParentDeathSignal: 1, setDumpable: 4, dropFromBoundingSet: 24, setNoNewPrivileges: 38 } as const;

export const openFlags = { writeOnly: 0o1, readWrite: 0o2, noTerminal: 0o400, directory: 0o200_000, closeOnExec: 0o2_000_000, path: 0o10_000_000 } as const;
export const resolveFlags = { noMagicLinks: 2, noLinks: 4 } as const;
/** Of ioctl(2). */
export const terminalControl = { unlock: 0x4004_5431, openPeer: 0x5441, makeControlling: 0x540e } as const;
export const currentDirectory = -100;

export const detach = 2;
export const mountFlags = { readOnly: 1, noSetuid: 2, noDevices: 4, noExecution: 8, recursive: 0x4000, private: 0x4_0000, slave: 0x8_0000 } as const;

export const closeOnExec = 4;
export const allDescriptors = 0xffff_ffff;
export const joinSessionKeyring = 1;
export const setModeFilter = 1;
export const setSignalMask = 2;
export const ignoreSignal = 1;
export const wait = { forProcess: 1, untilEnded: 4, unreaped: 0x100_0000 } as const;
export const capabilityVersion = 0x2008_0522;
