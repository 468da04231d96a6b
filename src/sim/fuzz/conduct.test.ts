/** How components write: requests that name no object, and two at a time, are noticed. */
import { expect, test } from 'vitest';
import { deploymentKind } from '../../api/kinds/apps/deployment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { resourceRequestInfo } from '../../api/request-info.ts';
import type { Answer, Transport, TransportRequest } from '../../client/transport.ts';
import type { Violation } from '../invariants/observer.ts';
import { observeConduct } from './conduct.ts';

const request = (verb: 'update' | 'patch' | 'delete' | 'create' | 'get', object: object): TransportRequest => ({
  info: resourceRequestInfo(verb, deploymentKind, verb === 'create' ? { namespace: 'default' } : { namespace: 'default', name: 'web' }),
  query: new URLSearchParams(),
  body: { contentType: 'application/json', object },
});

/** A server that answers when it is told to. */
function observed() {
  const found: Violation[] = [];
  const waiting: ((answer: Answer) => void)[] = [];
  const server: Transport = { send: () => new Promise((resolve) => waiting.push(resolve)), watch: () => ({ close: () => undefined }) };
  const transport = observeConduct('controllers-1', server, { onViolation: (violation) => found.push(violation) });
  const answer = () => waiting.shift()?.({ type: 'unreachable', error: new Error('lost') });
  return { found, transport, answer };
}

test.each([
  ['update', { metadata: { resourceVersion: '7' } }],
  ['patch', { metadata: { uid: 'a' } }],
  ['delete', { preconditions: { uid: 'a' } }],
  ['create', { metadata: {} }],
] as const)('%s that says which object it is about', (verb, body) => {
  const { found, transport } = observed();
  void transport.send(request(verb, body));
  expect(found).toEqual([]);
});

test.each([
  ['update', { metadata: { uid: 'a' } }],
  ['patch', { spec: {} }],
  ['delete', {}],
] as const)('%s that would change any object of that name', (verb, body) => {
  const { found, transport } = observed();
  void transport.send(request(verb, body));
  expect(found).toMatchObject([{ invariant: 'a component changes only the object that it has read' }]);
});

test('a second write of an object waits for the answer to the first', async () => {
  const { found, transport, answer } = observed();
  const update = request('update', { metadata: { resourceVersion: '7' } });
  const first = transport.send(update);
  answer();
  await first;
  void transport.send(update);
  expect(found).toEqual([]);
  void transport.send(update);
  expect(found).toMatchObject([{ invariant: 'a component writes an object only once at a time' }]);
});

test.each([
  ['two releases of a pod that its Job left', ['$deleteFromPrimitiveList/finalizers'], 0],
  ['a release with another change', ['$deleteFromPrimitiveList/finalizers', 'labels'], 1],
  ['another patch', ['labels'], 1],
])('at once: %s', (_, fields, violations) => {
  const { found, transport } = observed();
  const info = resourceRequestInfo('patch', podKind, { namespace: 'default', name: 'import-1' });
  const patch = (keys: readonly string[]): TransportRequest => {
    const metadata = { uid: 'a', ...Object.fromEntries(keys.map((key) => [key, ['batch.kubernetes.io/job-tracking']])) };
    return { info, query: new URLSearchParams(), body: { contentType: 'application/strategic-merge-patch+json', object: { metadata } } };
  };
  void transport.send(patch(['$deleteFromPrimitiveList/finalizers']));
  void transport.send(patch(fields));
  expect(found).toHaveLength(violations);
});
