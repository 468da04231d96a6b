/** The parameters of classes that the CSI driver knows (aws-ebs-csi-driver, docs/parameters.md). */

export interface VolumeParameters {
  readonly type?: string;
  readonly iops?: number;
  readonly iopsPerGb?: number;
  readonly allowsIopsIncrease: boolean;
  readonly throughput?: number;
  readonly encrypted: boolean;
  readonly isUnencrypted: boolean;
  readonly kmsKeyId?: string;
  readonly tags: Readonly<Record<string, string>>;
  /** What the node needs for formatting. */
  readonly context: Readonly<Record<string, string>>;
}

/** In words why a class cannot be used. */
export class ParameterError extends Error {}

const isTrue = (value: string): boolean => value === 'true';
/** Options of mkfs: letters and digits. */
const formatting = new Set(['blocksize', 'inodesize', 'bytesperinode', 'numberofinodes', 'ext4bigallocclustersize']);
const formattingSwitches = new Set(['ext4bigalloc', 'ext4encryptionsupport', 'blockattachuntilinitialized']);
/** Volumes of the in-tree plugin had 'fstype'; the zones of a class are its topology. */
const elsewhere = new Set(['fstype', 'blockexpress']);

/** By the key in lower case, as the driver compares them. `mutable`: of a VolumeAttributesClass; they win. @throws ParameterError */
export function volumeParameters(given: Readonly<Record<string, string>>, mutable: Readonly<Record<string, string>> = {}): VolumeParameters {
  const found: { -readonly [Name in keyof VolumeParameters]?: VolumeParameters[Name] } = {};
  const tags: Record<string, string> = {};
  const context: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    const name = key.toLowerCase();
    if (name === 'type') found.type = value;
    else if (name === 'iops') found.iops = whole('iops', value);
    else if (name === 'iopspergb') found.iopsPerGb = whole('iopsPerGB', value);
    else if (name === 'throughput') found.throughput = whole('throughput', value);
    else if (name === 'allowautoiopspergbincrease') found.allowsIopsIncrease = isTrue(value);
    else if (name === 'allowautoiopsincreaseonmodify') addTag(tags, 'ebs.csi.aws.com/AllowAutoIOPSIncreaseOnModify', String(isTrue(value)));
    else if (name === 'encrypted') [found.encrypted, found.isUnencrypted] = [isTrue(value), !isTrue(value)];
    else if (name === 'kmskeyid') found.kmsKeyId = value;
    else if (name === 'csi.storage.k8s.io/pvc/name') addTag(tags, 'kubernetes.io/created-for/pvc/name', value);
    else if (name === 'csi.storage.k8s.io/pvc/namespace') addTag(tags, 'kubernetes.io/created-for/pvc/namespace', value);
    else if (name === 'csi.storage.k8s.io/pv/name') addTag(tags, 'kubernetes.io/created-for/pv/name', value);
    else if (formatting.has(name)) addContext(context, name, value);
    else if (formattingSwitches.has(name)) Object.assign(context, isTrue(value) ? { [name]: 'true' } : {});
    else if (name.startsWith('tagspecification')) addTagText(tags, value);
    else if (!elsewhere.has(name)) throw new ParameterError(`Invalid parameter key ${key} for CreateVolume`);
  }
  const changed = modification(mutable, 'Invalid mutable parameter key');
  if (context.ext4bigallocclustersize !== undefined && context.ext4bigalloc === undefined)
    throw new ParameterError('Cannot set ext4BigAllocClusterSize when ext4BigAlloc is false');
  if (found.iopsPerGb !== undefined) addTag(tags, 'ebs.csi.aws.com/IOPSPerGb', String(found.iopsPerGb));
  return {
    encrypted: false,
    isUnencrypted: false,
    allowsIopsIncrease: false,
    ...found,
    ...(changed.type === undefined ? {} : { type: changed.type }),
    ...(changed.iops === undefined ? {} : { iops: changed.iops }),
    ...(changed.throughput === undefined ? {} : { throughput: changed.throughput }),
    tags: { ...tags, ...changed.tags },
    context,
  };
}

export interface VolumeModification {
  readonly type?: string;
  readonly iops?: number;
  readonly throughput?: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly removedTags: readonly string[];
}

/** The parameters of a VolumeAttributesClass. @throws ParameterError */
export function modification(given: Readonly<Record<string, string>>, refusal = 'Invalid mutable parameter key'): VolumeModification {
  const found: { type?: string; iops?: number; throughput?: number } = {};
  const tags: Record<string, string> = {};
  const removedTags: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (key === 'type' || (key === 'volumeType' && given.type === undefined)) found.type = value;
    else if (key === 'iops') found.iops = whole('IOPS', value);
    else if (key === 'throughput') found.throughput = whole('throughput', value);
    else if (key.startsWith('tagSpecification')) addTagText(tags, value);
    else if (key.startsWith('tagDeletion')) removedTags.push(value);
    else if (key !== 'volumeType') throw new ParameterError(`${refusal}: ${key}`);
  }
  return { ...found, tags, removedTags };
}

function whole(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new ParameterError(`Could not parse invalid ${name}: strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}

function addContext(context: Record<string, string>, name: string, value: string): void {
  if (!/^[0-9a-zA-Z]+$/.test(value)) throw new ParameterError(`Could not parse ${name} (${value})`);
  context[name] = value;
}

function addTag(tags: Record<string, string>, key: string, value: string): void {
  tags[key] = value;
}

/** 'key=value'; the key is not one of those that the driver or the cloud keep for themselves. */
function addTagText(tags: Record<string, string>, text: string): void {
  const at = text.indexOf('=');
  if (at <= 0) throw new ParameterError(`Error interpolating tag value: tag must be in the format "key=value": ${JSON.stringify(text)}`);
  const key = text.slice(0, at);
  if (/^(aws:|kubernetes\.io|CSIVolumeName$|CSIVolumeSnapshotName$|KubernetesCluster$)/.test(key))
    throw new ParameterError(`Invalid tag value: Tag key '${key}' is reserved`);
  tags[key] = text.slice(at + 1);
}
