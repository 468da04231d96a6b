/** What a check of the Pod Security Standards is, and the words that the messages of all of them share. */
import type { Container, EphemeralContainer, ObjectMeta, PodSpec } from '../../../../../api/generated/types.ts';

export interface CheckedPod {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
  readonly spec: PodSpec;
}

/** Why a pod is not allowed: 'hostPort', and 'container "a" uses hostPort 80'. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type CheckPod = (pod: CheckedPod) => Violation | undefined;

export interface Check {
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Each applies from its minor version on, until the next one does. */
  readonly versions: readonly { readonly since: number; readonly checkPod: CheckPod }[];
  /** Baseline checks that this one of the restricted level replaces wherever it applies. */
  readonly overrides?: readonly string[];
}

export type CheckedContainer = Container | EphemeralContainer;

/** In the order of messages: init containers come first. */
export const containersOf = ({ initContainers, containers, ephemeralContainers }: PodSpec): readonly CheckedContainer[] => [
  ...(initContainers ?? []),
  ...(containers ?? []),
  ...(ephemeralContainers ?? []),
];

/** Its containers' root is not the host's. */
export const isInUserNamespace = ({ hostUsers }: PodSpec): boolean => hostUsers === false;

export const isWindowsPod = ({ os }: PodSpec): boolean => os?.name === 'windows';

export const joinQuote = (items: readonly string[]): string => items.map((item) => `"${item}"`).join(', ');

export const pluralize = (singular: string, plural: string, count: number): string => (count === 1 ? singular : plural);

/** 'container "a"', 'containers "a", "b"' */
export const containersText = (names: readonly string[]): string => `${pluralize('container', 'containers', names.length)} ${joinQuote(names)}`;

/** 'pod', 'container "a"', 'pod and containers "a", "b"' */
export const settersText = (pod: boolean, containers: readonly string[]): string =>
  [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [containersText(containers)] : [])].join(' and ');

export const sortedSet = (items: Iterable<string>): readonly string[] => [...new Set(items)].sort();

/** The names of the containers for which something holds. */
export const namesWhere = (spec: PodSpec, holds: (container: CheckedContainer) => boolean): readonly string[] =>
  containersOf(spec)
    .filter(holds)
    .map(({ name }) => name);
