/** How the commands of `moor` end, for scripts. docs/COMMANDS.md has the same table, and each command's help its row. */
export const exitCodes = {
  success: 0,
  failure: 1,
  wrongUsage: 2,
  /** The command did its work, and what it is about is not in order. */
  notInOrder: 3,
} as const;

type Outcome = keyof typeof exitCodes;

export type ExitCode = (typeof exitCodes)[Outcome];

/** What the codes of one command mean. A command never ends with a code that it leaves out. */
export type ExitCodeMeanings = Readonly<Record<Exclude<Outcome, 'notInOrder'>, string> & { notInOrder?: string }>;

const wrongUsage = 'wrong command line';
const noCluster = 'there is no such cluster';
const server = { success: 'ended by a signal', wrongUsage };

/** By the words that follow `moor`. */
export const exitCodeTable: Readonly<Record<string, ExitCodeMeanings>> = {
  up: {
    success: 'ended by a signal; with --detach: it is ready',
    failure: 'it cannot start, or its data directory was removed',
    wrongUsage,
    notInOrder: 'its data is damaged, and was not changed',
  },
  list: { success: 'listed, also if there is none', failure: 'the directory of clusters cannot be read', wrongUsage },
  status: { success: 'it runs', failure: noCluster, wrongUsage, notInOrder: 'it does not run' },
  stop: { success: 'it does not run, or no longer', failure: `${noCluster}, or its process does not end`, wrongUsage },
  down: { success: 'nothing of it is left but its data', failure: `${noCluster}, or something of it cannot be ended or removed`, wrongUsage },
  delete: { success: 'nothing of it is left', failure: `${noCluster}, something of it cannot be ended or removed, or the answer was no`, wrongUsage },
  logs: { success: 'printed', failure: `${noCluster}, or it has no log`, wrongUsage },
  kubeconfig: { success: 'printed', failure: `${noCluster}, or its kubeconfig cannot be read`, wrongUsage },
  load: { success: 'loaded', failure: `${noCluster}, or the archive is refused: nothing was changed`, wrongUsage },
  images: { success: 'listed, also if there is none; with --remove: removed', failure: `${noCluster}, or no such image`, wrongUsage },
  cloud: { ...server, failure: 'it cannot start' },
  server: { ...server, failure: 'it cannot start' },
  controllers: { ...server, failure: 'an unexpected error' },
  scheduler: { ...server, failure: 'an unexpected error' },
  node: {
    success: 'ended by a signal; with --down: nothing of it is left but its data',
    failure: 'it cannot start; with --down: something of it cannot be ended or removed',
    wrongUsage,
    notInOrder: 'its files are damaged, and were not changed',
  },
  why: {
    success: 'nothing is stuck: it is fine, or a component takes care of it',
    failure: 'there is no such object, or the cluster does not answer',
    wrongUsage,
    notInOrder: 'it is stuck, or something is',
  },
  top: { success: 'printed, or ended by q', failure: 'the cluster does not answer', wrongUsage },
  dashboard: {
    success: 'its address is printed; if the page is served here: ended by a signal',
    failure: 'the cluster does not answer or knows no such user, or the page cannot be served',
    wrongUsage,
  },
  simulate: {
    success: 'every expectation held',
    failure: 'an expectation did not hold',
    wrongUsage: `${wrongUsage}, the file is not a scenario, or the cluster cannot be copied`,
  },
  fuzz: { success: 'no violations', failure: 'a violation, or a process that ran seeds died', wrongUsage },
  'csi test': {
    success: 'nothing failed (warnings are about SHOULD)',
    failure: 'something failed',
    wrongUsage,
    notInOrder: 'the driver cannot be started, or does not answer',
  },
  'csi serve': { ...server, failure: 'it cannot start' },
  'envtest install': { success: 'the folder is there', failure: 'it cannot be written', wrongUsage },
  'envtest kube-apiserver': { ...server, failure: 'it cannot start' },
  'envtest etcd': { ...server, failure: 'it cannot start' },
  audit: {
    success: 'every asset has an owner',
    failure: 'an asset has none or is missing, an intent makes no progress, or the cluster or a CSI driver does not answer',
    wrongUsage,
  },
  'store verify': { success: 'the data is sound', failure: 'that cannot be said', wrongUsage, notInOrder: 'the data is damaged' },
  'store repair': {
    success: 'the data is sound, or was repaired',
    failure: 'that cannot be said, or the repair was declined or failed',
    wrongUsage,
    notInOrder: 'the data is damaged',
  },
  'store status': {
    success: 'the store can be read and written',
    failure: 'that cannot be said',
    wrongUsage,
    notInOrder: 'a member does not answer, or has raised an alarm',
  },
  'store snapshot save': { success: 'saved', failure: 'nothing was saved', wrongUsage },
  'store snapshot restore': { success: 'restored, and compared with the file', failure: 'the file, or the place for it, is refused', wrongUsage },
  'store migrate': { success: 'all objects are in the other store, and were compared', failure: 'the cluster is where it was', wrongUsage },
  completion: { success: 'printed', failure: 'an unexpected error', wrongUsage },
  version: { success: 'printed', failure: 'an unexpected error', wrongUsage },
};

/** In order of the codes. */
export const meaningsOf = (command: string): readonly (readonly [code: ExitCode, meaning: string])[] =>
  Object.entries(exitCodeTable[command] ?? {})
    .map(([outcome, meaning]) => [exitCodes[outcome as Outcome], meaning] as const)
    .sort(([a], [b]) => a - b);
