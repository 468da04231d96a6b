import type { CommandGroup } from '../command.ts';

/** `moor store`: commands about the store of a cluster. */
export const storeCommand: CommandGroup = {
  about: 'moor store: commands about the store of a cluster, embedded in its data directory or in etcd.',
  commands: [
    {
      name: 'verify',
      summary: 'check the data directory of a cluster that does not run',
      load: async () => (await import('./verify.ts')).storeVerifyCommand,
    },
    {
      name: 'repair',
      summary: 'repair a damaged data directory: what would be lost is stated first',
      load: async () => (await import('./verify.ts')).storeRepairCommand,
    },
    {
      name: 'status',
      summary: 'print members, leader, size, revisions and alarms of etcd, or the state of an embedded store',
      load: async () => (await import('./status.ts')).storeStatusCommand,
    },
    { name: 'snapshot', summary: 'save all objects to a file, or restore them', load: async () => (await import('./snapshot.ts')).storeSnapshotCommand },
    {
      name: 'migrate',
      summary: 'move a cluster that does not run from the embedded store to etcd, or back',
      load: async () => (await import('./migrate.ts')).storeMigrateCommand,
    },
  ],
};
