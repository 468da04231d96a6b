import { describe, expect, it } from 'vitest';
import { inZone, node, SmallCluster, zone } from '../../../test/scheduler/small-cluster.ts';
import { pod } from '../../../test/storage/objects.ts';
import type { Namespace, Pod, PodAffinityTerm } from '../../api/generated/types.ts';
import type { ClusterEvent } from '../framework.ts';
import { readPod } from '../pod-info.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';

const [hostname, far, close, repelled] = [
  'kubernetes.io/hostname',
  "unresolvable: node(s) didn't match pod affinity rules",
  "unschedulable: node(s) didn't match pod anti-affinity rules",
  "unschedulable: node(s) didn't satisfy existing pods anti-affinity rules",
];
const term = (app: string, topologyKey: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  labelSelector: { matchLabels: { app } },
  topologyKey,
  ...more,
});
type Affinity = NonNullable<Pod['spec']['affinity']>;
const near = (...terms: PodAffinityTerm[]): Affinity => ({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } });
const away = (...terms: PodAffinityTerm[]): Affinity => ({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } });

interface Made {
  readonly app?: string;
  readonly on?: string;
  readonly affinity?: Affinity;
  readonly namespace?: string;
}
const made = (name: string, { app, on, affinity, namespace = 'default' }: Made): Pod =>
  pod(name, [], {
    metadata: { namespace, name, ...(app === undefined ? {} : { labels: { app } }) },
    spec: { ...(on === undefined ? {} : { nodeName: on }), ...(affinity === undefined ? {} : { affinity }) },
  });
const namespace = (name: string, labels: Record<string, string>): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
  spec: {},
  status: {},
});

/** a1 and a2 in zone a, b1 in zone b, and a node without a zone. */
function makeCluster(...pods: readonly Pod[]): SmallCluster {
  const cluster = new SmallCluster([interPodAffinity]);
  cluster.set(node('a1', inZone('a')), node('a2', inZone('a')), node('b1', inZone('b')), node('lost'), ...pods);
  return cluster;
}
const each = (a1: string, a2: string, b1: string, lost: string) => ({ a1, a2, b1, lost });

describe('InterPodAffinity', () => {
  it.each([
    ['affinity to a pod, by host', near(term('db', hostname)), each('', far, far, far)],
    ['affinity to a pod, by zone', near(term('db', zone)), each('', '', far, far)],
    ['affinity without a matching pod', near(term('cache', zone)), each(far, far, far, far)],
    ['affinity by a label that no node has', near(term('db', 'rack')), each(far, far, far, far)],
    ['two affinity terms, one pod matches both', near(term('db', zone), term('db', hostname)), each('', far, far, far)],
    ['two affinity terms, no pod matches both', near(term('db', zone), term('queue', zone)), each(far, far, far, far)],
    ['anti-affinity to a pod, by host', away(term('db', hostname)), each(close, '', '', '')],
    ['anti-affinity by zone; nodes without the label pass', away(term('db', zone)), each(close, close, '', '')],
    ['two anti-affinity terms', away(term('db', hostname), term('queue', hostname)), each(close, '', close, '')],
  ])('a pod with %s', (_, affinity, verdicts) => {
    const cluster = makeCluster(made('db', { app: 'db', on: 'a1' }), made('queue', { app: 'queue', on: 'b1' }));
    expect(cluster.verdicts(made('web', { affinity }))).toEqual(verdicts);
  });

  it('the first pod of a group with affinity to itself fits on any node with the label', () => {
    const self = made('web', { app: 'web', affinity: near(term('web', zone)) });
    expect(makeCluster().verdicts(self)).toEqual(each('', '', '', far));
    expect(makeCluster(made('first', { app: 'web', on: 'b1' })).verdicts(self)).toEqual(each(far, far, '', far));
  });

  it('anti-affinity of existing pods counts', () => {
    const cluster = makeCluster(made('loner', { on: 'a1', affinity: away(term('web', zone)) }));
    expect(cluster.verdicts(made('web', { app: 'web' }))).toEqual(each(repelled, repelled, '', ''));
    expect(cluster.verdicts(made('other', { app: 'other' }))).toEqual(each('', '', '', ''));
    expect(cluster.verdicts(made('web', { app: 'web', namespace: 'elsewhere' }))).toEqual(each('', '', '', ''));
  });

  it('a term applies to the own namespace, to named ones, or to those that a selector matches', () => {
    const cluster = makeCluster(made('db', { app: 'db', on: 'a1', namespace: 'data' }));
    cluster.set(namespace('data', { team: 'storage' }), namespace('default', { team: 'web' }));
    const verdictFor = (more: Partial<PodAffinityTerm>) => cluster.verdicts(made('web', { affinity: near(term('db', hostname, more)) }));
    const found = each('', far, far, far);
    const none = each(far, far, far, far);
    expect(verdictFor({})).toEqual(none);
    expect(verdictFor({ namespaces: ['data'] })).toEqual(found);
    expect(verdictFor({ namespaceSelector: { matchLabels: { team: 'storage' } } })).toEqual(found);
    expect(verdictFor({ namespaceSelector: { matchLabels: { team: 'web' } } })).toEqual(none);
    expect(verdictFor({ namespaceSelector: {} })).toEqual(found);
    expect(verdictFor({ namespaces: ['other'], namespaceSelector: { matchLabels: { team: 'storage' } } })).toEqual(found);
  });

  it('the same holds for terms of existing pods', () => {
    const selecting = (more: Partial<PodAffinityTerm>) =>
      makeCluster(made('loner', { on: 'a1', namespace: 'data', affinity: away(term('web', hostname, more)) }));
    const cluster = selecting({ namespaceSelector: { matchLabels: { team: 'web' } } });
    cluster.set(namespace('default', { team: 'web' }));
    expect(cluster.verdicts(made('web', { app: 'web' }))).toEqual(each(repelled, '', '', ''));
    expect(selecting({}).verdicts(made('web', { app: 'web' }))).toEqual(each('', '', '', ''));
  });

  it('a term without a selector matches no pod', () => {
    const cluster = makeCluster(made('db', { app: 'db', on: 'a1' }));
    expect(cluster.verdicts(made('web', { affinity: away({ topologyKey: hostname }) }))).toEqual(each('', '', '', ''));
  });

  it('skips a pod without affinity in a cluster without affinity', () => {
    expect(makeCluster(made('db', { app: 'db', on: 'a1' })).verdicts(made('web', { app: 'web' }))).toBe('skip');
  });
});

describe('preferred pod affinity', () => {
  const scores = (cluster: SmallCluster, asking: Pod) => {
    const prepared = cluster.preFilter(asking);
    return prepared === 'skip' || 'code' in prepared ? prepared : prepared.score?.(cluster.cache.nodes);
  };
  const byName = (cluster: SmallCluster, asking: Pod) => {
    const found = scores(cluster, asking);
    return typeof found === 'object' && 'length' in found ? Object.fromEntries(cluster.cache.nodes.map(({ name }, i) => [name, found[i]])) : found;
  };

  it('of the incoming pod', () => {
    const cluster = makeCluster(made('db', { app: 'db', on: 'a1' }), made('noise', { app: 'noise', on: 'b1' }));
    const affinity: Affinity = {
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: term('db', zone) }] },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: term('noise', hostname) }] },
    };
    expect(byName(cluster, made('web', { affinity }))).toEqual({ a1: 100, a2: 100, b1: 0, lost: 50 });
  });

  it('of existing pods, their required terms included', () => {
    const likes: Affinity = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 4, podAffinityTerm: term('web', hostname) }] } };
    const cluster = makeCluster(made('fan', { on: 'a1', affinity: likes }), made('needy', { app: 'web', on: 'b1', affinity: near(term('web', hostname)) }));
    expect(byName(cluster, made('web', { app: 'web' }))).toEqual({ a1: 100, a2: 0, b1: 25, lost: 0 });
    expect(byName(cluster, made('other', { app: 'other' }))).toBeUndefined();
  });
});

describe('queueing hints of InterPodAffinity', () => {
  const waiting = readPod(made('web', { app: 'web', affinity: near(term('db', zone)) }));
  const shy = readPod(made('shy', { app: 'shy', affinity: away(term('db', zone)) }));
  const hint = (pod: typeof waiting, before: Pod | undefined, after: Pod | undefined) =>
    interPodAffinity.queueingHints?.hint(pod, { resource: 'pod', before, after } as ClusterEvent);
  const db = made('db', { app: 'db', on: 'a1' });
  const other = made('db', { app: 'other', on: 'a1' });

  it('a pod is created, deleted or relabelled', () => {
    expect(hint(waiting, undefined, db)).toBe(true);
    expect(hint(waiting, undefined, other)).toBe(false);
    expect(hint(waiting, other, db)).toBe(true);
    expect(hint(waiting, db, undefined)).toBe(false);
    expect(hint(shy, db, undefined)).toBe(true);
    expect(hint(shy, db, other)).toBe(true);
    expect(hint(shy, other, undefined)).toBe(false);
    expect(hint(shy, made('loner', { on: 'a1', affinity: away(term('shy', zone)) }), undefined)).toBe(true);
  });

  it('the labels of the pod itself change', () => {
    expect(hint(waiting, waiting.pod, made('web', { app: 'renamed', affinity: near(term('db', zone)) }))).toBe(true);
    expect(hint(waiting, waiting.pod, waiting.pod)).toBe(false);
  });
});
