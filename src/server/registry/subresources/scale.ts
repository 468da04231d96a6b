import { invalid } from '../../../api/field-error.ts';
import type { Scale } from '../../../api/generated/types.ts';
import type { ScalePaths } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { cloneObject } from '../../../api/schema/index.ts';
import { statusErrors } from '../../../api/status.ts';
import type { ApiResponse } from '../../api.ts';
import { currentOf } from '../get.ts';
import { adoptNamespace, checkName } from '../metadata.ts';
import { parseWriteOptions, type WriteOptions } from '../options.ts';
import { patchOf } from '../patch.ts';
import { type Call, decodeBody, bodyType, type Registry } from '../registry.ts';
import { change } from '../update.ts';

const scaleType = bodyType<Scale>('autoscaling', 'v1', 'Scale');

/** The number of replicas, and nothing else, of whatever has one. */
export async function scale(registry: Registry, call: Call, paths: ScalePaths<KubeObject>): Promise<ApiResponse> {
  const { request } = call;
  switch (request.method) {
    case 'GET':
      return respond(call, scaleOf(paths, (await currentOf(registry, call)).object));
    case 'PUT':
      return rescale(registry, call, { paths, ...putScale(call) });
    case 'PATCH': {
      const { options, apply } = patchOf(call, scaleType);
      return rescale(registry, call, { paths, options, desired: apply });
    }
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}

const respond = (call: Call, object: Scale): ApiResponse => ({ type: 'plain', code: 200, object, warnings: [...call.warnings] });

function scaleOf(paths: ScalePaths<KubeObject>, { metadata, ...object }: KubeObject): Scale {
  const whole = { ...object, metadata };
  const selector = paths.selector(whole);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: Object.fromEntries(Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(([, value]) => value !== undefined)),
    spec: replicasOf(paths.replicas(whole)),
    status: { replicas: paths.statusReplicas(whole), ...(selector === '' ? {} : { selector }) },
  };
}

const replicasOf = (replicas: number): Scale['spec'] => (replicas === 0 ? {} : { replicas });

function putScale({ request, warnings }: Call): Omit<Rescaling, 'paths'> {
  const options = parseWriteOptions(request.query, 'UpdateOptions');
  return { options, desired: () => decodeBody(request.body, scaleType, { fieldValidation: options.fieldValidation, warnings }) };
}

interface Rescaling {
  readonly paths: ScalePaths<KubeObject>;
  readonly options: WriteOptions;
  readonly desired: (current: Scale) => Scale;
}

async function rescale(registry: Registry, call: Call, { paths, options, desired }: Rescaling): Promise<ApiResponse> {
  const { resource, namespace, name } = call.route;
  const { stored } = await change(registry, call, {
    part: 'object',
    options,
    createsAbsent: false,
    desired: (current) => {
      if (current === undefined) throw statusErrors.notFound({ ...resource.kind, plural: `${resource.kind.plural}/scale` }, name);
      const wanted = desired(scaleOf(paths, current));
      adoptNamespace(wanted, resource.kind, namespace);
      checkName(wanted, name);
      checkScale(call, wanted, current);
      return scaled(paths, current, wanted);
    },
  });
  return respond(call, scaleOf(paths, stored.object));
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
