import { describe, expect, it } from 'vitest';
import { node, SmallCluster } from '../../../test/scheduler/small-cluster.ts';
import { pod } from '../../../test/storage/objects.ts';
import type { Container, Node, Pod } from '../../api/generated/types.ts';
import { readPod } from '../pod-info.ts';
import { dynamicResources } from './dynamic-resources.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { taintToleration } from './taint-toleration.ts';

const web = (spec: Partial<Pod['spec']> = {}): Pod => pod('web', [], { spec });
const withSpec = (made: Node, spec: Partial<Node['spec']>): Node => ({ ...made, spec: { ...made.spec, ...spec } });

describe('NodeName', () => {
  it('accepts only the node that the pod names', () => {
    const cluster = new SmallCluster([nodeName]);
    cluster.set(node('n1'), node('n2'));
    expect(cluster.verdicts(web())).toBe('skip');
    expect(cluster.verdicts(web({ nodeName: 'n2' }))).toEqual({ n1: "unresolvable: node(s) didn't match the requested node name", n2: '' });
  });
});

describe('DynamicResources', () => {
  it('keeps a pod waiting that asks for devices', () => {
    const cluster = new SmallCluster([dynamicResources]);
    cluster.set(node('n1'));
    expect(cluster.verdicts(web())).toBe('skip');
    const asking = web({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] });
    expect(dynamicResources.preFilter(readPod(asking), cluster.cache)).toMatchObject({
      code: 'unresolvable',
      reasons: [{ text: 'cannot allocate all claims' }],
    });
  });
});

describe('NodeUnschedulable', () => {
  const cluster = new SmallCluster([nodeUnschedulable]);
  cluster.set(node('n1'), withSpec(node('n2'), { unschedulable: true }));

  it('rejects cordoned nodes', () => {
    expect(cluster.verdicts(web())).toEqual({ n1: '', n2: 'unresolvable: node(s) were unschedulable' });
  });

  it.each([{ operator: 'Exists' }, { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }])(
    'but skips pods that tolerate the taint: %j',
    (toleration) => {
      expect(cluster.verdicts(web({ tolerations: [toleration] }))).toBe('skip');
    },
  );
});

describe('TaintToleration', () => {
  const cluster = new SmallCluster([taintToleration]);
  const taint = { key: 'gpu', value: 'yes' };
  cluster.set(
    node('plain'),
    withSpec(node('hard'), { taints: [{ ...taint, effect: 'NoSchedule' }] }),
    withSpec(node('harder'), { taints: [{ ...taint, effect: 'NoExecute' }] }),
    withSpec(node('soft'), { taints: [{ ...taint, effect: 'PreferNoSchedule' }] }),
  );
  const repelled = 'unresolvable: node(s) had untolerated taint(s)';

  it.each([
    ['nothing', [], { plain: '', hard: repelled, harder: repelled, soft: '' }],
    ['the key', [{ key: 'gpu', operator: 'Exists' }], { plain: '', hard: '', harder: '', soft: '' }],
    ['the key and value', [{ key: 'gpu', operator: 'Equal', value: 'yes' }], { plain: '', hard: '', harder: '', soft: '' }],
    ['another value', [{ key: 'gpu', operator: 'Equal', value: 'no' }], { plain: '', hard: repelled, harder: repelled, soft: '' }],
    ['one effect', [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }], { plain: '', hard: '', harder: repelled, soft: '' }],
    ['everything', [{ operator: 'Exists' }], { plain: '', hard: '', harder: '', soft: '' }],
  ])('a pod that tolerates %s', (_, tolerations, verdicts) => {
    expect(cluster.verdicts(web({ tolerations }))).toEqual(verdicts);
  });

  it('prefers nodes without PreferNoSchedule taints', () => {
    const nodes = cluster.cache.nodes.filter(({ name }) => name === 'plain' || name === 'soft');
    expect(cluster.cycle(web()).score?.(nodes)).toEqual([100, 0]);
    expect(cluster.cycle(web({ tolerations: [{ operator: 'Exists' }] })).score?.(nodes)).toEqual([100, 100]);
    expect(cluster.cycle(web()).score?.(nodes.filter(({ name }) => name === 'plain'))).toBeUndefined();
  });

  it('names the taint', () => {
    const hard = cluster.cache.node('hard');
    const verdict = hard === undefined ? undefined : cluster.cycle(web()).filter?.(hard);
    const [reason] = verdict !== undefined && 'reasons' in verdict ? verdict.reasons : [];
    expect(reason?.detail?.().found).toBe('has taint gpu=yes:NoSchedule, which the pod does not tolerate');
  });
});

describe('NodeAffinity', () => {
  const cluster = new SmallCluster([nodeAffinity]);
  cluster.set(node('n1', { disk: 'ssd', cores: '8' }), node('n2', { disk: 'hdd', cores: '16' }), node('n3'));
  const mismatch = "unresolvable: node(s) didn't match Pod's node affinity/selector";
  const only = (...names: readonly string[]) => Object.fromEntries(['n1', 'n2', 'n3'].map((name) => [name, names.includes(name) ? '' : mismatch]));
  const required = (...terms: readonly object[]): Pod =>
    web({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [...terms] } } } });
  const label = (key: string, operator: string, ...values: string[]) => ({ matchExpressions: [{ key, operator, values }] });
  const named = (operator: string, ...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator, values }] });

  it.each([
    ['a selector', web({ nodeSelector: { disk: 'ssd' } }), only('n1')],
    ['a selector that no node matches', web({ nodeSelector: { disk: 'tape' } }), only()],
    ['In', required(label('disk', 'In', 'ssd', 'hdd')), only('n1', 'n2')],
    ['NotIn, which nodes without the label match', required(label('disk', 'NotIn', 'ssd')), only('n2', 'n3')],
    ['Exists', required(label('disk', 'Exists')), only('n1', 'n2')],
    ['DoesNotExist', required(label('disk', 'DoesNotExist')), only('n3')],
    ['Gt', required(label('cores', 'Gt', '8')), only('n2')],
    ['Lt', required(label('cores', 'Lt', '16')), only('n1')],
    ['alternatives', required(label('disk', 'In', 'ssd'), label('cores', 'Gt', '8')), only('n1', 'n2')],
    ['an empty term, which no node matches', required({}), only()],
    ['an invalid term', required(label('cores', 'Gt', 'many')), only()],
    ['an excluded name', required(named('NotIn', 'n1')), only('n2', 'n3')],
    ['both a selector and affinity', web({ ...required(label('disk', 'Exists')).spec, nodeSelector: { cores: '16' } }), only('n2')],
  ])('%s', (_, asking, verdicts) => {
    expect(cluster.verdicts(asking)).toEqual(verdicts);
  });

  it('skips pods without node affinity', () => {
    expect(cluster.verdicts(web())).toBe('skip');
  });

  it('restricts the nodes to the names in all terms', () => {
    expect(cluster.cycle(required(named('In', 'n2'))).nodeNames).toEqual(new Set(['n2']));
    expect(cluster.cycle(required(named('In', 'n2'), named('In', 'n3'))).nodeNames).toEqual(new Set(['n2', 'n3']));
    expect(cluster.cycle(required(named('In', 'n2'), label('disk', 'Exists'))).nodeNames).toBeUndefined();
    const twice = { matchFields: [...named('In', 'n1').matchFields, ...named('In', 'n2').matchFields] };
    expect(cluster.verdicts(required(twice))).toBe('unresolvable: pod affinity terms conflict');
  });

  it('scores nodes by the weight of the preferences that they match', () => {
    const preferred = web({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, preference: label('disk', 'Exists') },
            { weight: 30, preference: label('cores', 'Gt', '8') },
          ],
        },
      },
    });
    expect(cluster.cycle(preferred).score?.(cluster.cache.nodes)).toEqual([25, 100, 0]);
  });
});

describe('NodePorts', () => {
  const using = (name: string, ...ports: readonly object[]): Pod =>
    pod(name, [], { spec: { containers: [{ name: 'app', resources: {}, ports } as Container] } });
  const taken = "unschedulable: node(s) didn't have free ports for the requested pod ports";
  const on = (name: string, used: Pod): Pod => ({ ...used, spec: { ...used.spec, nodeName: name } });

  it.each([
    ['another port', [{ containerPort: 1, hostPort: 81 }], ''],
    ['no host port', [{ containerPort: 80 }], 'skip'],
    ['the same port', [{ containerPort: 1, hostPort: 80 }], taken],
    ['the same port of another protocol', [{ containerPort: 1, hostPort: 80, protocol: 'UDP' }], ''],
    ['the same port on one address', [{ containerPort: 1, hostPort: 80, hostIP: '10.0.0.1' }], taken],
    ['a port that another pod uses on another address', [{ containerPort: 1, hostPort: 90, hostIP: '10.0.0.1' }], ''],
    ['a port that another pod uses on the same address', [{ containerPort: 1, hostPort: 90, hostIP: '10.0.0.2' }], taken],
    ['a port on all addresses that another pod uses on one', [{ containerPort: 1, hostPort: 90 }], taken],
  ])('a pod with %s', (_, ports, verdict) => {
    const cluster = new SmallCluster([nodePorts]);
    cluster.set(node('n1'), on('n1', using('there', { containerPort: 1, hostPort: 80 }, { containerPort: 1, hostPort: 90, hostIP: '10.0.0.2' })));
    expect(cluster.verdicts(using('web', ...ports))).toEqual(verdict === 'skip' ? 'skip' : { n1: verdict });
  });

  it('frees the ports of a deleted pod, and its hint queues pods that need them', () => {
    const cluster = new SmallCluster([nodePorts]);
    cluster.set(node('n1'), on('n1', using('there', { containerPort: 1, hostPort: 80 })));
    const waiting = readPod(using('web', { containerPort: 1, hostPort: 80 }));
    const change = cluster.delete('Pod', 'default/there');
    expect(cluster.verdicts(waiting.pod)).toEqual({ n1: '' });
    expect(nodePorts.queueingHints?.hint(waiting, change)).toBe(true);
    expect(nodePorts.queueingHints?.hint(readPod(using('web', { containerPort: 1, hostPort: 81 })), change)).toBe(false);
  });

  it('counts ports of sidecars, not of other init containers', () => {
    const init = (restartPolicy?: string) =>
      pod('there', [], {
        spec: {
          nodeName: 'n1',
          initContainers: [
            {
              name: 'init',
              resources: {},
              ports: [{ containerPort: 1, hostPort: 80 }],
              ...(restartPolicy === undefined ? {} : { restartPolicy }),
            },
          ],
        },
      });
    const cluster = new SmallCluster([nodePorts]);
    cluster.set(node('n1'), init());
    expect(cluster.verdicts(using('web', { containerPort: 1, hostPort: 80 }))).toEqual({ n1: '' });
    cluster.set(init('Always'));
    expect(cluster.verdicts(using('web', { containerPort: 1, hostPort: 80 }))).toEqual({ n1: taken });
  });
});
