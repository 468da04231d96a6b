import type { KubeObject } from '../../../api/object.ts';
import { ApiError, statusErrors } from '../../../api/status.ts';
import type { Entry } from '../../../store/contract.ts';
import type { AdmissionRequest } from '../../admission/chain.ts';
import type { ApiResponse, ObjectRevision } from '../../api.ts';
import { recordWrite } from '../../objects/side-records.ts';
import { adoptNamespace, dedupeOwners, fillSystemFields, generateName, wipeSystemFields } from '../../objects/metadata.ts';
import { parseWriteOptions, type WriteOptions } from '../../objects/options.ts';
import { type Call, decodeObject, type Registry, targetOf } from '../registry.ts';
import { keyOf, type Resource } from '../../objects/resources.ts';
import { encode, revisionOf, dryRunRevision } from '../../objects/object-revision.ts';
import { trackManagedFields } from '../field-manager.ts';
import { type TransactionDraft, type PreparedWrite, write } from '../../objects/transaction.ts';
import { validate } from '../validation.ts';

/** Attempts at a generated name: with 8 a million objects may share a generateName. */
const MAX_GENERATED_NAMES = 8;

export async function create(registry: Registry, call: Call): Promise<ApiResponse> {
  const { request, route, warnings } = call;
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const read = (): KubeObject => {
    const object = decodeObject(request.body, route.resource.kind, { fieldValidation: options.fieldValidation, warnings });
    wipeSystemFields(object);
    adoptNamespace(object, route.resource.kind, route.namespace);
    return object;
  };
  const first = read();
  const { resourceVersion } = first.metadata;
  const given = first.metadata.name ?? '';
  let unused: KubeObject | undefined = first;
  let taken = 0;
  const stored = await write(targetOf(registry, call, given), async (draft) => {
    // A failed attempt has changed its object: the next one decodes the body again.
    const object = unused ?? read();
    unused = undefined;
    const prepared = await prepareCreate(registry, call, { object, options, draft, mayRename: () => given === '' && ++taken < MAX_GENERATED_NAMES });
    if (!options.dryRun) refuseVersion(resourceVersion);
    return prepared;
  });
  return { type: 'object', code: 201, kind: route.resource.kind, stored, warnings: [...warnings] };
}

/** Kubernetes checks this last, and answers with 500 and no reason: clients recognize the message. */
function refuseVersion(given = ''): void {
  if (!/^0*[1-9]\d*$/.test(given)) return;
  throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
}

export interface Creation {
  readonly object: KubeObject;
  readonly options: WriteOptions;
  readonly draft: TransactionDraft;
  /** Its managedFields are set already. */
  readonly tracked?: boolean;
  /** What the same write makes of the admitted object: its status. */
  readonly thenStatus?: (object: KubeObject) => Promise<KubeObject>;
  /** Whether to generate another name if this one exists. */
  readonly mayRename: () => boolean;
}

/** From a decoded object to the transaction that creates it. */
export async function prepareCreate(registry: Registry, call: Call, creation: Creation): Promise<PreparedWrite<ObjectRevision>> {
  const { resource } = call.route;
  const { draft, options } = creation;
  const admitted = await admitCreation(registry, call, creation);
  const encoded = encode(resource, creation.thenStatus === undefined ? admitted : await creation.thenStatus(admitted));
  const { namespace = '', name = '' } = encoded.object.metadata;
  const key = keyOf(resource, namespace, name);
  if (options.dryRun) {
    const found = await registry.store.get(key);
    if (found !== undefined) throw alreadyExists(resource, encoded.object, found);
    return { type: 'answer', answer: dryRunRevision(resource, encoded, 0) };
  }
  draft.expect(key, 0);
  draft.put(key, encoded);
  recordWrite(draft, registry, { resource, object: encoded.object, old: undefined });
  return {
    type: 'commit',
    answer: (committed) => committed.revisionAt(resource, key),
    conflict: (at, found) => (at !== key || creation.mayRename() ? undefined : alreadyExists(resource, encoded.object, found)),
  };
}

async function admitCreation(registry: Registry, call: Call, { object, options, draft, tracked }: Creation): Promise<KubeObject> {
  const { resource, namespace } = call.route;
  const { kind } = resource;
  const { warnings } = call;
  const admission: AdmissionRequest = {
    operation: 'create',
    resource,
    subresource: '',
    namespace,
    name: object.metadata.name ?? '',
    object,
    old: undefined,
    user: call.request.user,
    dryRun: options.dryRun,
    draft,
    warnings,
    options,
    annotate: call.request.annotate,
  };
  for (const warning of dedupeOwners(object, 'given')) warnings.add(warning);
  if (tracked !== true) trackManagedFields(registry, call, { object, old: undefined, subresource: '', options });
  await registry.admission.mutate(admission);
  for (const warning of dedupeOwners(object, 'admitted')) warnings.add(warning);
  fillSystemFields(object, registry.world);
  if ((object.metadata.name ?? '') === '' && (object.metadata.generateName ?? '') !== '') {
    object.metadata.name = generateName(object.metadata.generateName ?? '', registry.world.random);
  }
  if (kind.hasGeneration) object.metadata.generation = 1;
  for (const warning of kind.droppedFields?.(object, undefined) ?? []) warnings.add(warning);
  kind.prepareForCreate?.(object, registry.world.clock.now(), call.request.user);
  validate({ resource, object, old: undefined, write: 'create' });
  for (const warning of kind.warnings?.(object, undefined) ?? []) warnings.add(warning);
  await registry.admission.validate(admission);
  return object;
}

function alreadyExists(resource: Resource, object: KubeObject, found: Entry | undefined): ApiError {
  const { kind } = resource;
  const { name = '', generateName: base = '' } = object.metadata;
  const plain = statusErrors.alreadyExists(kind, name);
  const generated = base !== '';
  const why = generated ? `${plain.message}, the server was not able to generate a unique name for the object` : plain.message;
  const deleting = found !== undefined && revisionOf(resource, found).object.metadata.deletionTimestamp !== undefined;
  const message = deleting ? `object is being deleted: ${why}` : why;
  return new ApiError(409, 'AlreadyExists', message, generated ? { ...plain.details, retryAfterSeconds: 1 } : plain.details);
}
