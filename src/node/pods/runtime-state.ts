/** What a pod's status is made of, besides its spec. Times are milliseconds since 1970. */
export interface RuntimeState {
  /** The pod has its sandbox. */
  readonly sandbox: boolean;
  /** Empty: there are none yet, or the pod uses the node's. */
  readonly ips: readonly string[];
  /** By the container's name. */
  readonly containers: ReadonlyMap<string, ContainerRecord>;
}

export interface ContainerRecord {
  /** The latest run; undefined: the container never ran. */
  readonly run: Run | undefined;
  /** The end of the run before. */
  readonly previous: Exit | undefined;
  readonly restarts: number;
  readonly imageId: string;
  /** It runs, and its startup probe has succeeded. */
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
  /** Absent: 'Completed' or 'Error', by the exit code. */
  readonly reason?: string;
  /** The termination message. */
  readonly message?: string;
}

export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

export const nothingRuns: RuntimeState = { sandbox: false, ips: [], containers: new Map() };

export function hasExited(record: ContainerRecord | undefined): record is ContainerRecord & { readonly run: Exit } {
  return record?.run?.state === 'exited';
}
