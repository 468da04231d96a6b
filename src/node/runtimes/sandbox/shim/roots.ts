import type { ContainerRoot } from '../container-root.ts';

/** Makes the root file systems of containers. */
export interface RootMaker {
  /** In the mount namespace of a process, which is in the new root afterwards. Resolves with the error; '': none. */
  make(pid: number, root: ContainerRoot): Promise<string>;
}
