import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { StoreContent } from '../../store/content.ts';
import { StoreError } from '../../store/contract.ts';
import { digestOf } from './content-digest.ts';

const FORMAT = 'mooring.dev/store-snapshot/v1';

type CopiedEntry = StoreContent['entries'][number];

/** Lines of JSON: a header, one line for each key, and the digest of all of them. The file has its name only once it is complete; mode 0600. */
export async function saveSnapshot(file: string, content: StoreContent): Promise<string> {
  const digest = digestOf(content.entries);
  const unfinished = `${file}.new`;
  // The snapshot has the keys of the cluster: a file that was there already would keep its owner and its mode.
  await rm(unfinished, { force: true });
  try {
    await pipeline(Readable.from(linesOf(content, digest)), createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return digest;
}

function* linesOf({ clusterId, revision, entries }: StoreContent, digest: string): Generator<string> {
  yield `${JSON.stringify({ format: FORMAT, clusterId, revision, keys: entries.length })}\n`;
  for (const { key, value, createRevision, modRevision } of entries)
    yield `${JSON.stringify([key, createRevision, modRevision, Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')])}\n`;
  yield `${JSON.stringify({ digest })}\n`;
}

/** @throws StoreError `corrupt`, `newer-version` */
export async function readSnapshot(file: string): Promise<StoreContent> {
  const damaged = (found: string): StoreError => new StoreError('corrupt', `${file} is no whole snapshot: ${found}`);
  let header: { readonly clusterId: string; readonly revision: number; readonly keys: number } | undefined;
  let digest: string | undefined;
  const entries: CopiedEntry[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    const value = parsed(line);
    if (header === undefined) {
      const { format } = (value ?? {}) as { format?: string };
      if (typeof format === 'string' && format.startsWith('mooring.dev/store-snapshot/') && format !== FORMAT)
        throw new StoreError('newer-version', `${file} is a snapshot of another version (${format})`);
      if (format !== FORMAT) throw damaged('its first line is not that of a snapshot');
      header = value as typeof header;
    } else if (Array.isArray(value)) entries.push(entryOf(value as [string, number, number, string]));
    else digest = (value as { digest?: string } | undefined)?.digest;
  }
  if (header === undefined) throw damaged('it is empty');
  if (digest === undefined || entries.length !== header.keys) throw damaged(`it has ${entries.length} of ${header.keys} keys`);
  if (digestOf(entries) !== digest) throw damaged('its digest does not match');
  return { clusterId: header.clusterId, revision: header.revision, entries };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const entryOf = ([key, createRevision, modRevision, value]: [string, number, number, string]): CopiedEntry => ({
  key,
  createRevision,
  modRevision,
  value: Buffer.from(value, 'base64'),
});
