import { type FieldError, notOneOf, required } from '../../../api/field-error.ts';
import type { Binding, Pod, PodCondition } from '../../../api/generated/types.ts';
import { cloneObject } from '../../../api/schema/index.ts';
import { statusErrors } from '../../../api/status.ts';
import type { Stored } from '../../../api/stored.ts';
import type { ApiResponse } from '../../api.ts';
import { adoptNamespace, timestamp } from '../../objects/metadata.ts';
import { parseWriteOptions } from '../../objects/options.ts';
import { type Call, decodeBody, bodyType, type Registry, targetOf } from '../registry.ts';
import type { Resource } from '../../objects/resources.ts';
import { encode } from '../../objects/object-revision.ts';
import { type TransactionDraft, type PreparedWrite, write } from '../../objects/transaction.ts';
import { preconditionFailed } from '../verbs/update.ts';
import { created } from './created.ts';
import { podOf } from './pod-of.ts';

const bindingType = bodyType<Binding>('', 'v1', 'Binding');

/** Assigns a pod to a node. Posted to the pod, or (the old way) to the namespace's bindings. */
export async function bind(registry: Registry, call: Call): Promise<ApiResponse> {
  const { request, route, warnings } = call;
  if (request.info.verb !== 'create') throw statusErrors.methodNotAllowedHere();
  const { dryRun, fieldValidation } = parseWriteOptions(request.query, 'CreateOptions');
  const read = (): Binding => {
    const binding = decodeBody(request.body, bindingType, { fieldValidation, warnings });
    adoptNamespace(binding, route.resource.kind, route.namespace);
    checkBinding(binding, route.name);
    return binding;
  };
  const name = read().metadata.name ?? '';
  return write(targetOf(registry, call, name), (draft) => prepareBinding(registry, call, { binding: read(), draft, dryRun }));
}

function checkBinding({ metadata, target }: Binding, name: string): void {
  if (name !== '' && metadata.name !== name) throw statusErrors.badRequest('name in URL does not match name in Binding object');
  const errors: FieldError[] = [];
  if ((target.kind ?? '') !== '' && target.kind !== 'Node') errors.push(notOneOf('target.kind', target.kind, ['Node', '<empty>']));
  if ((target.name ?? '') === '') errors.push(required('target.name'));
  if (errors.length > 0) throw statusErrors.invalid({ group: '', kind: 'Binding' }, metadata.name ?? '', errors);
}

interface Attempt {
  readonly binding: Binding;
  readonly draft: TransactionDraft;
  readonly dryRun: boolean;
}

async function prepareBinding(registry: Registry, call: Call, { binding, draft, dryRun }: Attempt): Promise<PreparedWrite<ApiResponse>> {
  const { resource } = call.route;
  const name = binding.metadata.name ?? '';
  const { key, pod } = await podOf(registry, call, { subresource: 'binding', name, object: binding, draft, dryRun });
  const broken = brokenPrecondition(binding, pod);
  if (broken !== undefined) throw preconditionFailed(resource, key, broken);
  checkUnbound(resource, pod);
  const answer = created(call);
  if (dryRun) return { type: 'answer', answer };
  draft.put(key, encode(resource, bound(pod, binding, registry.world.clock.now())));
  return { type: 'commit', answer: () => answer };
}

/** A Binding may name the uid and resourceVersion of its pod. */
function brokenPrecondition({ metadata: wanted }: Binding, { metadata }: Stored<Pod>): string | undefined {
  if ((wanted.uid ?? '') !== '' && wanted.uid !== metadata.uid) return `UID in precondition: ${wanted.uid}, UID in object meta: ${metadata.uid}`;
  if ((wanted.resourceVersion ?? '') === '' || wanted.resourceVersion === metadata.resourceVersion) return undefined;
  return `ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`;
}

function checkUnbound({ kind }: Resource, { metadata, spec }: Stored<Pod>): void {
  const { name } = metadata;
  const refuse = (why: string): never => {
    throw statusErrors.conflict({ ...kind, plural: 'pods/binding' }, name, why);
  };
  if (metadata.deletionTimestamp !== undefined) refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if ((spec.nodeName ?? '') !== '') refuse(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  if ((spec.schedulingGates ?? []).length > 0) refuse(`pod ${name} has non-empty .spec.schedulingGates`);
}

/** Pure: the pod assigned to its node. */
function bound(pod: Pod, { metadata, target }: Binding, now: number): Pod {
  const object = cloneObject(pod);
  object.spec.nodeName = target.name ?? '';
  delete object.status.nominatedNodeName;
  if (metadata.annotations !== undefined) object.metadata.annotations = { ...object.metadata.annotations, ...metadata.annotations };
  if (metadata.labels !== undefined) object.metadata.labels = { ...object.metadata.labels, ...metadata.labels };
  setCondition(object, { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: timestamp(now) });
  return object;
}

/** Replaces the condition of this type. lastTransitionTime stays if the status does. */
export function setCondition({ status }: Pod, condition: PodCondition): void {
  const conditions = status.conditions ?? [];
  const old = conditions.find((other) => other.type === condition.type);
  const next = old?.status === condition.status ? { ...condition, lastTransitionTime: old.lastTransitionTime } : condition;
  status.conditions = old === undefined ? [...conditions, next] : conditions.map((other) => (other === old ? next : other));
}
