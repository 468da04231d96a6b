/** Containers that do not run: crash loops, images that cannot be pulled, configuration that is missing. */
import type { ContainerStateTerminated, ContainerStatus, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Diagnosis, Fact } from '../explanation/explanation.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { timeOf } from '../explanation/timestamps.ts';
import { plural, quoted } from '../explanation/words.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

export interface ContainerTrouble {
  readonly type: 'crash' | 'image' | 'config';
  readonly status: ContainerStatus;
  /** As `kubectl get pods` shows it: 'CrashLoopBackOff'. */
  readonly state: string;
  /** The container ends before the others begin. */
  readonly isInit: boolean;
}

/** The first container that keeps the pod from running; undefined: there is none. */
export function containerTrouble({ spec, status }: Stored<Pod>, now: number): ContainerTrouble | undefined {
  const restarts = spec.restartPolicy !== 'Never';
  for (const [isInit, statuses] of [
    [true, status.initContainerStatuses ?? []],
    [false, status.containerStatuses ?? []],
  ] as const) {
    for (const each of statuses) {
      const { waiting, terminated } = each.state;
      const type = troubles[waiting?.reason ?? ''];
      if (type !== undefined) return { type, status: each, state: waiting?.reason ?? '', isInit };
      if (terminated !== undefined && restarts && terminated.exitCode !== 0)
        return { type: 'crash', status: each, state: terminated.reason ?? 'Error', isInit };
      if (restarts && isRestartedOften(each, now)) return { type: 'crash', status: each, state: 'Restarting', isInit };
    }
  }
  return undefined;
}

const troubles: Readonly<Record<string, ContainerTrouble['type'] | undefined>> = {
  CrashLoopBackOff: 'crash',
  RunContainerError: 'crash',
  StartError: 'crash',
  ErrImagePull: 'image',
  ImagePullBackOff: 'image',
  InvalidImageName: 'image',
  ErrImageNeverPull: 'image',
  ImageInspectError: 'image',
  CreateContainerConfigError: 'config',
  CreateContainerError: 'config',
};

/** It runs at this moment, but ended with a failure shortly before, and not for the first time. */
function isRestartedOften({ restartCount, lastState }: ContainerStatus, now: number): boolean {
  const ended = timeOf(lastState.terminated?.finishedAt);
  return restartCount >= 2 && lastState.terminated?.exitCode !== 0 && ended !== undefined && now - ended < restartedLatelyMs;
}

const restartedLatelyMs = 60_000;

export function diagnoseContainers(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis | undefined {
  const trouble = containerTrouble(pod, graph.now);
  if (trouble === undefined) return undefined;
  switch (trouble.type) {
    case 'crash':
      return crash(pod, trouble, graph);
    case 'image':
      return image(pod, trouble);
    case 'config':
      return config(pod, trouble);
  }
}

const named = ({ status, isInit }: ContainerTrouble): string => `${isInit ? 'Init container' : 'Container'} ${quoted(status.name)}`;

function crash(pod: Stored<Pod>, trouble: ContainerTrouble, graph: ObjectGraph): Diagnosis {
  const { namespace, name } = pod.metadata;
  const { state, lastState, restartCount, name: container } = trouble.status;
  const ended = state.terminated ?? lastState.terminated;
  const log = graph.logOf(pod, container);
  const howOften = restartCount === 0 ? '' : `, ${plural(restartCount, 'restart')} so far`;
  const isDone = ended?.exitCode === 0;
  return {
    verdict: 'stuck',
    code: 'CrashLoop',
    summary: `${named(trouble)} ${isDone ? 'ends, and is started again each time' : 'crashes'}${ended === undefined ? '' : `: ${ending(ended)}`}${howOften}.${claimsOfPod(pod).length === 0 ? '' : ' Its volumes are mounted.'}`,
    facts: [
      ...(ended === undefined ? [] : [{ label: 'exit code', text: `${ended.exitCode}${ended.reason === undefined ? '' : ` (${ended.reason})`}` }]),
      ...(ended?.message === undefined ? [] : [{ label: 'message', text: ended.message.trim() }]),
      ...(state.waiting?.message === undefined ? [] : [{ label: 'back-off', text: state.waiting.message }]),
      ...logFacts(log),
    ],
    fixes: [
      { text: `read the whole log of the container's last run`, commands: [kubectl(namespace, 'logs', name, '-c', container, '--previous')] },
      ...(isDone ? [{ text: 'a program that ends by itself belongs into a Job, or needs restartPolicy OnFailure', commands: [] }] : []),
    ],
    next: { who: 'you', does: `correct the program, its arguments or its configuration; node/${pod.spec.nodeName ?? ''} starts it again by itself` },
  };
}

/** 'it ended with exit code 137 (killed by signal 9: out of memory)' */
function ending({ exitCode, reason, signal }: ContainerStateTerminated): string {
  const number = signal ?? (exitCode > 128 && exitCode < 160 ? exitCode - 128 : undefined);
  const why = reason === 'OOMKilled' ? 'it used more memory than its limit' : number === undefined ? meanings[exitCode] : `killed by signal ${number}`;
  return `it ended with exit code ${exitCode}${why === undefined ? '' : ` (${why})`}`;
}

const meanings: Readonly<Record<number, string>> = { 126: 'its command cannot be executed', 127: 'its command was not found' };

/** The last lines, one below the other. */
const logFacts = (lines: readonly string[] | undefined): readonly Fact[] =>
  (lines ?? []).map((text, i) => ({ label: i === 0 ? 'last log' : '', text: text === '' ? '(an empty line)' : text }));

function image(pod: Stored<Pod>, trouble: ContainerTrouble): Diagnosis {
  const { status } = trouble;
  const given = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])].find(({ name }) => name === status.name)?.image ?? status.image;
  const { message } = status.state.waiting ?? {};
  return {
    verdict: 'stuck',
    code: 'ImageUnavailable',
    summary: `${named(trouble)} cannot start: node/${pod.spec.nodeName ?? ''} does not get its image ${quoted(given)}${message === undefined ? '' : `: ${message}`}.`,
    fixes: [{ text: "correct the image's name, or what its registry needs (imagePullSecrets)", commands: [] }],
    next: { who: 'you', does: 'correct the image; the node tries again by itself' },
  };
}

function config(pod: Stored<Pod>, trouble: ContainerTrouble): Diagnosis {
  const { namespace, name } = pod.metadata;
  const { message } = trouble.status.state.waiting ?? {};
  return {
    verdict: 'stuck',
    code: 'ContainerNotCreated',
    summary: `${named(trouble)} cannot be created${message === undefined ? '' : `: ${message}`}.`,
    fixes: [{ text: 'create what it refers to, or correct the reference', commands: [kubectl(namespace, 'describe', 'pod', name)] }],
    next: { who: 'you', does: 'change that; the node tries again by itself' },
  };
}
