import { type FieldError, invalid } from '../../../api/field-error.ts';
import type { BoundObjectReference, Pod, TokenRequest } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { statusErrors } from '../../../api/status.ts';
import type { ApiResponse } from '../../api.ts';
import type { TokenIssuer, TokenSpec } from '../../authentication/token-issuer.ts';
import { currentOf } from '../verbs/get.ts';
import { timestamp } from '../../objects/metadata.ts';
import { parseWriteOptions } from '../../objects/options.ts';
import { type Call, decodeBody, bodyType, type Registry } from '../registry.ts';
import { keyOf } from '../../objects/resources.ts';
import { revisionOf } from '../../objects/object-revision.ts';
import { TransactionDraft } from '../../objects/transaction.ts';

const tokenType = bodyType<TokenRequest>('authentication.k8s.io', 'v1', 'TokenRequest');
const tokenKind = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const MIN_SECONDS = 600;
const DEFAULT_SECONDS = 3_600;

/** TokenRequest: a service account's token with the requested expiration and audiences. */
export async function requestToken(registry: Registry, call: Call, issuer: Pick<TokenIssuer, 'issue'>): Promise<ApiResponse> {
  const { request, route, warnings } = call;
  if (request.info.verb !== 'create') throw statusErrors.methodNotAllowedHere();
  const { fieldValidation } = parseWriteOptions(request.query, 'CreateOptions');
  const given = decodeBody(request.body, tokenType, { fieldValidation, warnings });
  await admit(registry, call, given);
  checkIdentity(given, call);
  const account = (await currentOf(registry, call)).object;
  const { uid } = account.metadata;
  if ((given.metadata.uid ?? '') !== '' && given.metadata.uid !== uid) {
    const why = `the UID in the token request (${given.metadata.uid}) does not match the UID of the service account (${uid})`;
    throw statusErrors.conflict({ ...tokenKind, plural: tokenKind.kind }, route.name, why);
  }
  const seconds = given.spec.expirationSeconds ?? DEFAULT_SECONDS;
  const errors = durationErrors(seconds);
  if (errors.length > 0) throw statusErrors.invalid(tokenKind, '', errors);
  const identity = { namespace: route.namespace, name: route.name, uid };
  const binding = await bindingOf(registry, call, given.spec.boundObjectRef);
  const now = registry.world.clock.now();
  const { token, audiences } = await issuer.issue({ ...identity, audiences: given.spec.audiences ?? [], expirationSeconds: seconds, ...binding });
  const object: TokenRequest = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { ...given.metadata, ...identity, creationTimestamp: timestamp(now) },
    spec: { ...given.spec, audiences: [...audiences], expirationSeconds: seconds },
    // The requested time: a pod's token may be valid for longer, but clients should not rely on it.
    status: { token, expirationTimestamp: timestamp(now + seconds * 1000) },
  };
  return { type: 'plain', code: 201, object, warnings: [...warnings] };
}

/** A token is not stored, but admission (NodeRestriction) may refuse it. */
async function admit(registry: Registry, { request, route, warnings }: Call, object: TokenRequest): Promise<void> {
  const { resource, namespace, name } = route;
  const draft = new TransactionDraft(registry.store, registry.locks);
  const { dryRun } = parseWriteOptions(request.query, 'CreateOptions');
  const admission = {
    operation: 'create',
    resource,
    subresource: 'token',
    namespace,
    name,
    object,
    old: undefined,
    user: request.user,
    dryRun,
    draft,
    warnings,
    annotate: request.annotate,
  } as const;
  try {
    await registry.admission.mutate(admission);
    await registry.admission.validate(admission);
  } finally {
    draft.release();
  }
}

function checkIdentity({ metadata }: TokenRequest, { route }: Call): void {
  const errors: FieldError[] = [];
  const { name = '', namespace = '' } = metadata;
  if (name !== '' && name !== route.name) errors.push(invalid('metadata.name', name, 'must match the service account name if specified'));
  if (namespace !== '' && namespace !== route.namespace) {
    errors.push(invalid('metadata.namespace', namespace, 'must match the service account namespace if specified'));
  }
  if (errors.length > 0) throw statusErrors.invalid(tokenKind, route.name, errors.slice(0, 1));
}

function durationErrors(seconds: number): FieldError[] {
  if (seconds < MIN_SECONDS) return [invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds > 2 ** 32) return [invalid('spec.expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds')];
  return [];
}

type Binding = Pick<TokenSpec, 'boundObject' | 'node'>;

async function bindingOf(registry: Registry, call: Call, reference: BoundObjectReference | null): Promise<Binding> {
  if (reference === null) return {};
  const { apiVersion = '', kind = '', name = '' } = reference;
  if (apiVersion.includes('/') || (kind !== 'Pod' && kind !== 'Secret' && kind !== 'Node')) {
    throw statusErrors.badRequest(`cannot bind token to object of type ${describe(apiVersion, kind)}`);
  }
  const namespace = kind === 'Node' ? '' : call.route.namespace;
  const object = await read(registry, { plural: `${kind.toLowerCase()}s`, namespace, name });
  const { uid } = object.metadata;
  const nodeName = kind === 'Pod' ? nodeOf(object as Pod, call.route.name) : '';
  if ((reference.uid ?? '') !== '' && reference.uid !== uid) {
    const why = `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw statusErrors.conflict({ group: '', kind, plural: kind }, name, why);
  }
  return { boundObject: { kind, name, uid }, ...(nodeName === '' ? {} : { node: await identifyNode(registry, nodeName) }) };
}

/** '/v1, Kind=Pod' */
function describe(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function nodeOf({ spec }: Pod, account: string): string {
  if (spec.serviceAccountName === account) return spec.nodeName ?? '';
  throw statusErrors.badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`);
}

async function read({ store, resources }: Registry, { plural, namespace, name }: { plural: string; namespace: string; name: string }): Promise<Stored> {
  const resource = resources.require('v1', plural);
  const entry = await store.get(keyOf(resource, namespace, name));
  if (entry === undefined) throw statusErrors.notFound(resource.kind, name);
  return revisionOf(resource, entry).object;
}

/** A pod's node may be deleted already: then it has no uid here. */
async function identifyNode({ store, resources }: Registry, name: string): Promise<{ name: string; uid: string }> {
  const nodes = resources.require('v1', 'nodes');
  const entry = await store.get(keyOf(nodes, '', name));
  return { name, uid: entry === undefined ? '' : revisionOf(nodes, entry).object.metadata.uid };
}
