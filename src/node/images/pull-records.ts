/**
 * Which pods may use an image that was pulled (the kubelet's ImagePulledRecord, KubeletEnsureSecretPulledImages): those with credentials that have pulled it, unless
 * it was pulled without any. An image without a record was loaded: every pod may use it (imagePullCredentialsVerificationPolicy NeverVerifyPreloadedImages).
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { KeyedMutex } from '../../world/keyed-mutex.ts';
import type { ContentStore } from './content-store.ts';

/** A secret whose credentials are for the image's repository. */
export interface ImagePullSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly credentialHash: string;
}

/** Who may use an image by a name of a repository. */
export type ImagePullCredentials = { readonly nodePodsAccessible: true } | { readonly kubernetesSecrets: readonly ImagePullSecret[] };

interface ImagePulledRecord {
  /** The digest of the index or manifest. */
  readonly imageRef: string;
  /** By repository. */
  readonly credentialMapping: Readonly<Record<string, ImagePullCredentials>>;
}

/** A name of an image, and what it stands for. */
export interface PulledImage {
  readonly digest: string;
  /** 'docker.io/library/busybox' */
  readonly repository: string;
}

/** As the kubelet: beyond that, a secret that matches is not added to a record. */
const mostSecrets = 100;

export class PullRecords {
  readonly #content: ContentStore;
  readonly #mutex = new KeyedMutex();

  constructor(content: ContentStore) {
    this.#content = content;
  }

  /** Before the image has its name: no crash leaves an image that was pulled and looks as if it had been loaded. */
  async add({ digest, repository }: PulledImage, credentials: ImagePullCredentials): Promise<void> {
    await this.#mutex.run(digest, async () => {
      const known = (await this.#read(digest)) ?? { imageRef: digest, credentialMapping: {} };
      const merged = merge(known.credentialMapping[repository], credentials);
      const record: ImagePulledRecord = { imageRef: digest, credentialMapping: { ...known.credentialMapping, [repository]: merged } };
      if (JSON.stringify(record) !== JSON.stringify(known)) await this.#content.replaceFile(this.#file(digest), JSON.stringify(record));
    });
  }

  /** Whether a pod with these secrets may use the image without a pull that its registry permits: MustAttemptImagePull, the other way round. */
  async permits(image: PulledImage, secrets: readonly ImagePullSecret[]): Promise<boolean> {
    const record = await this.#read(image.digest);
    if (record === undefined) return true;
    const known = record.credentialMapping[image.repository];
    if (known === undefined) return false;
    if ('nodePodsAccessible' in known) return true;
    const isSame = (a: ImagePullSecret, b: ImagePullSecret): boolean => a.credentialHash === b.credentialHash || sameSecret(a, b);
    const match = secrets.find((own) => known.kubernetesSecrets.some((each) => isSame(own, each)));
    // The secret may change: it has had the image.
    if (match !== undefined && known.kubernetesSecrets.length < mostSecrets) await this.add(image, { kubernetesSecrets: [match] });
    return match !== undefined;
  }

  /** Every pod may use it, as the machine's administrator has loaded it. */
  async forget(digest: string): Promise<void> {
    await this.#mutex.run(digest, () => rm(this.#file(digest), { force: true }));
  }

  /** Those of images that are not there any more. An image that is being pulled has no name yet, but its manifest is there. */
  async collect(): Promise<void> {
    for (const name of await readdir(path.join(this.#content.directory, 'pulled'))) {
      const digest = name.replace('-', ':');
      if (!existsSync(this.#content.path(digest))) await this.forget(digest);
    }
  }

  #file(digest: string): string {
    return path.join(this.#content.directory, 'pulled', digest.replace(':', '-'));
  }

  /** Undefined: there is none. One that is damaged permits nothing. */
  async #read(digest: string): Promise<ImagePulledRecord | undefined> {
    const none = { imageRef: digest, credentialMapping: {} };
    try {
      const { credentialMapping } = JSON.parse(await readFile(this.#file(digest), 'utf8')) as Partial<ImagePulledRecord>;
      return typeof credentialMapping === 'object' ? { imageRef: digest, credentialMapping } : none;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : none;
    }
  }
}

export const credentialHash = (credentials: unknown): string => createHash('sha256').update(JSON.stringify(credentials)).digest('hex');

const sameSecret = (a: ImagePullSecret, b: ImagePullSecret): boolean => a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;

function merge(known: ImagePullCredentials | undefined, added: ImagePullCredentials): ImagePullCredentials {
  if (known === undefined || 'nodePodsAccessible' in added) return added;
  if ('nodePodsAccessible' in known) return known;
  const others = known.kubernetesSecrets.filter((each) => !added.kubernetesSecrets.some((own) => sameSecret(own, each)));
  return { kubernetesSecrets: [...others, ...added.kubernetesSecrets] };
}
