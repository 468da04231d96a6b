import type { CommandEntry } from './command.ts';

/** Each command is loaded when it is run, so that `moor --help` loads none of them. */
export const allCommands: readonly CommandEntry[] = [
  {
    name: 'up',
    elsewhere: ['create', 'start', 'run', 'cluster', 'init'],
    summary: 'start a cluster, in the foreground or (--detach) in the background',
    load: async () => (await import('./up.ts')).upCommand,
  },
  {
    name: 'list',
    elsewhere: ['get', 'ls', 'ps', 'clusters'],
    summary: 'list the clusters of this machine',
    load: async () => (await import('./life-cycle/list.ts')).listCommand,
  },
  { name: 'status', summary: 'print whether a cluster runs, and where', load: async () => (await import('./life-cycle/status.ts')).statusCommand },
  {
    name: 'stop',
    summary: 'stop the server of a cluster; its pods keep running',
    load: async () => (await import('./life-cycle/stop.ts')).stopCommand,
  },
  {
    name: 'down',
    summary: 'stop a cluster and remove its pods, mounts, devices and networks; its data is kept',
    load: async () => (await import('./life-cycle/down.ts')).downCommand,
  },
  {
    name: 'delete',
    elsewhere: ['rm', 'remove', 'destroy'],
    summary: 'the same, and remove its data',
    load: async () => (await import('./life-cycle/delete.ts')).deleteCommand,
  },
  { name: 'logs', summary: 'print the log of a cluster in the background', load: async () => (await import('./life-cycle/logs.ts')).logsCommand },
  {
    name: 'kubeconfig',
    elsewhere: ['export', 'config'],
    summary: 'print the kubeconfig of a cluster',
    load: async () => (await import('./life-cycle/kubeconfig.ts')).kubeconfigCommand,
  },
  {
    name: 'load',
    summary: 'load the images of an archive (docker save, OCI image layout) for the pods of a cluster',
    load: async () => (await import('./images/load.ts')).loadCommand,
  },
  { name: 'images', summary: 'list the images of a cluster', load: async () => (await import('./images/images.ts')).imagesCommand },
  { name: 'cloud', summary: 'serve a cloud with the protocol of EC2 on this machine', load: async () => (await import('./cloud/cloud.ts')).cloudCommand },
  {
    name: 'server',
    summary: 'run an API server alone on etcd, on as many machines as you like',
    load: async () => (await import('./server.ts')).serverCommand,
  },
  {
    name: 'controllers',
    summary: 'run the controllers apart from the API server, in as many processes as you like',
    load: async () => (await import('./controllers.ts')).controllersCommand,
  },
  {
    name: 'scheduler',
    summary: 'run the scheduler apart from the API server, in as many processes as you like',
    load: async () => (await import('./scheduler.ts')).schedulerCommand,
  },
  {
    name: 'node',
    summary: 'make this machine a node of a cluster: its pods run here, with their volumes mounted',
    load: async () => (await import('./node.ts')).nodeCommand,
  },
  {
    name: 'why',
    elsewhere: ['explain', 'describe'],
    summary: 'list what is stuck, or explain why an object is in its state, and what would change that',
    load: async () => (await import('./why.ts')).whyCommand,
  },
  {
    name: 'top',
    summary: 'show claims, how full they are and what is stuck, in the terminal',
    load: async () => (await import('./dashboard/top.ts')).topCommand,
  },
  {
    name: 'dashboard',
    summary: 'open the dashboard of a cluster in the browser',
    load: async () => (await import('./dashboard/dashboard.ts')).dashboardCommand,
  },
  {
    name: 'simulate',
    summary: 'play a scenario on virtual time: what happens if a node dies, a zone fails, a storage backend fails?',
    load: async () => (await import('./simulate.ts')).simulateCommand,
  },
  {
    name: 'fuzz',
    aliases: ['sim'],
    summary: 'run random clusters with random faults, each from a seed, and check that no invariant breaks',
    load: async () => (await import('./fuzz.ts')).fuzzCommand,
  },
  {
    name: 'csi',
    summary: 'test a CSI driver without a cluster, or serve volumes of this machine as one',
    load: async () => (await import('./csi.ts')).csiCommand,
  },
  {
    name: 'envtest',
    summary: 'make a folder for KUBEBUILDER_ASSETS, so that test suites with envtest have storage',
    load: async () => (await import('./envtest/envtest.ts')).envtestCommand,
  },
  {
    name: 'audit',
    summary: 'list storage assets without an owner, and intents that no controller finishes',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  {
    name: 'store',
    summary: 'the store of a cluster: check and repair it, see its state, save it, move it to etcd and back',
    load: async () => (await import('./store/store.ts')).storeCommand,
  },
  {
    name: 'completion',
    summary: 'print a script that completes moor in bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completionCommand(allCommands),
  },
  { name: 'version', summary: 'print the version', load: async () => (await import('./version.ts')).versionCommand },
];
