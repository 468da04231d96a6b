import type { KubeObject } from '../../api/object.ts';
import { isRead, requestPath } from '../../api/request-info.ts';
import type { ApiRequest } from '../../apiserver/api.ts';
import { type ObservedChange, isRunning, type ObjectChange, type Watched, type WatchedKind } from '../invariants/facts.ts';

/** What really happened, in order, with the component that did it. */
export class FuzzTimeline {
  readonly lines: string[] = [];
  readonly #now: () => number;
  /** Pending writes, newest last: one of them caused each change. */
  readonly #underWay: ApiRequest[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  add(who: string, what: string): void {
    this.lines.push(`${clock(this.#now())}  ${who.padEnd(whoWidth)}  ${what}`);
  }

  /** For the server's `onRequest`. */
  readonly request = (request: ApiRequest): (() => void) => {
    if (isRead(request.info)) return () => undefined;
    this.#underWay.push(request);
    return () => void this.#underWay.splice(this.#underWay.indexOf(request), 1);
  };

  change(change: ObservedChange): void {
    if (
      change.type === 'fenced-write' ||
      change.type === 'call' ||
      change.type === 'expand-call' ||
      change.type === 'unplugged' ||
      change.type === 'scheduler-delete'
    )
      return;
    if (change.type === 'csi') {
      const { do: what, ...details } = change.event;
      return this.add('csi', `${what} ${change.id} ${JSON.stringify(details)}`);
    }
    if (change.type === 'machine') {
      const { event, node } = change;
      return this.add(node, event.do === 'start' ? `a container of pod ${event.podUid} starts` : `${event.do} ${event.target}`);
    }
    if (change.type === 'disk') {
      const { type, handle } = change.change;
      return this.add('backend', `disk ${handle} ${type}${'node' in change.change ? (type === 'attached' ? ' to ' : ' from ') + change.change.node : ''}`);
    }
    const what = difference(change);
    if (what !== '') this.add(this.#whoWrote(change), `${change.type} ${change.key} ${what}`);
  }

  #whoWrote({ key }: ObjectChange): string {
    const name = key.slice(key.indexOf('/') + 1);
    const request = this.#underWay.findLast(({ info, body }) => requestPath(info).split('/').includes(name) || isAbout(body, name)) ?? this.#underWay.at(-1);
    return request?.userAgent.replace(/^moor\//, '') ?? 'unknown';
  }
}

const whoWidth = 28;

function isAbout(body: ApiRequest['body'], name: string): boolean {
  if (body.type !== 'object') return false;
  const { metadata, volume, claim } = body.object as Partial<KubeObject> & { volume?: KubeObject; claim?: KubeObject };
  return [metadata, volume?.metadata, claim?.metadata].some((each) => each?.name === name);
}

/** '02:13.500' since the beginning. */
function clock(ms: number): string {
  const pad = (value: number, width: number) => String(value).padStart(width, '0');
  return `${pad(Math.floor(ms / 60_000), 2)}:${pad(Math.floor(ms / 1000) % 60, 2)}.${pad(Math.floor(ms) % 1000, 3)}`;
}

/** The differences worth a line; empty: none. */
function difference(change: ObjectChange): string {
  const { before, after } = change;
  if (after === undefined) return 'is gone';
  const [was, is] = [featuresOf(change, before), featuresOf(change, after)];
  const news = Object.entries(is).flatMap(([name, value]) =>
    value === was[name] || (before === undefined && value === '') ? [] : `${name} ${value === '' ? 'none' : value}`,
  );
  return before === undefined ? `is created ${news.join(', ')}`.trim() : news.join(', ');
}

type Features = Readonly<Record<string, string>>;

function featuresOf(change: ObjectChange, object: ObjectChange['after']): Features {
  if (object === undefined) return {};
  // The kind of the object is that of its change.
  const own = features[change.type] as (object: NonNullable<ObjectChange['after']>) => Features;
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return { ...own(object), deleted: deletionTimestamp === undefined ? '' : 'asked for', finalizers: finalizers.join(' ') };
}

const features: { readonly [K in WatchedKind]: (object: Watched[K]) => Features } = {
  volume: ({ spec, status }) => ({
    phase: status.phase ?? '',
    claim: spec.claimRef === undefined ? '' : `${spec.claimRef.name} ${spec.claimRef.uid ?? 'without uid'}`,
    policy: spec.persistentVolumeReclaimPolicy ?? '',
    capacity: spec.capacity?.['storage'] ?? '',
  }),
  claim: ({ spec, status }) => ({
    phase: status.phase ?? '',
    volume: spec.volumeName ?? '',
    asks: spec.resources.requests?.['storage'] ?? '',
    has: status.capacity?.['storage'] ?? '',
  }),
  pod: (pod) => ({ node: pod.spec.nodeName ?? '', phase: pod.status.phase ?? '', containers: isRunning(pod) ? 'running' : '' }),
  node: ({ spec, status }) => ({
    ready: status.conditions?.find(({ type }) => type === 'Ready')?.status ?? '',
    unschedulable: spec.unschedulable === true ? 'yes' : '',
    taints: (spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).join(' '),
    inUse: (status.volumesInUse ?? []).map(short).join(' '),
    attached: (status.volumesAttached ?? []).map(({ name }) => short(name)).join(' '),
  }),
  attachment: ({ spec, status }) => ({ of: spec.source.persistentVolumeName ?? '', node: spec.nodeName, attached: String(status?.attached ?? false) }),
  intent: ({ spec, status }) => ({ to: spec.operation, phase: status.phase }),
  set: ({ spec, status }) => ({ replicas: String(spec.replicas), ready: String(status.readyReplicas ?? 0) }),
  class: ({ reclaimPolicy, volumeBindingMode }) => ({ policy: reclaimPolicy ?? '', binding: volumeBindingMode ?? '' }),
  namespace: ({ status }) => ({ phase: status.phase ?? '' }),
  quota: ({ status }) => ({ used: JSON.stringify(status.used ?? {}) }),
  limits: () => ({}),
  account: () => ({}),
  csiNode: ({ spec }) => ({ drivers: (spec.drivers ?? []).map(({ name }) => name).join(' ') }),
  snapshot: ({ spec, status }) => ({
    of: spec.source.persistentVolumeClaimName ?? '',
    content: status?.boundVolumeSnapshotContentName ?? '',
    ready: String(status?.readyToUse ?? false),
    error: status?.error?.message ?? '',
  }),
  groupContent: ({ spec, status }) => ({
    handle: status?.volumeGroupSnapshotHandle ?? '',
    policy: spec.deletionPolicy,
    members: (status?.volumeSnapshotInfoList ?? []).map(({ snapshotHandle }) => snapshotHandle ?? '').join(' '),
  }),
  content: ({ spec, status }) => ({
    policy: spec.deletionPolicy,
    handle: status?.snapshotHandle ?? '',
    ready: String(status?.readyToUse ?? false),
    error: status?.error?.message ?? '',
  }),
};

/** 'kubernetes.io/csi/disks.example.com^disk-a' is disk-a. */
const short = (name: string): string => name.slice(name.lastIndexOf('^') + 1);
