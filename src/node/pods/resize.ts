/** In-place resize of a pod, with the kubelet's messages (pkg/kubelet/allocation). */
import type { Container, Pod, PodSpec, ResourceRequirements } from '../../api/generated/types.ts';
import { sameMeaning } from '../../api/validation/semantic-equality.ts';
import { type AdmissionSnapshot, shortage } from './admission.ts';
import { isResizePending, statusesOf, specBeforeResize } from './allocated-resources.ts';
import type { Failure } from './status/pod-status.ts';

export interface Allocation<T extends Pod = Pod> {
  /** The pod with its allocated resources: those of its spec, or while there is no capacity for them, those that it had. */
  readonly pod: T;
  /** Running containers whose resources change now. */
  readonly changed: readonly Resized[];
  /** The pod gets other resources than before. */
  readonly isGiven: boolean;
  /** Why the resize is pending. */
  readonly pending?: Failure;
  /** To be recorded. */
  readonly events: readonly (Failure & { readonly type: 'Normal' | 'Warning' })[];
}

export interface Resized {
  readonly container: Container;
  /** The container has to be restarted for that. */
  readonly restarts: boolean;
}

/**
 * The status has the resources of running containers; the spec, those that they should have. With enough capacity on the node they get them at once.
 * Otherwise the resize is deferred, and decided again whenever a pod of the node changes.
 */
export function allocate<T extends Pod>(
  snapshot: Omit<AdmissionSnapshot, 'others' | 'pod'> & { readonly pod: T; readonly others: () => readonly Pod[] },
): Allocation<T> {
  const { pod } = snapshot;
  const had = specBeforeResize(pod);
  if (had === undefined) return { pod, changed: [], isGiven: false, events: [] };
  const lacking = shortage({ ...snapshot, others: snapshot.others() });
  if (lacking !== undefined) {
    const pending = { reason: 'Deferred', message: lacking.message };
    return {
      pod: { ...pod, spec: had },
      changed: [],
      isGiven: false,
      pending,
      events: isResizePending(pod) ? [] : [{ type: 'Warning', ...pendingMessage(pod, lacking) }],
    };
  }
  const changed = changedContainers(pod, had);
  const events = ['started', 'completed'].map(
    (how) => ({ type: 'Normal', reason: how === 'started' ? 'ResizeStarted' : 'ResizeCompleted', message: resizeMessage(pod, how) }) as const,
  );
  return { pod, changed, isGiven: true, events };
}

const lists = ['initContainers', 'containers'] as const;

function changedContainers({ spec, status }: Pod, had: PodSpec): Resized[] {
  const running = statusesOf([...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].filter(({ state }) => state.running !== undefined));
  return lists.flatMap((list) =>
    (spec[list] ?? []).flatMap((container, i) => {
      const before = had[list]?.[i]?.resources ?? {};
      if (!running.has(container.name) || sameMeaning(before, container.resources)) return [];
      return [{ container, restarts: mustRestart(container, before) }];
    }),
  );
}

function mustRestart({ resources, resizePolicy = [] }: Container, before: ResourceRequirements): boolean {
  return resizePolicy.some(({ resourceName: name, restartPolicy }) => {
    const isOther = (['limits', 'requests'] as const).some(
      (list) => !sameMeaning({ limits: pick(resources[list], name) }, { limits: pick(before[list], name) }),
    );
    return restartPolicy === 'RestartContainer' && isOther;
  });
}

const pick = (amounts: Readonly<Record<string, string>> = {}, name: string): Readonly<Record<string, string>> =>
  amounts[name] === undefined ? {} : { [name]: amounts[name] };

const pendingMessage = (pod: Pod, { reason, message }: Failure): Failure => ({ reason: 'ResizeDeferred', message: resizeMessage(pod, reason, message) });

/** 'Pod resize started: {"containers":[…],"generation":2}' */
function resizeMessage({ metadata, spec }: Pod, how: string, error = ''): string {
  const summary = (containers: readonly Container[] | null | undefined) =>
    (containers ?? []).map(({ name, resources }) => ({ name, resources: ordered(resources) }));
  const [init, regular] = [summary(spec.initContainers), summary(spec.containers)];
  const all = {
    ...(init.length === 0 ? {} : { initContainers: init }),
    ...(regular.length === 0 ? {} : { containers: regular }),
    generation: metadata.generation ?? 0,
    ...(error === '' ? {} : { error }),
  };
  return `Pod resize ${how}: ${JSON.stringify(all)}`;
}

/** Limits first and names in order, as Go prints them. */
function ordered({ limits, requests }: ResourceRequirements): object {
  const sorted = (amounts: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...(limits === undefined ? {} : { limits: sorted(limits) }), ...(requests === undefined ? {} : { requests: sorted(requests) }) };
}
