import type { CommandGroup } from './command.ts';

/** `moor csi`: commands about CSI drivers. */
export const csiCommand: CommandGroup = {
  about: 'moor csi: commands about CSI drivers, which need no cluster.',
  commands: [
    {
      name: 'serve',
      summary: 'serve volumes of this machine as a CSI driver: image files, directories, or none (for tests)',
      load: async () => (await import('./csi-serve.ts')).csiServeCommand,
    },
    {
      name: 'test',
      summary: 'find the bugs of a CSI driver: specification, idempotency, crashes, lost answers, concurrency, leaks',
      load: async () => (await import('./csi-test.ts')).csiTestCommand,
    },
  ],
};
