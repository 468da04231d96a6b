import type { ContainerRoot } from '../container-root.ts';

/** Whoever makes the roots of containers. */
export interface RootMaker {
  /** In the mounts of a process of the host, which is in the new root afterwards. Resolves with what is wrong; '': nothing. */
  make(pid: number, root: ContainerRoot): Promise<string>;
}
