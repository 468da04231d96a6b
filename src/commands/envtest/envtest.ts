import type { CommandGroup } from '../command.ts';

/** `moor envtest`: Mooring in place of the programs that envtest starts. */
export const envtestCommand: CommandGroup = {
  about: 'moor envtest: test suites that start envtest have storage, namespaces that end, and garbage collection (docs/ENVTEST.md).',
  commands: [
    {
      name: 'install',
      summary: 'make a folder for KUBEBUILDER_ASSETS: kube-apiserver, etcd and kubectl',
      load: async () => (await import('./install.ts')).installCommand,
    },
    {
      name: 'kube-apiserver',
      summary: 'run as envtest runs kube-apiserver: the folder has a script that does',
      load: async () => (await import('./kube-apiserver.ts')).kubeApiServerCommand,
    },
    {
      name: 'etcd',
      summary: 'run as envtest runs etcd: it answers that it is healthy, and keeps nothing',
      load: async () => (await import('./etcd.ts')).etcdCommand,
    },
  ],
};
