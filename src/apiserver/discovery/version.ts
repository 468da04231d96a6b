/** The Kubernetes whose behaviour is served. */
const kubernetes = { major: '1', minor: '36', patch: '4' };

/** /version. Clients compare major and minor; people read gitVersion. */
export const versionDocument = (mooring: string): object => ({
  major: kubernetes.major,
  minor: kubernetes.minor,
  emulationMajor: kubernetes.major,
  emulationMinor: kubernetes.minor,
  minCompatibilityMajor: kubernetes.major,
  minCompatibilityMinor: String(Number(kubernetes.minor) - 1),
  gitVersion: `v${kubernetes.major}.${kubernetes.minor}.${kubernetes.patch}+mooring-${mooring}`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'typescript',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
});
