/**
 * What runs containers, as the agent of a node sees it: `sandbox` runs them as processes of the host, `hollow` only pretends to. The calls are
 * CRI's, with streams instead of addresses to stream from. Containers continue when the agent ends, however it ends; the next agent
 * finds them by `recover`. Times are milliseconds since 1970.
 */
import type { Pod } from '../api/generated/types.ts';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { SessionFailure } from '../streams/contract.ts';
import type { Cancel } from '../world/world.ts';
import type { ContainerDevice, ContainerMount } from './contract.ts';

export interface Runtime {
  /** 'sandbox': ids of containers begin with it ('sandbox://…'). */
  readonly name: string;
  readonly version: string;
  /** Of a runtime without processes: how containers behave. Absent: probes and hooks run against the containers. */
  readonly scripted?: ScriptedContainers;

  /** Once, before anything else: everything that an earlier agent left, running or not. */
  recover(): Promise<readonly PodState[]>;
  /** The pod's state at this moment; undefined: it has no sandbox and no containers. */
  pod(uid: string): PodState | undefined;
  /** Calls back with the uid of a pod whenever its state has changed, until it is cancelled. */
  observe(listener: (uid: string) => void): Cancel;

  /** A sandbox with a network (and hostname, IPC) for the pod's containers. If it is there already, nothing happens. */
  startPod(spec: PodSandboxSpec): Promise<Result<PodSandbox>>;
  limitPod(uid: string, limits: ContainerLimits): Promise<Result<undefined>>;
  /** Kills the pod's containers and removes the sandbox; `pod` then still knows how containers ended. */
  stopPod(uid: string): Promise<void>;
  /** Forgets the pod, its containers and their logs. Only after `stopPod`. */
  removePod(uid: string): Promise<void>;

  /** Resolves once the container's own program has been started; its end is observed. */
  startContainer(spec: ContainerSpec): Promise<Result<ContainerRun>>;
  /** Asks with its stop signal, and kills every process of the container if it still runs after `graceMs`. Resolves once it has ended. */
  stopContainer(id: string, graceMs: number): Promise<void>;
  limitContainer(id: string, limits: ContainerLimits): Promise<Result<undefined>>;
  /** Forgets a container that has ended, and its log. */
  removeContainer(id: string): Promise<void>;

  /** Another program inside of a running container. */
  exec(id: string, options: ExecOptions): Promise<Result<Session>>;
  /** The standard streams of the container's own program. Its session's end is the program's. */
  attach(id: string, options: AttachOptions): Promise<Result<Session>>;
  /** A connection to a port of the pod's loopback. */
  connect(uid: string, port: number): Promise<Result<Duplex>>;

  /** The container's log files in CRI's format, oldest first; the last is the one that grows. */
  logFiles(id: string): Promise<readonly string[]>;
  /** Releases connections and timers; containers continue. */
  close(): Promise<void>;
}

export interface ScriptedContainers {
  /** What probes would find out about a run. A change is observed like any other. */
  readonly health: (id: string) => ContainerHealth;
  /** What is wrong with the annotations that script the pod. */
  readonly problems: (pod: Pod) => readonly string[];
}

/** The results of a run's probes. */
export interface ContainerHealth {
  /** The startup probe has succeeded, or there is none. */
  readonly started: boolean;
  readonly ready: boolean;
  /** The probe because of which the container has to be restarted. */
  readonly failed: 'liveness' | 'startup' | undefined;
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: RuntimeFailure };

export interface RuntimeFailure {
  /** `not-found`: no such container, or it does not run. `start`: its program cannot be started, which no retry changes. */
  readonly reason: 'not-found' | 'start' | 'unsupported' | 'failed';
  readonly message: string;
}

export interface PodSandboxSpec {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly hostname: string;
  /** The pod's own; undefined: it shares the host's network. */
  readonly address: string | undefined;
  /** Connections of the host from 127.0.0.1 are led to it, by node ports: only where a table drops what pods send to the host's loopback. */
  readonly fromHostLoopback?: boolean;
  readonly hostIpc: boolean;
  /** Its containers see each other's processes. */
  readonly sharesProcesses?: boolean;
  /** Kernel parameters of its namespaces: paths below /proc/sys, and values. */
  readonly sysctls?: readonly { readonly path: string; readonly value: string }[];
  /** Of all its containers together, with what running the pod costs. */
  readonly resources: ContainerLimits;
  /** All lines of /etc/resolv.conf; undefined: the host's. */
  readonly resolvConf: string | undefined;
  /** All lines of /etc/hosts; on the host's network, those after the host's own. */
  readonly hosts: string;
}

export interface PodSandbox {
  /** Empty: it shares the host's. */
  readonly ips: readonly string[];
}

export interface PodState {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined: there is none, or it was stopped. */
  readonly sandbox: PodSandbox | undefined;
  /** In the order in which they were started; of each container at least the latest two runs. */
  readonly runs: readonly ContainerRun[];
}

/** One time that a container ran. */
export interface ContainerRun {
  /** Without the runtime's name. */
  readonly id: string;
  /** Of the container. */
  readonly name: string;
  /** 0: for the first time in this pod. */
  readonly attempt: number;
  readonly image: string;
  /** Of its image; absent: the runtime has names of images only. */
  readonly imageId?: string;
  /** Ids of the images that are its volumes. */
  readonly imageVolumes?: readonly string[];
  readonly state: ContainerRunState;
}

export type ContainerRunState = { readonly type: 'running'; readonly startedAt: number } | ({ readonly type: 'exited' } & ContainerEnd);

export interface ContainerEnd {
  readonly startedAt: number;
  readonly finishedAt: number;
  /** 128 + signal if a signal ended it. */
  readonly exitCode: number;
  /** 'Completed', 'Error', 'OOMKilled', 'StartError' … */
  readonly reason: string;
  /** The content of its termination message file, or why it could not be started. */
  readonly message: string;
}

/** Everything is resolved: secrets, field references, `$(NAME)`, sub-paths. */
export interface ContainerSpec {
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly image: string;
  readonly imageId?: string;
  /** The directories of the image's layers, the uppermost first. Absent: the container sees files of the host. */
  readonly imageLayers?: readonly string[];
  /** Asks it to end; absent: SIGTERM. */
  readonly stopSignal?: number;
  /** With `args`: the whole command. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** In order; what comes last holds. */
  readonly env: readonly EnvVariable[];
  /** Empty: `/`. */
  readonly workingDir: string;
  readonly user: ContainerUser;
  readonly mounts: readonly ContainerMount[];
  /** Ids of the images among them. */
  readonly imageVolumes?: readonly string[];
  readonly devices: readonly ContainerDevice[];
  readonly resources: ContainerLimits;
  readonly readOnlyRoot: boolean;
  /** How much it may write to its root: its limit of ephemeral storage. Undefined: as much as the runtime permits. */
  readonly writableBytes?: number;
  readonly privileged: boolean;
  /** Beyond and below what runtimes give by default: 'NET_ADMIN', 'ALL'. */
  readonly capabilities: { readonly add: readonly string[]; readonly drop: readonly string[] };
  readonly noNewPrivileges: boolean;
  /** A filter of system calls: structures `sock_filter`, little endian, in base64. Undefined: unconfined. */
  readonly seccompFilter?: string;
  /** The kernel's AppArmor profile that the program is confined by; undefined: none. */
  readonly appArmorProfile?: string;
  /** `procMount: Unmasked`: it sees all of /proc, and may write what its user may. */
  readonly unmaskedProc?: boolean;
  readonly hostPid: boolean;
  /** The container of the same pod whose processes it shares; undefined: it has its own. */
  readonly processesOf?: string | undefined;
  /** Whether standard input stays open for attaching clients, and whether the first client that detaches closes it. */
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly terminationMessage: { readonly path: string; readonly orLastLog: boolean };
}

export interface EnvVariable {
  readonly name: string;
  readonly value: string;
}

export interface ContainerUser {
  /** Undefined: root. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  /** Supplemental groups, with fsGroup and those of volumes. */
  readonly groups: readonly number[];
}

/** Undefined: no limit. */
export interface ContainerLimits {
  readonly cpuMilli: number | undefined;
  readonly cpuRequestMilli: number | undefined;
  readonly memoryBytes: number | undefined;
}

export interface ExecOptions {
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly tty: boolean;
}

export interface AttachOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** A program's streams. The caller reads them to their end, or ends the session with `close`. */
export interface Session {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  /** Undefined: there is none, or a terminal makes one of both. */
  readonly stderr: Readable | undefined;
  resize(size: TerminalSize): void;
  /** The exit code; 128 + signal if a signal ended it. Or why the program could not be started. */
  readonly done: Promise<number | SessionFailure>;
  /** Hangs up: a program of `exec` is killed, a container goes on. */
  close(): void;
}

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}
