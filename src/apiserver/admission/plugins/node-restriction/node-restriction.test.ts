/** After plugin/pkg/admission/noderestriction of v1.36.4. */
import { describe, expect, test } from 'vitest';
import { kubernetesKinds } from '../../../../api/kinds/index.ts';
import { nodeRequest, sampleRequest } from '../../../../api/kinds/samples.ts';
import type { KubeObject } from '../../../../api/object.ts';
import type { User } from '../../../api.ts';
import type { Authorizer } from '../../../authorization/authorizer.ts';
import { nodeUser } from '../../../user.ts';
import { Resources } from '../../../objects/resources.ts';
import type { AdmissionRequest, Operation } from '../../chain.ts';
import type { ClusterReader } from '../../../objects/cluster-reader.ts';
import { nodeRestriction } from './node-restriction.ts';

const resources = new Resources(kubernetesKinds);
type Loose = Readonly<Record<string, unknown>>;
const object = (metadata: Loose, rest: Loose = {}): KubeObject => ({ metadata, spec: {}, status: {}, ...rest }) as unknown as KubeObject;

/** The stored objects, by plural and name. */
const cluster: Readonly<Record<string, KubeObject>> = {
  'nodes n1': object({ name: 'n1', uid: 'node-uid' }),
  'pods mine': object(
    { name: 'mine', namespace: 'ns', uid: 'u1' },
    {
      spec: {
        nodeName: 'n1',
        volumes: [
          { name: 'token', projected: { sources: [{ serviceAccountToken: { audience: 'vault', path: 't' } }] } },
          { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
        ],
      },
    },
  ),
  'pods theirs': object({ name: 'theirs', namespace: 'ns', uid: 'u2' }, { spec: { nodeName: 'n2' } }),
  'persistentvolumeclaims data': object({ name: 'data' }, { spec: { volumeName: 'disk' } }),
  'persistentvolumes disk': object({ name: 'disk' }, { spec: { csi: { driver: 'd', volumeHandle: 'h' } } }),
  'csidrivers d': object({ name: 'd' }, { spec: { tokenRequests: [{ audience: 'driver' }] } }),
};
const reader = {
  get: async ({ kind }: { kind: { plural: string } }, _: string, name: string) => cluster[`${kind.plural} ${name}`],
} as unknown as ClusterReader;
const authorizer: Authorizer = {
  authorize: (_, asked) => (asked.type === 'resource' && asked.resource === 'granted' ? { allowed: true } : { allowed: false, reason: '' }),
};
const plugin = nodeRestriction(resources, reader, authorizer);

interface Writing {
  readonly operation: Operation;
  /** 'v1/pods', 'v1/pods/status' */
  readonly what: string;
  readonly object: KubeObject;
  readonly old?: KubeObject | undefined;
  readonly name?: string;
  readonly namespace?: string;
}

/** The error of a kubelet's write; undefined: it is allowed. */
async function answer(writing: Writing, user: User = nodeUser('n1')): Promise<string | undefined> {
  const parts = writing.what.split('/');
  const resource = ['v1', 'v1beta1'].includes(parts[0] ?? '')
    ? resources.require('v1', parts[1] ?? '')
    : resources.require(`${parts[0]}/${parts[1]}`, parts[2] ?? '');
  const subresource = parts[parts[0] === 'v1' ? 2 : 3] ?? '';
  if (!plugin.handles(writing.operation, resource, subresource)) return undefined;
  const { namespace = '', name = '' } = writing.object.metadata;
  const request = { namespace, name, old: undefined, ...writing, resource, subresource, user } as unknown as AdmissionRequest;
  try {
    await plugin.mutate?.(request);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^.* is forbidden: /, '');
  }
}

const creating = (what: string, given: KubeObject): Writing => ({ operation: 'create', what, object: given });
const changing = (what: string, old: KubeObject, given: KubeObject): Writing => ({ operation: 'update', what, object: given, old });

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-uid', controller: true };
const mirror = (metadata: Loose = {}, spec: Loose = {}): KubeObject =>
  object(
    { name: 'static', namespace: 'ns', annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...metadata },
    { spec: { nodeName: 'n1', ...spec } },
  );
const projected = (source: Loose) => ({ volumes: [{ name: 'v', projected: { sources: [source] } }] });

describe('pods', () => {
  test.each<[string, KubeObject, string | undefined]>([
    ['a mirror pod of its own', mirror(), undefined],
    ['with a directory', mirror({}, { volumes: [{ name: 'v', hostPath: { path: '/' } }] }), undefined],
    ['with a downward projection', mirror({}, projected({ downwardAPI: {} })), undefined],
    ['a pod', mirror({ annotations: {} }), 'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods'],
    ['of another node', mirror({}, { nodeName: 'n2' }), 'node "n1" can only create pods with spec.nodeName set to itself'],
    ['without an owner', mirror({ ownerReferences: [] }), 'node "n1" can only create pods with an owner reference set to itself'],
    ['with two', mirror({ ownerReferences: [owner, owner] }), 'node "n1" can only create pods with a single owner reference set to itself'],
    ['owned by another', mirror({ ownerReferences: [{ ...owner, name: 'n2' }] }), 'node "n1" can only create pods with an owner reference set to itself'],
    [
      'not controlled',
      mirror({ ownerReferences: [{ ...owner, controller: false }] }),
      'node "n1" can only create pods with a controller owner reference set to itself',
    ],
    [
      'that holds it up',
      mirror({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      'node "n1" must not set blockOwnerDeletion on an owner reference',
    ],
    ['of an earlier node', mirror({ ownerReferences: [{ ...owner, uid: 'x' }] }), 'node n1 UID mismatch: expected x got node-uid'],
    ['with an account', mirror({}, { serviceAccountName: 'a' }), 'node "n1" can not create pods that reference serviceaccounts'],
    ['with a secret', mirror({}, { imagePullSecrets: [{ name: 's' }] }), 'node "n1" can not create pods that reference secrets'],
    [
      'with a map',
      mirror({}, { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'm' } }] }] }),
      'node "n1" can not create pods that reference configmaps',
    ],
    [
      'with a claim',
      mirror({}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
      'node "n1" can not create pods that reference persistentvolumeclaims',
    ],
    [
      'with a token',
      mirror({}, projected({ serviceAccountToken: { path: 't' } })),
      'node "n1" can not create pods that reference serviceaccounts (via projected volumes)',
    ],
  ])('it may create: %s', async (_, pod, expected) => expect(await answer(creating('v1/pods', pod))).toBe(expected));

  const [mine, theirs] = [cluster['pods mine'] as KubeObject, cluster['pods theirs'] as KubeObject];
  const labelled = { ...mine, metadata: { ...mine.metadata, labels: { a: 'b' } } };
  const claiming = { ...mine, status: { resourceClaimStatuses: [{ name: 'c' }] } } as KubeObject;
  test.each<[string, Writing, string | undefined]>([
    ['deletes its own', { operation: 'delete', what: 'v1/pods', object: mine }, undefined],
    ['deletes another', { operation: 'delete', what: 'v1/pods', object: theirs }, 'node "n1" can only delete pods with spec.nodeName set to itself'],
    ['changes its own', changing('v1/pods', mine, mine), 'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods'],
    ['reports about its own', changing('v1/pods/status', mine, mine), undefined],
    ['reports about another', changing('v1/pods/status', theirs, theirs), 'node "n1" can only update pod status for pods with spec.nodeName set to itself'],
    ['labels its own', changing('v1/pods/status', mine, labelled), 'node "n1" cannot update labels through pod status'],
    ['claims for its own', changing('v1/pods/status', mine, claiming), 'node "n1" cannot update resource claim statues'],
    ['evicts its own', creating('v1/pods/eviction', mine), undefined],
    ['evicts another', creating('v1/pods/eviction', theirs), 'node n1 can only evict pods with spec.nodeName set to itself'],
    ['evicts what is gone', creating('v1/pods/eviction', object({ name: 'gone', namespace: 'ns' })), 'pods "gone" not found'],
    ['binds', creating('v1/pods/binding', mine), `unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`],
  ])('%s', async (_, writing, expected) => expect(await answer(writing)).toBe(expected));
});

describe('nodes', () => {
  const node = (metadata: Loose = {}, spec: Loose = {}): KubeObject => object({ name: 'n1', ...metadata }, { spec });
  test.each<[string, Writing, string | undefined]>([
    [
      'makes itself',
      creating('v1/nodes', node({ labels: { 'kubernetes.io/os': 'linux', team: 'a', 'x.node.kubernetes.io/y': '' } }, { taints: [{ key: 'new' }] })),
      undefined,
    ],
    ['makes another', creating('v1/nodes', object({ name: 'n2' })), 'node "n1" is not allowed to modify node "n2"'],
    [
      'makes itself special',
      creating('v1/nodes', node({ labels: { 'node-role.kubernetes.io/db': '', 'a.node-restriction.kubernetes.io/b': '', 'x.k8s.io/y': '' } })),
      'node "n1" is not allowed to set the following labels: a.node-restriction.kubernetes.io/b, node-role.kubernetes.io/db, x.k8s.io/y',
    ],
    ['reports', changing('v1/nodes/status', node(), node()), undefined],
    [
      'moves',
      changing('v1/nodes', node({ labels: { 'topology.kubernetes.io/zone': 'a' } }), node({ labels: { 'topology.kubernetes.io/zone': 'b' } })),
      undefined,
    ],
    [
      'promotes itself',
      changing('v1/nodes/status', node(), node({ labels: { 'node-role.kubernetes.io/db': '' } })),
      'is not allowed to modify labels: node-role.kubernetes.io/db',
    ],
    [
      'drops a restriction',
      changing('v1/nodes', node({ labels: { 'node-restriction.kubernetes.io/x': '' } }), node()),
      'is not allowed to modify labels: node-restriction.kubernetes.io/x',
    ],
    ['drops a taint', changing('v1/nodes', node({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] }), node()), 'node "n1" is not allowed to modify taints'],
    ['gets an owner', changing('v1/nodes', node(), node({ ownerReferences: [owner] })), 'node "n1" is not allowed to modify ownerReferences'],
    ['reports about another', changing('v1/nodes/status', object({ name: 'n2' }), object({ name: 'n2' })), 'node "n1" is not allowed to modify node "n2"'],
  ])('a node %s', async (_, writing, expected) => expect(await answer(writing)).toBe(expected));
});

describe('tokens', () => {
  const token = (spec: Loose): Writing => ({
    ...creating('v1/serviceaccounts/token', object({}, { spec: { audiences: [], boundObjectRef: null, ...spec } })),
    name: 'robot',
    namespace: 'ns',
  });
  const to = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'Pod', name, uid });
  const mine = to('mine', 'u1');
  const unasked = (audience: string) =>
    `audience "${audience}" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`;
  test.each<[string, Loose, string | undefined]>([
    ['for a volume of its pod', { boundObjectRef: mine, audiences: ['vault'] }, undefined],
    ['for the driver of a volume', { boundObjectRef: mine, audiences: ['driver'] }, undefined],
    ['for a granted audience', { boundObjectRef: mine, audiences: ['granted'] }, undefined],
    ['without a pod', { audiences: ['vault'] }, 'node requested token not bound to a pod'],
    ['for a secret', { boundObjectRef: { ...mine, kind: 'Secret' } }, 'node requested token not bound to a pod'],
    ['for a pod that it does not know', { boundObjectRef: to('mine', '') }, 'node requested token with a pod binding without a uid'],
    ['for a pod that is gone', { boundObjectRef: to('gone', 'x') }, 'pods "gone" not found'],
    [
      'for an earlier pod',
      { boundObjectRef: to('mine', 'x') },
      'the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    ['for another node', { boundObjectRef: to('theirs', 'u2') }, 'node requested token bound to a pod scheduled on a different node'],
    ['for another audience', { boundObjectRef: mine, audiences: ['bank'] }, unasked('bank')],
    ['for the server', { boundObjectRef: mine }, unasked('')],
    ['for several', { boundObjectRef: mine, audiences: ['vault', 'driver'] }, 'node may only request 0 or 1 audiences'],
  ])('%s', async (_, spec, expected) => expect(await answer(token(spec))).toBe(expected));
});

describe('other things', () => {
  const claim = (status: Loose, metadata: Loose = {}): KubeObject => object({ name: 'data', namespace: 'ns', resourceVersion: '7', ...metadata }, { status });
  const csr = (request: string, signerName: string): Writing =>
    creating('certificates.k8s.io/v1/certificatesigningrequests', object({ name: 'r' }, { spec: { request, signerName } }));
  const lease = (name: string, namespace = 'kube-node-lease') => creating('coordination.k8s.io/v1/leases', object({ name, namespace }));
  test.each<[string, Writing, string | undefined]>([
    [
      'the size of a claim',
      changing('v1/persistentvolumeclaims/status', claim({}), claim({ capacity: { storage: '2Gi' } }, { resourceVersion: '' })),
      undefined,
    ],
    [
      'the phase of a claim',
      changing('v1/persistentvolumeclaims/status', claim({}), claim({ phase: 'Lost' })),
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions',
    ],
    [
      'a finalizer of a claim',
      changing('v1/persistentvolumeclaims/status', claim({}), claim({}, { finalizers: ['x'] })),
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions',
    ],
    ['a claim', creating('v1/persistentvolumeclaims', claim({})), 'may only update PVC status'],
    ['its lease', lease('n1'), undefined],
    ['the lease of another', lease('n2'), 'can only access node lease with the same name as the requesting node'],
    ['a lease elsewhere', lease('n1', 'default'), 'can only access leases in the "kube-node-lease" system namespace'],
    ['its CSINode', creating('storage.k8s.io/v1/csinodes', object({ name: 'n1' })), undefined],
    [
      'the CSINode of another',
      creating('storage.k8s.io/v1/csinodes', object({ name: 'n2' })),
      'can only access CSINode with the same name as the requesting node',
    ],
    ['a request for its certificate', csr(nodeRequest, 'kubernetes.io/kube-apiserver-client-kubelet'), undefined],
    ['a request for that of another', csr(sampleRequest, 'kubernetes.io/kubelet-serving'), 'can only create a node CSR with CN=system:node:n1'],
    ['a request for something else', csr(sampleRequest, 'example.com/signer'), undefined],
    ['an event', creating('v1/events', object({ name: 'e', namespace: 'ns' })), undefined],
  ])('%s', async (_, writing, expected) => expect(await answer(writing)).toBe(expected));

  test('other users are not restricted; a user in system:nodes needs a node name', async () => {
    expect(await answer(lease('n2'), { name: 'jane', groups: ['system:authenticated'] })).toBeUndefined();
    expect(await answer(lease('n2'), { name: 'system:node:n1', groups: ['system:authenticated'] })).toBeUndefined();
    expect(await answer(lease(''), nodeUser(''))).toBe('could not determine node from user "system:node:"');
  });
});
