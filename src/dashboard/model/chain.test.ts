import { describe, expect, test } from 'vitest';
import { explanationOf, type ObjectExplanation, type Verdict } from '../../why/explanation/explanation.ts';
import type { Target } from '../../why/explanation/target.ts';
import { chainOf } from './chain.ts';
import { targetKey } from './explanations.ts';
import { type StorageLists, StorageView } from './storage-view.ts';

const meta = (name: string, namespace?: string) => ({ name, uid: name, resourceVersion: '1', ...(namespace === undefined ? {} : { namespace }) });
const none: StorageLists = { claims: [], volumes: [], pods: [], attachments: [], nodes: [], csiNodes: [], classes: [], drivers: [], snapshots: [] };

const claim = (volumeName?: string) =>
  ({
    metadata: meta('data', 'shop'),
    spec: { resources: { requests: { storage: '5Gi' } }, storageClassName: 'disks', ...(volumeName === undefined ? {} : { volumeName }) },
    status: { phase: volumeName === undefined ? 'Pending' : 'Bound' },
  }) as unknown as StorageLists['claims'][number];
const pod = (nodeName?: string) =>
  ({
    metadata: meta('db-0', 'shop'),
    spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }], nodeName },
    status: { phase: 'Pending' },
  }) as unknown as StorageLists['pods'][number];
const volume = {
  metadata: meta('pv1'),
  spec: { capacity: { storage: '5Gi' }, csi: { driver: 'disks.example.com' } },
  status: { phase: 'Bound' },
} as unknown as StorageLists['volumes'][number];
const attachment = (node: string, attached: boolean) =>
  ({
    metadata: meta(`va-${node}`),
    spec: { attacher: 'disks.example.com', nodeName: node, source: { persistentVolumeName: 'pv1' } },
    status: { attached },
  }) as unknown as StorageLists['attachments'][number];
const node = (name: string) =>
  ({ metadata: { ...meta(name), labels: { 'topology.kubernetes.io/zone': 'zone-a' } }, spec: {}, status: {} }) as unknown as StorageLists['nodes'][number];
const driver = { metadata: meta('disks.example.com'), spec: { attachRequired: true } } as unknown as StorageLists['drivers'][number];

const verdicts =
  (given: Readonly<Record<string, Verdict>>) =>
  (target: Target): ObjectExplanation | undefined => {
    const verdict = given[targetKey(target)];
    if (verdict === undefined) return undefined;
    return explanationOf(target, { state: 'x', since: undefined }, { verdict, code: 'x', summary: targetKey(target), next: { who: 'x', does: 'x' } });
  };
const chain = (lists: Partial<StorageLists>, explain = verdicts({})) =>
  chainOf({ namespace: 'shop', name: 'data' }, new StorageView({ ...none, ...lists }), explain);
const names = (found: ReturnType<typeof chain>) => found?.links.map(({ column, name, detail }) => `${column} ${name} ${detail}`.trim()).sort();

describe('the chain of a claim', () => {
  test('is not there without the claim', () => {
    expect(chain({})).toBeUndefined();
  });

  test('of a pod that has all it needs goes to the driver, and holds', () => {
    const found = chain({
      claims: [claim('pv1')],
      pods: [pod('n1')],
      volumes: [volume],
      attachments: [attachment('n1', true)],
      nodes: [node('n1')],
      drivers: [driver],
    });
    expect(names(found)).toEqual(['0 db-0 Pending', '1 data Bound 5Gi', '2 pv1 Bound 5Gi', '3 va-n1 Attached', '4 n1 zone-a', '5 disks.example.com']);
    expect(found?.edges).toEqual([
      ['pvc/shop/data', 'pv/pv1'],
      ['pod/shop/db-0', 'pvc/shop/data'],
      ['node/n1', 'driver/disks.example.com'],
      ['pv/pv1', 'va/va-n1'],
      ['va/va-n1', 'node/n1'],
    ]);
    expect(found?.broken).toBeUndefined();
  });

  test('of a claim without a volume is broken there, in the words of the claim', () => {
    const found = chain({ claims: [claim()] }, verdicts({ 'pvc/shop/data': 'stuck' }));
    expect(found?.broken).toBe('absent/2/no volume yet');
    expect(found?.reason?.summary).toBe('pvc/shop/data');
  });

  test('is broken at the attachment that a pod on another node needs, in the words of the pod', () => {
    const lists = {
      claims: [claim('pv1')],
      pods: [pod('n2')],
      volumes: [volume],
      attachments: [attachment('n1', true)],
      nodes: [node('n1'), node('n2')],
      drivers: [driver],
    };
    const found = chain(lists, verdicts({ 'pod/shop/db-0': 'waiting', 'pvc/shop/data': 'fine', 'pv/pv1': 'fine', 'va/va-n1': 'fine' }));
    expect(found?.broken).toBe('absent/3/none to n2 yet');
    expect(found?.reason?.summary).toBe('pod/shop/db-0');
  });

  test('is broken at the attachment that fails, in its own words', () => {
    const lists = {
      claims: [claim('pv1')],
      pods: [pod('n1')],
      volumes: [volume],
      attachments: [attachment('n1', false)],
      nodes: [node('n1')],
      drivers: [driver],
    };
    const found = chain(lists, verdicts({ 'pod/shop/db-0': 'stuck', 'va/va-n1': 'stuck' }));
    expect([found?.broken, found?.reason?.summary]).toEqual(['va/va-n1', 'va/va-n1']);
  });

  test('of a pod without a node says so; of a driver that needs no attachment has none', () => {
    expect(names(chain({ claims: [claim('pv1')], pods: [pod()], volumes: [volume] }))).toContain('4 no node yet');
    const direct = chain({ claims: [claim('pv1')], pods: [pod('n1')], volumes: [volume], nodes: [node('n1')] });
    expect(direct?.edges).toContainEqual(['pv/pv1', 'node/n1']);
  });
});

test('a namespace keeps claims of one name apart', () => {
  const other = { ...claim('pv2'), metadata: meta('data', 'other') } as unknown as StorageLists['claims'][number];
  expect(chain({ claims: [other, claim('pv1')], volumes: [volume] })?.links.map(({ id }) => id)).toContain('pvc/shop/data');
});
