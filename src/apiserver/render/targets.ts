import { ApiError, statusErrors } from '../../api/status.ts';
import { type Allows, type Format, mediaTypes, type Rendition, rememberNegotiation, type Target } from './accept.ts';

export const metaGroup = 'meta.k8s.io';

/** Resources can be asked for as themselves, as a Table (text formats only), or as their metadata alone. */
const resourceAllows: Allows = (format, as) => {
  if (as === undefined) return true;
  if (as.group !== metaGroup || (as.version !== 'v1' && as.version !== 'v1beta1')) return false;
  switch (as.kind) {
    case 'Table':
      return format !== 'protobuf';
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return true;
    default:
      return false;
  }
};

const plainAllows: Allows = (_format, as) => as === undefined;

const watchAllows: Allows = (format, as) => format !== 'yaml' && resourceAllows(format, as);

export const negotiateResource = rememberNegotiation(resourceAllows);
export const negotiatePlain = rememberNegotiation(plainAllows);
export const negotiateWatch = rememberNegotiation(watchAllows);

export const apiVersionOfTarget = (as: Target): string => `${as.group}/${as.version}`;

const served: readonly Format[] = ['json', 'yaml', 'protobuf'];
const streamed: readonly Format[] = ['json', 'protobuf'];

const plainTypes = served.map((format) => mediaTypes[format]);
const streamTypes = streamed.map((format) => `${mediaTypes[format]};stream=watch`);

/**
 * 406. Kubernetes has two texts: the router's, for media types that no resource has, and the one for a known media type
 * whose parameters ask for what cannot be had.
 */
export function notAcceptable(accept: string, watch: boolean): ApiError {
  const asked = accept.split(',').map((part) => (part.split(';')[0] ?? '').trim());
  const all = [...plainTypes, ...streamTypes];
  if (asked.some((type) => type === '*/*' || all.includes(type))) return statusErrors.notAcceptable(watch ? streamTypes : plainTypes);
  return new ApiError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${all.join(', ')}`, {});
}

/** Reviews have no metadata: they are no rows of a Table. */
const plainGroups: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/** What a request for a resource of a group will be answered in. @throws ApiError 406 */
export function resourceRendition(accept: string | undefined, watch: boolean, group = ''): Rendition {
  const rendition = watch ? negotiateWatch(accept) : plainGroups.has(group) ? negotiatePlain(accept) : negotiateResource(accept);
  if (rendition === undefined) throw notAcceptable(accept ?? '', watch);
  return rendition;
}
