import { expect, test } from 'vitest';
import type { Pod } from '../../../api/generated/types.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import type { AdmissionRequest } from '../chain.ts';
import { recyclerPods } from './recycler-pods.ts';

const podOn = (nodeName: string, phase: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {},
  spec: { containers: [], nodeName },
  status: { phase },
});

interface Write {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly name?: string;
  readonly node?: string;
  readonly phase?: string;
  readonly before?: string;
}

function write({ user, groups = ['system:masters'], name = 'recycler-for-vol', node = 'node-1', phase = 'Succeeded', before = 'Running' }: Write): void {
  const request: Partial<AdmissionRequest> = {
    namespace: 'default',
    name,
    object: podOn(node, phase),
    old: podOn(node, before),
    user: { name: user, groups: [...groups] },
  };
  void recyclerPods.validate?.({ ...request, resource: { kind: podKind } } as AdmissionRequest);
}

test('only the node that runs a recycler pod says that it has succeeded', () => {
  const node = (name: string) => ({ user: `system:node:${name}`, groups: ['system:nodes'] });
  const refusal = /only node "node-1", which runs this recycler pod, may write Succeeded/;
  expect(() => write(node('node-1'))).not.toThrow();
  expect(() => write(node('node-2'))).toThrow(refusal);
  expect(() => write({ user: 'admin' })).toThrow(refusal);
  // A name alone makes no node.
  expect(() => write({ user: 'system:node:node-1' })).toThrow(refusal);
});

test('everything else is as in Kubernetes', () => {
  expect(() => write({ user: 'admin', phase: 'Failed' })).not.toThrow();
  expect(() => write({ user: 'admin', before: 'Succeeded' })).not.toThrow();
  expect(() => write({ user: 'admin', name: 'web' })).not.toThrow();
  // The reclaimer does not take the success of a pod that was on no node.
  expect(() => write({ user: 'admin', node: '' })).not.toThrow();
});
