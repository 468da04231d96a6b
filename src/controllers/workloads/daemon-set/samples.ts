/** DaemonSets, nodes, pods and revisions for unit tests. */
import type { ControllerRevision, DaemonSet, DaemonSetSpec, DaemonSetStatus, Node, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { templatePatch } from '../../pods/revisions.ts';
import type { DaemonSetSnapshot } from './decide.ts';
import type { FailureBackoff } from './failure-backoff.ts';

export const now = Date.parse('2026-11-16T12:00:00Z');
const labels = { app: 'driver' };
const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'driver', uid: 'set', controller: true, blockOwnerDeletion: true };

export const template = (image: string): DaemonSetSpec['template'] => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image, resources: {} }] } });

export const daemonSet = (spec: Partial<DaemonSetSpec> = {}, status: Partial<DaemonSetStatus> = {}): Stored<DaemonSet> => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'driver', namespace: 'team', uid: 'set', resourceVersion: '1', generation: 1 },
  spec: {
    selector: { matchLabels: labels },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
    template: template('v2'),
    ...spec,
  },
  status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0, observedGeneration: 1, ...status },
});

export const node = (name: string, spec: Node['spec'] = {}, of: Record<string, string> = {}): Stored<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name, resourceVersion: '1', labels: of },
  spec,
  status: {} as Node['status'],
});

interface PodOptions {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly deleted?: boolean;
  readonly waiting?: boolean;
  readonly created?: string;
}

/** A pod of the revision `hash`, bound to its node unless `waiting`. */
export function pod(
  name: string,
  on: string,
  hash: string,
  { phase = 'Running', ready = true, deleted = false, waiting = false, created = '10' }: PodOptions = {},
): Stored<Pod> {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [on] }] }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'team',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: `2026-11-16T11:00:${created}Z`,
      labels: { ...labels, 'controller-revision-hash': hash },
      ownerReferences: [owner],
      ...(deleted ? { deletionTimestamp: '2026-11-16T11:59:00Z' } : {}),
    },
    spec: {
      containers: [],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      ...(waiting ? {} : { nodeName: on }),
    },
    status: {
      phase,
      ...(ready ? { conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-11-16T11:30:00Z' }] } : {}),
    },
  };
}

export const revision = (number: number, image: string, hash = image): Stored<ControllerRevision> => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: {
    name: `driver-${hash}`,
    namespace: 'team',
    uid: `revision ${hash}`,
    resourceVersion: '1',
    labels: { ...labels, 'controller-revision-hash': hash },
    ownerReferences: [owner],
  },
  data: templatePatch(template(image)),
  revision: number,
});

export interface SampleObjects {
  readonly set?: Stored<DaemonSet>;
  readonly nodes?: readonly Stored<Node>[];
  readonly pods?: readonly Stored<Pod>[];
  readonly revisions?: readonly Stored<ControllerRevision>[];
  readonly failures?: ReadonlyMap<string, FailureBackoff>;
}

const history = [revision(1, 'v1'), revision(2, 'v2')];

export const snapshotOf = ({ set = daemonSet(), nodes = [], pods = [], revisions = history, failures = new Map() }: SampleObjects): DaemonSetSnapshot => ({
  set,
  candidates: pods,
  revisions,
  revisionNamed: (name) => revisions.find(({ metadata }) => metadata.name === name),
  nodes,
  failureOn: (key) => failures.get(key),
});
