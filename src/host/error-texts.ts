/** The texts of errno in the C library and in Go's syscall package. */
export const errorTexts: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EBUSY: 'device or resource busy',
  EDQUOT: 'disk quota exceeded',
  EINVAL: 'invalid argument',
  ENODEV: 'no such device',
  ENOMEM: 'cannot allocate memory',
  ENOSPC: 'no space left on device',
  EROFS: 'read-only file system',
  ELOOP: 'too many levels of symbolic links',
};
