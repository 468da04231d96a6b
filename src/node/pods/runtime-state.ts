/** What a container runtime knows of a pod: all that its status is made of besides its spec. Times are milliseconds since 1970. */
export interface RuntimeState {
  /** There is a place with a network in which containers can be started. */
  readonly sandbox: boolean;
  /** Empty: it has none yet, or uses the node's. */
  readonly ips: readonly string[];
  /** By the container's name; those of which something is known. */
  readonly containers: ReadonlyMap<string, ContainerRecord>;
}

export interface ContainerRecord {
  /** The last time that it ran; undefined: it never did. */
  readonly run: Run | undefined;
  /** How the time before that ended. */
  readonly previous: Exit | undefined;
  readonly restarts: number;
  readonly imageId: string;
  /** It runs, and has done what it does before it counts as started. */
  readonly started: boolean;
  readonly ready: boolean;
  /** Why it does not run although it should. */
  readonly waiting: Waiting | undefined;
}

export type Run = { readonly state: 'running'; readonly id: string; readonly image: string; readonly startedAt: number } | Exit;

export interface Exit {
  readonly state: 'exited';
  readonly id: string;
  readonly image: string;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  /** 'OOMKilled'; absent: as the exit code says, 'Completed' or 'Error'. */
  readonly reason?: string;
  /** What it left behind for people. */
  readonly message?: string;
}

export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

export const nothingRuns: RuntimeState = { sandbox: false, ips: [], containers: new Map() };

export const isRunning = (record: ContainerRecord | undefined): boolean => record?.run?.state === 'running';

export function hasExited(record: ContainerRecord | undefined): record is ContainerRecord & { readonly run: Exit } {
  return record?.run?.state === 'exited';
}
