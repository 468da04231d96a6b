import { invalid } from '../../../api/field-error.ts';
import { fieldElement, ownersInObject, ownersInScale, type ScaleMapping } from '../../../api/apply/index.ts';
import type { ManagedFieldsEntry, Scale } from '../../../api/generated/types.ts';
import type { ScalePaths } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { cloneObject } from '../../../api/schema/index.ts';
import { statusErrors } from '../../../api/status.ts';
import type { ApiResponse } from '../../api.ts';
import { applicationOf, isApply } from '../verbs/apply.ts';
import { currentOf } from '../verbs/get.ts';
import { adoptNamespace, checkName } from '../../objects/metadata.ts';
import { parseWriteOptions, type WriteOptions } from '../../objects/options.ts';
import { scaleOf } from '../../objects/scale.ts';
import { patchOf } from '../verbs/patch.ts';
import { type Call, decodeBody, bodyType, type Registry } from '../registry.ts';
import { scaleApplyContextOf, applyContextOf, managedFieldsAfter } from '../field-manager.ts';
import { updateObject } from '../verbs/update.ts';

const scaleType = bodyType<Scale>('autoscaling', 'v1', 'Scale');

/** The /scale subresource: reads and writes the number of replicas and nothing else. */
export async function scale(registry: Registry, call: Call, paths: ScalePaths<KubeObject>): Promise<ApiResponse> {
  const { request } = call;
  switch (request.info.verb) {
    case 'get':
      return respond(call, scaleOf(paths, (await currentOf(registry, call)).object));
    case 'update':
      return rescale(registry, call, { paths, ...putScale(call) });
    case 'patch': {
      if (isApply(call)) {
        const { options, make } = applicationOf(call);
        return rescale(registry, call, { paths, options, applies: true, desired: (current) => make(scaleApplyContextOf(registry), scaleType, current) });
      }
      const { options, apply } = patchOf(call, scaleType);
      return rescale(registry, call, { paths, options, applies: false, desired: apply });
    }
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}

const respond = (call: Call, object: Scale): ApiResponse => ({ type: 'plain', code: 200, object, warnings: [...call.warnings] });

function putScale({ request, warnings }: Call): Omit<Rescaling, 'paths'> {
  const options = parseWriteOptions(request.query, 'UpdateOptions');
  return { options, applies: false, desired: () => decodeBody(request.body, scaleType, { fieldValidation: options.fieldValidation, warnings }) };
}

interface Rescaling {
  readonly paths: ScalePaths<KubeObject>;
  readonly options: WriteOptions;
  /** A server-side apply: the desired scale has its managedFields. */
  readonly applies: boolean;
  readonly desired: (current: Scale) => Scale;
}

async function rescale(registry: Registry, call: Call, rescaling: Rescaling): Promise<ApiResponse> {
  const { resource, namespace, name } = call.route;
  const { paths, options } = rescaling;
  const { stored } = await updateObject(registry, call, {
    part: 'object',
    options,
    createsAbsent: false,
    tracked: true,
    desired: (current) => {
      if (current === undefined) throw statusErrors.notFound({ ...resource.kind, plural: `${resource.kind.plural}/scale` }, name);
      const { wanted, managedFields } = desiredScale(registry, call, { ...rescaling, current });
      adoptNamespace(wanted, resource.kind, namespace);
      checkName(wanted, name);
      checkScale(call, wanted, current);
      const object = scaled(paths, current, wanted);
      if (managedFields === undefined) delete object.metadata.managedFields;
      else object.metadata.managedFields = managedFields;
      return object;
    },
  });
  return respond(call, scaleOf(paths, stored.object));
}

interface Desired {
  readonly wanted: Scale;
  /** Of the object. */
  readonly managedFields: ManagedFieldsEntry[] | undefined;
}

/** The scale as the client wants it. If the object has managedFields, or gets them, the owners of the replicas change as in any object. */
function desiredScale(registry: Registry, call: Call, { paths, options, applies, desired, current }: Rescaling & { current: KubeObject }): Desired {
  const before = scaleOf(paths, current);
  const entries = current.metadata.managedFields;
  if (entries === undefined && options.fieldManager === '') return { wanted: desired(before), managedFields: undefined };
  const { resource } = call.route;
  // An object without managedFields: from now on its fields have owners.
  const known =
    entries ?? managedFieldsAfter(applyContextOf(registry, resource, ''), call, { object: current, old: current, options, liveEntries: undefined }) ?? [];
  const mapping: ScaleMapping = { version: resource.apiVersion, replicas: (paths.replicasPath ?? ['spec', 'replicas']).map(fieldElement) };
  const inScale = ownersInScale(known, mapping);
  const live: Scale = inScale === undefined ? before : { ...before, metadata: { ...before.metadata, managedFields: inScale } };
  const wanted = desired(live);
  const given = wanted.metadata.managedFields;
  delete wanted.metadata.managedFields;
  const after = applies ? given : managedFieldsAfter(scaleApplyContextOf(registry), call, { object: wanted, old: before, options, liveEntries: inScale });
  return { wanted, managedFields: ownersInObject(known, after ?? [], mapping) };
}

function checkScale({ route }: Call, { metadata, spec }: Scale, { metadata: current }: KubeObject): void {
  const { kind } = route.resource;
  const replicas = spec.replicas ?? 0;
  if (replicas < 0) {
    const error = invalid('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw statusErrors.invalid({ group: 'autoscaling', kind: 'Scale' }, route.name, [error]);
  }
  const { uid = '' } = metadata;
  if (uid === '' || uid === current.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.uid ?? ''}`;
  throw statusErrors.conflict({ ...kind, plural: `${kind.plural}/scale` }, route.name, why);
}

function scaled(paths: ScalePaths<KubeObject>, current: KubeObject, { metadata, spec }: Scale): KubeObject {
  const object = cloneObject(current);
  paths.setReplicas(object, spec.replicas ?? 0);
  if (metadata.resourceVersion === undefined) delete object.metadata.resourceVersion;
  else object.metadata.resourceVersion = metadata.resourceVersion;
  return object;
}
