/** Pulls an image: its index and manifest, its config and the layers that are missing. */
import { createHash } from 'node:crypto';
import type { Timers } from '../../../world/world.ts';
import type { ImageStore, NamedImage } from '../image-store.ts';
import { choosePlatform, type Descriptor, ImageError, parseDocument, type Platform } from '../manifest.ts';
import { type ImageReference, referenceText, repositoryOf } from '../reference.ts';
import type { TrackedCredentials } from '../credentials.ts';
import { isLoopback, RegistryError, RegistryRepository } from './registry-client.ts';

export interface PullContext {
  readonly images: ImageStore;
  readonly platform: Platform;
  readonly timers: Timers;
  /** Base addresses that are asked before the registry itself, by the registry's name. */
  readonly mirrors: ReadonlyMap<string, readonly string[]>;
}

/** Of a blob whose connection breaks. */
const mostAttempts = 5;
const layersAtOnce = 3;

/** The image is whole and unpacked afterwards, its name stands for it, and whose credentials pulled it is recorded. @throws with containerd's words */
export async function pullImage(
  reference: ImageReference,
  credentials: readonly TrackedCredentials[],
  context: PullContext,
): Promise<NamedImage & { readonly size: number }> {
  const { mirrors } = context;
  const name = referenceText(reference);
  const endpoints = [...(mirrors.get(reference.registry) ?? []), endpointOf(reference.registry)];
  // As the kubelet: without credentials only if there are none.
  const attempts = endpoints.flatMap((endpoint) => (credentials.length === 0 ? [undefined] : credentials).map((tracked) => ({ endpoint, tracked })));
  let wrong: Error | undefined;
  for (const attempt of attempts) {
    try {
      return await pullFrom(attempt, { name, reference, context });
    } catch (error) {
      wrong = error as Error;
      // What a registry serves is wrong: the next one may serve it right. Other credentials may be the right ones.
      if (!(error instanceof RegistryError) && !(error instanceof ImageError)) break;
    }
  }
  throw new Error(`failed to pull and unpack image "${name}": ${wrong?.message ?? 'there is no registry'}`, { cause: wrong });
}

/** As Docker: a registry of this machine is spoken to without TLS. */
export function endpointOf(registry: string): string {
  if (registry === 'docker.io') return 'https://registry-1.docker.io';
  return `${isLoopback(registry) ? 'http' : 'https'}://${registry}`;
}

interface Pull {
  readonly name: string;
  readonly reference: ImageReference;
  readonly context: PullContext;
}

interface PullAttempt {
  readonly endpoint: string;
  /** Undefined: without any. */
  readonly tracked: TrackedCredentials | undefined;
}

async function pullFrom({ endpoint, tracked }: PullAttempt, { name, reference, context }: Pull): Promise<NamedImage & { readonly size: number }> {
  const { images, platform, timers } = context;
  const repository = new RegistryRepository({ endpoint, repository: reference.repository, credentials: tracked?.credentials, timers });
  const top = await storeDocument(repository, reference.digest ?? reference.tag ?? 'latest', { digest: reference.digest, name, context });
  const document = parseDocument(top.text, name);
  const manifest =
    'manifest' in document
      ? document.manifest
      : await platformManifest(repository, choosePlatform(document.index.manifests, platform, name), { name, context });
  // The config says what the layers have to be; it is small.
  await storeBlob(repository, manifest.config, context);
  const waiting = [...manifest.layers];
  const pullLayers = async (): Promise<void> => {
    for (let layer = waiting.shift(); layer !== undefined; layer = waiting.shift()) await storeBlob(repository, layer, context);
  };
  await Promise.all(Array.from({ length: layersAtOnce }, pullLayers));
  const { size } = await images.prepare(top.digest, name);
  const pulled = { digest: top.digest, repository: repositoryOf(reference) };
  await images.pullRecords.add(pulled, tracked === undefined ? { nodePodsAccessible: true } : { kubernetesSecrets: [tracked.source] });
  await images.tag({ name, digest: top.digest });
  return { name, digest: top.digest, size };
}

async function platformManifest(repository: RegistryRepository, { digest }: Descriptor, { name, context }: Pick<Pull, 'name' | 'context'>) {
  const known = (await context.images.content.has(digest)) === undefined ? undefined : await context.images.content.read(digest);
  const text = known ?? (await storeDocument(repository, digest, { digest, name, context })).text;
  const document = parseDocument(text, name);
  if ('manifest' in document) return document.manifest;
  throw new ImageError(`${name} has an index in its index`);
}

interface WantedDocument {
  readonly digest: string | undefined;
  readonly name: string;
  readonly context: PullContext;
}

async function storeDocument(
  repository: RegistryRepository,
  reference: string,
  { digest, name, context }: WantedDocument,
): Promise<{ readonly digest: string; readonly text: string }> {
  const bytes = await repository.manifest(reference).catch((error: unknown) => {
    if (!(error instanceof RegistryError)) throw error;
    const why = error.status === 404 ? `${name}: not found` : error.message;
    throw new RegistryError(`failed to resolve reference "${name}": ${why}`, error.status);
  });
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (digest !== undefined && found !== digest) throw new ImageError(`the registry answers with ${found}, not with ${digest}`);
  await context.images.content.write([bytes], { digest: found, size: bytes.length });
  return { digest: found, text: bytes.toString() };
}

/** A connection that breaks goes on where it was. What is there already is not pulled. */
async function storeBlob(repository: RegistryRepository, { digest, size }: Descriptor, { images }: PullContext): Promise<void> {
  if ((await images.content.has(digest)) !== undefined) return;
  let ingest = await images.content.ingest({ digest, size });
  try {
    let written = 0;
    for (let attempt = 1; ; attempt++) {
      try {
        const { from, body } = await repository.blob(digest, written);
        if (from !== written) {
          await ingest.abandon();
          ingest = await images.content.ingest({ digest, size });
          written = 0;
        }
        for await (const chunk of body) {
          await ingest.write(chunk);
          written += chunk.length;
        }
        if (written >= size) break;
        throw new Error(`${digest} ended after ${written} of ${size} bytes`);
      } catch (error) {
        if (error instanceof ImageError || (error instanceof RegistryError && error.status >= 400 && error.status < 500) || attempt >= mostAttempts)
          throw asRegistryError(error);
      }
    }
    await ingest.commit();
  } finally {
    await ingest.abandon();
  }
}

const asRegistryError = (error: unknown): Error =>
  error instanceof ImageError || error instanceof RegistryError ? error : new RegistryError(`failed to copy: ${(error as Error).message}`, 0);
