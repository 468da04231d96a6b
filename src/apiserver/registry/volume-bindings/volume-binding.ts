/**
 * `POST /apis/mooring.dev/v1/volumebindings` (docs/EXTENSIONS.md): binds a PV and a PVC in one transaction.
 *
 * Kubernetes' protocol takes four writes: the PV's spec, its status, the PVC's spec, its status. These are the same four,
 * each authorized, admitted and validated as if it came alone, but at one revision: a reader or watcher sees the pair
 * before or after, never between. With `intent`, the PV is new and the VolumeIntent by which it was made is deleted: a
 * provisioned volume is bound from the start.
 */
import { type FieldError, invalid, notOneOf, required } from '../../../api/field-error.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/generated/types.ts';
import { apiVersionOf } from '../../../api/kind.ts';
import { type VolumeBinding, type VolumeBindingIntent, volumeBindingKind } from '../../../api/kinds/mooring/volume-binding.ts';
import { volumeIntentKind } from '../../../api/kinds/mooring/volume-intent.ts';
import type { KubeObject } from '../../../api/object.ts';
import { cloneObject } from '../../../api/schema/index.ts';
import { statusErrors } from '../../../api/status.ts';
import type { ApiRequest } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { type DeleteCall, type UpdateCall, writeTogether } from './write-together.ts';
import type { CreateOnlyResource } from '../dispatch.ts';
import { requireAuthorization } from '../secondary-authorization.ts';
import { dedupeOwners } from '../../objects/metadata.ts';
import { parseWriteOptions, type WriteOptions } from '../../objects/options.ts';
import { type BodyType, decodeBody, type Registry } from '../registry.ts';
import type { Resource, Resources } from '../../objects/resources.ts';

const bindingType: BodyType<VolumeBinding> = volumeBindingKind;
const apiVersion = apiVersionOf(volumeBindingKind);

export function volumeBindings(registry: Registry, authorizer: Authorizer): CreateOnlyResource {
  const kinds = bindingKinds(registry.resources);
  return {
    kind: volumeBindingKind,
    async create(request, { warnings }) {
      const options = parseWriteOptions(request.query, 'CreateOptions');
      const read = () => readBinding(request, { kinds, options, warnings });
      const given = read();
      checkBinding(given);
      const changes = twoChanges({ kinds, request, options, warnings, given, read });
      for (const { call } of changes) for (const subresource of ['', 'status']) await requireAuthorization(authorizer, call, { verb: 'update', subresource });
      const deletion = given.intent === undefined ? undefined : intentDeletion(given.intent, { kinds, request, options, warnings });
      if (deletion !== undefined) await requireAuthorization(authorizer, deletion.call, { verb: 'delete', subresource: '' });
      const [volume, claim] = await writeTogether(registry, { updates: changes, deletion });
      if (volume === undefined || claim === undefined) throw new Error('two changes have two answers');
      const object = { kind: volumeBindingKind.kind, apiVersion, metadata: {}, volume: volume.stored.object, claim: claim.stored.object };
      return { type: 'plain', code: 201, object: Object.freeze(object), warnings: [...warnings] };
    },
  };
}

interface BindingKinds {
  readonly volume: Resource;
  readonly claim: Resource;
  readonly intent: Resource;
}

const bindingKinds = (resources: Resources): BindingKinds => ({
  volume: resources.require('v1', 'persistentvolumes'),
  claim: resources.require('v1', 'persistentvolumeclaims'),
  intent: resources.require(apiVersion, volumeIntentKind.plural),
});

interface Reading {
  readonly kinds: BindingKinds;
  readonly options: WriteOptions;
  readonly warnings: Set<string>;
}

/** A new object on every call: a write changes it. @throws ApiError 400, 415 */
function readBinding({ body }: ApiRequest, { kinds, options, warnings }: Reading): VolumeBinding {
  const binding = decodeBody(body, bindingType, { fieldValidation: options.fieldValidation, warnings });
  complete(binding.volume, kinds.volume, 'volume');
  complete(binding.claim, kinds.claim, 'claim');
  for (const object of [binding.volume, binding.claim]) for (const warning of dedupeOwners(object, 'given')) warnings.add(warning);
  return binding;
}

/** An object inside the VolumeBinding need not have kind and apiVersion, but must not have others. */
function complete(object: KubeObject, { kind, apiVersion: version }: Resource, field: 'volume' | 'claim'): void {
  const given = `${object.apiVersion ?? version} ${object.kind ?? kind.kind}`;
  if (given !== `${version} ${kind.kind}`) throw statusErrors.badRequest(`the ${field} of a VolumeBinding must be a ${version} ${kind.kind}, not a ${given}`);
  object.apiVersion = version;
  object.kind = kind.kind;
  if (!kind.namespaced) delete object.metadata.namespace;
  kind.defaults?.(object);
}

/** The PV and the PVC must refer to each other. @throws ApiError 422 */
function checkBinding({ volume, claim, intent }: VolumeBinding): void {
  const errors: FieldError[] = [
    ...missing(volume.metadata.name, 'volume.metadata.name'),
    ...(intent === undefined ? missing(volume.metadata.resourceVersion, 'volume.metadata.resourceVersion') : newVolumeErrors(volume, intent)),
    ...missing(claim.metadata.namespace, 'claim.metadata.namespace'),
    ...missing(claim.metadata.name, 'claim.metadata.name'),
    ...missing(claim.metadata.uid, 'claim.metadata.uid'),
    ...missing(claim.metadata.resourceVersion, 'claim.metadata.resourceVersion'),
    ...claimRefErrors(volume, claim),
  ];
  if (claim.spec.volumeName !== volume.metadata.name) errors.push(invalid('claim.spec.volumeName', claim.spec.volumeName ?? '', "must be the volume's name"));
  if (volume.status.phase !== 'Bound') errors.push(notOneOf('volume.status.phase', volume.status.phase ?? '', ['Bound']));
  if (claim.status.phase !== 'Bound') errors.push(notOneOf('claim.status.phase', claim.status.phase ?? '', ['Bound']));
  if (errors.length > 0) throw statusErrors.invalid(volumeBindingKind, claim.metadata.name ?? '', errors);
}

function newVolumeErrors({ metadata }: PersistentVolume, { name, uid }: VolumeBindingIntent): FieldError[] {
  const errors = missing(uid, 'intent.uid');
  if (name !== metadata.name) errors.push(invalid('intent.name', name, "must be the volume's name"));
  if (metadata.resourceVersion === undefined) return errors;
  return [...errors, invalid('volume.metadata.resourceVersion', metadata.resourceVersion, 'must not be set: the volume of an intent is created')];
}

const missing = (value: string | undefined, field: string): FieldError[] => ((value ?? '') === '' ? [required(field)] : []);

function claimRefErrors({ spec: { claimRef } }: PersistentVolume, { metadata }: PersistentVolumeClaim): FieldError[] {
  if (claimRef === undefined) return [required('volume.spec.claimRef')];
  return (['namespace', 'name', 'uid'] as const).flatMap((part) =>
    claimRef[part] === metadata[part] ? [] : [invalid(`volume.spec.claimRef.${part}`, claimRef[part] ?? '', `must be the claim's ${part}`)],
  );
}

interface Writes extends Reading {
  readonly request: ApiRequest;
  readonly given: VolumeBinding;
  readonly read: () => VolumeBinding;
}

/** Of each object first all but the status, then the status, as a client of Kubernetes would send them. */
function twoChanges({ kinds, request, options, warnings, given, read }: Writes): readonly UpdateCall[] {
  return (['volume', 'claim'] as const).map((half) => {
    const { namespace = '', name = '', uid } = given[half].metadata;
    const createsAbsent = half === 'volume' && given.intent !== undefined;
    const route = { resource: kinds[half], namespace, name, subresource: '' };
    let unused: Half | undefined = given[half];
    let latest: Half = given[half];
    return {
      call: { request, route, warnings },
      change: {
        part: 'object',
        options,
        uid,
        createsAbsent,
        desired: (current) => {
          // A volume of that name may be another one: it is not changed.
          if (createsAbsent && current !== undefined) throw statusErrors.alreadyExists(kinds[half].kind, name);
          latest = unused ?? read()[half];
          unused = undefined;
          // A shallow copy, since the update of the object replaces the wanted status by the stored one.
          return { ...latest };
        },
        thenStatus: (changed) => Object.assign({ ...changed, metadata: cloneObject(changed.metadata) }, { status: latest.status }),
      },
    };
  });
}

type Half = VolumeBinding['volume' | 'claim'];

/** What was begun is forgotten only with the write that ends it, and only if it is still that intent. */
function intentDeletion({ name, uid }: VolumeBindingIntent, { kinds, request, options, warnings }: Reading & { readonly request: ApiRequest }): DeleteCall {
  const route = { resource: kinds.intent, namespace: '', name, subresource: '' };
  const { dryRun } = options;
  const preconditions = { uid, resourceVersion: undefined };
  return {
    call: { request, route, warnings },
    options: { dryRun, preconditions, gracePeriodSeconds: undefined, propagationPolicy: undefined, orphanDependents: undefined },
  };
}
