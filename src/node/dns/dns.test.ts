import { describe, expect, test } from 'vitest';
import type { Pod, Service } from '../../api/generated/types.ts';
import { addressesOf } from './records.ts';
import { decodeQuestion, encodeAnswer, encodeFailure } from './messages.ts';

const pod = (name: string, ip: string, over: { readonly ready?: boolean; readonly subdomain?: string } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', labels: { app: 'db' } },
  spec: { containers: [], hostname: name, subdomain: over.subdomain ?? 'db' },
  status: { podIP: ip, conditions: [{ type: 'Ready', status: (over.ready ?? true) ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: null }] },
});

const service = (over: Partial<NonNullable<Service['spec']>> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'db', namespace: 'shop' },
  spec: { clusterIP: 'None', selector: { app: 'db' }, ...over },
  status: { loadBalancer: {} },
});

const ask = (name: string, pods: readonly Pod[], governing: Service | undefined = service()) =>
  addressesOf(name, {
    domain: 'cluster.local',
    service: (namespace, called) => (`${namespace}/${called}` === 'shop/db' ? governing : undefined),
    pods: () => pods,
  });

describe('names of the cluster', () => {
  const pods = [pod('db-0', '10.0.0.1'), pod('db-1', '10.0.0.2'), pod('db-2', '10.0.0.3', { ready: false })];

  test('a service leads to its ready pods', () => {
    expect(ask('db.shop.svc.cluster.local', pods)).toEqual({ addresses: ['10.0.0.1', '10.0.0.2'] });
    expect(ask('db.shop.svc.cluster.local', pods, service({ publishNotReadyAddresses: true }))).toEqual({ addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] });
    expect(ask('db.shop.svc.cluster.local', pods, service({ selector: {} }))).toEqual({ addresses: [] });
  });

  test('a pod with a subdomain has a name of its own', () => {
    expect(ask('db-1.db.shop.svc.cluster.local', pods)).toEqual({ addresses: ['10.0.0.2'] });
    expect(ask('db-2.db.shop.svc.cluster.local', pods)).toEqual({ addresses: undefined });
    expect(ask('db-1.db.shop.svc.cluster.local', [pod('db-1', '10.0.0.2', { subdomain: 'other' })])).toEqual({ addresses: undefined });
  });

  test('a missing name of the cluster does not exist; a name outside its domain is forwarded', () => {
    for (const name of ['other.shop.svc.cluster.local', 'db.cluster.local', 'cluster.local', 'a.b.db.shop.svc.cluster.local']) {
      expect(ask(name, pods)).toEqual({ addresses: undefined });
    }
    expect(ask('example.com', pods)).toBeUndefined();
    expect(ask('notcluster.local', pods)).toBeUndefined();
  });
});

describe('questions on the wire', () => {
  const query = Buffer.from('abcd010000010000000000000244420453686f70037376630000010001', 'hex');

  test('are decoded, whatever their case', () => {
    expect(decodeQuestion(query)).toMatchObject({ id: 0xabcd, name: 'db.shop.svc', type: 'A' });
  });

  test('are answered with addresses, with none, or with that there is no such name', () => {
    const question = decodeQuestion(query);
    if (question === undefined) throw new Error('not read');
    const answer = encodeAnswer(question, ['10.0.0.1', '10.0.0.2']);
    expect(answer.toString('hex', 0, 12)).toBe('abcd85800001000200000000');
    expect(answer.toString('hex', answer.length - 16)).toBe('c00c000100010000000500040a000002');
    expect(encodeAnswer(question, []).toString('hex', 0, 12)).toBe('abcd85800001000000000000');
    expect(encodeAnswer(question, undefined).toString('hex', 0, 12)).toBe('abcd85830001000000000000');
    expect(encodeFailure(question).readUInt16BE(2) & 15).toBe(2);
  });

  test('that are none, or end too soon, are not', () => {
    for (let length = 0; length < query.length; length++) expect(decodeQuestion(query.subarray(0, length))).toBeUndefined();
    const answer = Buffer.from(query).fill(0x81, 2, 3);
    expect(decodeQuestion(answer)).toBeUndefined();
    const loop = Buffer.from(query).fill(0xc0, 12, 13);
    expect(decodeQuestion(loop)).toBeUndefined();
  });
});
