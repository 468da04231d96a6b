/** Names of kernel parameters. */

/** With dots as separators. The first separator decides whether dots or slashes separate. */
export const dottedSysctl = (name: string): string =>
  /[./]/.exec(name)?.[0] === '/' ? name.replaceAll(/[./]/g, (found) => (found === '/' ? '.' : '/')) : name;

const ipcSysctls: ReadonlySet<string> = new Set([
  'kernel.sem',
  ...['all', 'max', 'mni', '_rmid_forced', ''].map((rest) => `kernel.shm${rest}`),
  ...['max', 'mnb', 'mni', ''].map((rest) => `kernel.msg${rest}`),
]);

/** The namespace in which a kernel parameter has its own value. */
export function sysctlNamespace(name: string): 'net' | 'ipc' | undefined {
  const dotted = dottedSysctl(name);
  if (dotted.startsWith('net.')) return 'net';
  return ipcSysctls.has(dotted) || dotted.startsWith('fs.mqueue.') ? 'ipc' : undefined;
}
