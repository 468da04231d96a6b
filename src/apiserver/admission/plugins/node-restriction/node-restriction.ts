/** A kubelet may write only its own Node and the objects of its own pods (v1.36: plugin/pkg/admission/noderestriction). */
import type { CertificateSigningRequest, Node, PersistentVolumeClaim, Pod, TokenRequest } from '../../../../api/generated/types.ts';
import { signers } from '../../../../api/kinds/certificates/signer-name.ts';
import { statusErrors } from '../../../../api/status.ts';
import { semanticallyEqual } from '../../../../api/validation/equality.ts';
import { parseCertificateRequest } from '../../../../api/x509/certificate-request.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { Authorizer } from '../../../authorization/authorizer.ts';
import { nodeOf } from '../../../user.ts';
import type { Resources } from '../../../objects/resources.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../chain.ts';
import type { ClusterReader } from '../../../objects/cluster-reader.ts';
import { isMirror } from '../mirror-pod.ts';
import { admissionForbidden } from '../../forbidden.ts';
import { PodAudiences } from './audiences.ts';
import { apiReference } from './mirror-pods.ts';
import { forbiddenLabels } from './node-labels.ts';

interface NodeRestrictionContext {
  readonly resources: Resources;
  readonly reader: ClusterReader;
  readonly audiences: PodAudiences;
  readonly authorizer: Authorizer | undefined;
}

/** @returns why the request is forbidden; undefined: it is allowed. @throws ApiError if a referenced object does not exist */
type Rule = (node: string, request: AdmissionRequest, context: NodeRestrictionContext) => Promise<string | undefined> | string | undefined;

const quoted = JSON.stringify;
const operationOf = ({ operation }: AdmissionRequest): string => quoted(operation.toUpperCase());

const pods: Rule = (node, request, context) => {
  switch (request.operation) {
    case 'create':
      return mirrorPod(node, request, context);
    case 'delete':
      return (request.object as Pod).spec.nodeName === node ? undefined : `node ${quoted(node)} can only delete pods with spec.nodeName set to itself`;
    case 'update':
    case 'connect':
      return `unexpected operation ${operationOf(request)}, node ${quoted(node)} can only create and delete mirror pods`;
  }
};

async function mirrorPod(node: string, request: AdmissionRequest, context: NodeRestrictionContext): Promise<string | undefined> {
  const pod = request.object as Pod;
  const { ownerReferences: owners = [] } = pod.metadata;
  const only = `node ${quoted(node)} can only create`;
  if (!isMirror(pod)) return `pod does not have "kubernetes.io/config.mirror" annotation, ${only} mirror pods`;
  if (pod.spec.nodeName !== node) return `${only} pods with spec.nodeName set to itself`;
  if (owners.length > 1) return `${only} pods with a single owner reference set to itself`;
  const [owner] = owners;
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    return `${only} pods with an owner reference set to itself`;
  if (owner.controller !== true) return `${only} pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true) return `node ${quoted(node)} must not set blockOwnerDeletion on an owner reference`;
  const { metadata } = await require<Node>(context, 'nodes', { namespace: '', name: node });
  if (owner.uid !== metadata.uid) return `node ${node} UID mismatch: expected ${owner.uid} got ${metadata.uid}`;
  const reference = apiReference(pod);
  return reference === undefined ? undefined : `node ${quoted(node)} can not create pods that reference ${reference}`;
}

const podStatus: Rule = (node, request) => {
  if (request.operation !== 'update') return `unexpected operation ${operationOf(request)}`;
  const [pod, old] = [request.object as Pod, request.old as Pod];
  if (old.spec.nodeName !== node) return `node ${quoted(node)} can only update pod status for pods with spec.nodeName set to itself`;
  if (!semanticallyEqual(pod.metadata.labels ?? {}, old.metadata.labels ?? {})) return `node ${quoted(node)} cannot update labels through pod status`;
  if (!semanticallyEqual(pod.status.resourceClaimStatuses, old.status.resourceClaimStatuses))
    return `node ${quoted(node)} cannot update resource claim statues`;
  if (!semanticallyEqual(pod.status.extendedResourceClaimStatus, old.status.extendedResourceClaimStatus)) {
    return `node ${quoted(node)} cannot update extended resource claim status`;
  }
  return undefined;
};

const podEviction: Rule = async (node, { namespace, name }, context) => {
  const pod = await require<Pod>(context, 'pods', { namespace, name });
  return pod.spec.nodeName === node ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`;
};

const nodes: Rule = (node, { operation, name, object, old }) => {
  if (name !== node) return `node ${quoted(node)} is not allowed to modify node ${quoted(name)}`;
  const wanted = object as Node;
  if (operation === 'create') return newNode(node, wanted);
  if (operation === 'delete') return undefined;
  const { spec, metadata } = old as Node;
  if (wanted.spec.configSource !== undefined && !semanticallyEqual(wanted.spec.configSource, spec.configSource)) {
    return `node ${quoted(node)} is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!semanticallyEqual(wanted.spec.taints, spec.taints)) return `node ${quoted(node)} is not allowed to modify taints`;
  if (!semanticallyEqual(wanted.metadata.ownerReferences, metadata.ownerReferences)) return `node ${quoted(node)} is not allowed to modify ownerReferences`;
  const labels = forbiddenLabels(wanted.metadata.labels, metadata.labels);
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`;
};

function newNode(node: string, { spec, metadata }: Node): string | undefined {
  if (spec.configSource !== undefined) return `node ${quoted(node)} is not allowed to create pods with a non-nil configSource`;
  const labels = forbiddenLabels(metadata.labels);
  return labels.length === 0 ? undefined : `node ${quoted(node)} is not allowed to set the following labels: ${labels.join(', ')}`;
}

const claimStatus: Rule = (node, request) => {
  if (request.operation !== 'update') return `unexpected operation ${operationOf(request)}`;
  const same = semanticallyEqual(unlessReported(request.object as PersistentVolumeClaim), unlessReported(request.old as PersistentVolumeClaim));
  return same ? undefined : `node ${quoted(node)} is not allowed to update fields other than status.quantity and status.conditions`;
};

/** A PVC without the fields that kubelets report, and without those that every write changes. */
function unlessReported({ metadata, status, ...rest }: PersistentVolumeClaim): object {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const { capacity: _capacity, conditions: _conditions, allocatedResourceStatuses: _statuses, allocatedResources: _resources, ...others } = status;
  return { ...rest, metadata: kept, status: others };
}

const tokens: Rule = async (node, request, context) => {
  const { boundObjectRef, audiences } = (request.object as TokenRequest).spec;
  if (boundObjectRef?.apiVersion !== 'v1' || boundObjectRef.kind !== 'Pod' || (boundObjectRef.name ?? '') === '') {
    return 'node requested token not bound to a pod';
  }
  const { name = '', uid = '' } = boundObjectRef;
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = await require<Pod>(context, 'pods', { namespace: request.namespace, name });
  if (uid !== pod.metadata.uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (pod.spec.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
  return (audiences ?? []).length > 1 ? 'node may only request 0 or 1 audiences' : unknownAudience(request, { pod, audience: audiences?.[0] ?? '', context });
};

async function unknownAudience(
  { user, namespace, name }: AdmissionRequest,
  { pod, audience, context }: { readonly pod: Pod; readonly audience: string; readonly context: NodeRestrictionContext },
): Promise<string | undefined> {
  if (await context.audiences.has(pod, audience)) return undefined;
  const verb = 'request-serviceaccounts-token-audience';
  const attributes = { type: 'resource', verb, group: '', version: 'v1', resource: audience, subresource: '', namespace, name } as const;
  if ((await context.authorizer?.authorize(user, attributes))?.allowed === true) return undefined;
  return `audience ${quoted(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`;
}

const leases: Rule = (node, { namespace, name }) => {
  if (namespace !== 'kube-node-lease') return 'can only access leases in the "kube-node-lease" system namespace';
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
};

const csiNodes: Rule = (node, { name }) => (name === node ? undefined : 'can only access CSINode with the same name as the requesting node');

const certificateRequests: Rule = (node, { operation, object }) => {
  const { signerName, request } = (object as CertificateSigningRequest).spec;
  if (operation !== 'create' || (signerName !== signers.nodeServing && signerName !== signers.nodeClient)) return undefined;
  const parsed = parseCertificateRequest(request);
  if (!parsed.ok) return `unable to parse csr: ${parsed.error}`;
  const wanted = `system:node:${node}`;
  return parsed.request.subject.commonName === wanted ? undefined : `can only create a node CSR with CN=${wanted}`;
};

/** @throws ApiError 404 */
async function require<T extends Pod | Node>(
  context: NodeRestrictionContext,
  plural: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Stored<T>> {
  const resource = context.resources.require('v1', plural);
  const found = await context.reader.get<T>(resource, namespace, name);
  if (found === undefined) throw statusErrors.notFound(resource.kind, name);
  return found;
}

/** By group, resource and subresource. '*': any other subresource. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/pods', pods],
  ['/pods/status', podStatus],
  ['/pods/eviction', podEviction],
  ['/pods/*', (_, { subresource }) => `unexpected pod subresource ${quoted(subresource)}, only 'status' and 'eviction' are allowed`],
  ['/nodes', nodes],
  ['/nodes/*', nodes],
  ['/persistentvolumeclaims/status', claimStatus],
  ['/persistentvolumeclaims', () => 'may only update PVC status'],
  ['/persistentvolumeclaims/*', () => 'may only update PVC status'],
  ['/serviceaccounts/token', tokens],
  ['coordination.k8s.io/leases', leases],
  ['storage.k8s.io/csinodes', csiNodes],
  ['certificates.k8s.io/certificatesigningrequests', certificateRequests],
]);

function ruleFor(group: string, plural: string, subresource: string): Rule | undefined {
  const name = `${group}/${plural}`;
  return subresource === '' ? rules.get(name) : (rules.get(`${name}/${subresource}`) ?? rules.get(`${name}/*`));
}

/** Restricts the requests of kubelets. Requests of other users pass. */
export function nodeRestriction(resources: Resources, reader: ClusterReader, authorizer: Authorizer | undefined): AdmissionPlugin {
  const context: NodeRestrictionContext = { resources, reader, authorizer, audiences: new PodAudiences(resources, reader) };
  return {
    name: 'NodeRestriction',
    handles: (_, { kind }, subresource) => ruleFor(kind.group, kind.plural, subresource) !== undefined,
    mutate: (request) => {
      const node = nodeOf(request.user);
      if (node === undefined) return;
      const { kind } = request.resource;
      const rule = ruleFor(kind.group, kind.plural, request.subresource);
      return rule === undefined ? undefined : check(rule, node, { request, context });
    },
  };
}

async function check(
  rule: Rule,
  node: string,
  { request, context }: { readonly request: AdmissionRequest; readonly context: NodeRestrictionContext },
): Promise<void> {
  const why = node === '' ? `could not determine node from user ${quoted(request.user.name)}` : await rule(node, request, context);
  if (why !== undefined) throw admissionForbidden(request, why);
}
