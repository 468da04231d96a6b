import type { ConfigMap, Lease } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { leaseKind } from '../../api/kinds/coordination/lease.ts';
import type { Stored } from '../../api/stored.ts';
import type { Client } from '../../client/client.ts';
import type { Failure } from '../../client/result.ts';
import type { Fence } from '../../client/transport.ts';
import type { FoundVersion, Operation, Recorder } from './history.ts';

/** What clients of a history have in common, in the simulator and against real servers. */
export interface ClientContext {
  readonly recorder: Recorder;
  readonly random: { float(): number };
  readonly sleep: (ms: number) => Promise<void>;
  /** The clients end. */
  readonly isOver: () => boolean;
  /** Between two operations of a client, at most. */
  readonly pauseMs: number;
}

const namespace = 'default';
const keys = ['a', 'b', 'c', 'd'] as const;
const nameOf = (key: string): string => `history-${key}`;

const versionOf = ({ metadata, data }: Stored<ConfigMap>): FoundVersion => ({ revision: Number(metadata.resourceVersion), value: data?.['value'] ?? '' });

/** Refused for a reason that the history shows; or without an answer, with which the write may have happened. */
const failed = ({ reason }: Failure): 'refused' | 'unknown' =>
  reason === 'conflict' || reason === 'alreadyExists' || reason === 'notFound' || reason === 'deposed' || reason === 'overloaded' ? 'refused' : 'unknown';

/** Reads, writes and deletes a few objects, at random. */
export async function runClient(client: Client, context: ClientContext): Promise<void> {
  const { recorder, random, sleep, isOver, pauseMs } = context;
  while (!isOver()) {
    const key = keys[Math.floor(random.float() * keys.length)] ?? 'a';
    const dice = random.float();
    if (dice < 0.2) await recorder.during(key, () => read(client, key));
    else if (dice < 0.35) await recorder.reading(() => readAll(client));
    else await change(client, key, { recorder, isDeletion: dice > 0.88 });
    await sleep(random.float() * pauseMs);
  }
}

async function read(client: Client, key: string): Promise<Operation['what'] | undefined> {
  const found = await client.get(configMapKind, { namespace, name: nameOf(key) });
  if (found.ok) return { type: 'read', found: versionOf(found.value) };
  return found.reason === 'notFound' ? { type: 'read', found: undefined } : undefined;
}

async function readAll(client: Client): Promise<ReadonlyMap<string, FoundVersion | undefined> | undefined> {
  const listed = await client.list(configMapKind, { namespace });
  if (!listed.ok) return undefined;
  const byName = new Map(listed.value.items.map((object) => [object.metadata.name, versionOf(object)]));
  return new Map(keys.map((key) => [key, byName.get(nameOf(key))]));
}

async function change(client: Client, key: string, { recorder, isDeletion }: { readonly recorder: Recorder; readonly isDeletion: boolean }): Promise<void> {
  const name = nameOf(key);
  let known: Stored<ConfigMap> | undefined;
  let isKnown = false;
  await recorder.during(key, async () => {
    const found = await client.get(configMapKind, { namespace, name });
    isKnown = found.ok || found.reason === 'notFound';
    known = found.ok ? found.value : undefined;
    return isKnown ? { type: 'read', found: known && versionOf(known) } : undefined;
  });
  if (!isKnown) return;
  const base = Number(known?.metadata.resourceVersion ?? 0);
  const before = known;
  if (isDeletion && before !== undefined) {
    const preconditions = { resourceVersion: before.metadata.resourceVersion };
    await recorder.during(key, async () => {
      const deleted = await client.delete(configMapKind, { namespace, name }, { preconditions });
      return { type: 'delete', base, outcome: deleted.ok ? 'done' : failed(deleted) };
    });
  } else await recorder.during(key, () => write(client, { name, before, base, value: recorder.nextValue() }));
}

interface ChangedObject {
  readonly name: string;
  readonly before: Stored<ConfigMap> | undefined;
  readonly base: number;
  readonly value: string;
  readonly epoch?: number;
}

async function write(client: Client, { name, before, base, value, epoch }: ChangedObject): Promise<Operation['what']> {
  const data = { value };
  const written =
    before === undefined
      ? await client.create(configMapKind, { metadata: { namespace, name }, data })
      : await client.update(configMapKind, { ...before, data });
  const outcome = written.ok ? versionOf(written.value).revision : failed(written);
  return { type: 'write', value, base, outcome, ...(epoch === undefined ? {} : { epoch }) };
}

/**
 * Takes the Lease over from the other leader, whether that one knows or not, and writes with its epoch: after another has taken over, no write
 * of this one may happen.
 */
export async function runLeader(client: Client, identity: string, context: ClientContext & { readonly fenced: (fence: Fence) => Client }): Promise<void> {
  const { recorder, random, sleep, isOver, pauseMs } = context;
  const lease = { namespace: 'kube-system', name: 'history' };
  const key = 'fenced';
  while (!isOver()) {
    const epoch = await takeOver(client, lease, identity);
    if (epoch !== undefined) {
      recorder.epochs.push(epoch);
      const leading = context.fenced({ lease: `${lease.namespace}/${lease.name}`, epoch });
      for (let writes = 0; writes < 5 && !isOver(); writes++) {
        const found = await client.get(configMapKind, { namespace, name: nameOf(key) });
        if (!found.ok && found.reason !== 'notFound') break;
        const before = found.ok ? found.value : undefined;
        const base = Number(before?.metadata.resourceVersion ?? 0);
        await recorder.during(key, () => write(leading, { name: nameOf(key), before, base, value: recorder.nextValue(), epoch }));
        await sleep(random.float() * pauseMs);
      }
    }
    await sleep(random.float() * 4 * pauseMs);
  }
}

/** @returns the epoch: the revision at which the holder changed */
async function takeOver(
  client: Client,
  { namespace: of, name }: { readonly namespace: string; readonly name: string },
  identity: string,
): Promise<number | undefined> {
  const found = await client.get(leaseKind, { namespace: of, name });
  const spec: Lease['spec'] = { holderIdentity: identity, leaseDurationSeconds: 15 };
  const taken = found.ok
    ? await client.update(leaseKind, { ...found.value, spec: { ...found.value.spec, ...spec } })
    : await client.create(leaseKind, { metadata: { namespace: of, name }, spec });
  const hasChanged = !found.ok || found.value.spec.holderIdentity !== identity;
  return taken.ok && hasChanged ? Number(taken.value.metadata.resourceVersion) : undefined;
}

/** Lists once, then follows: resumed where a watch ended, listed again only if the server says so. Resolves when the history is over. */
export async function runWatcher(
  name: string,
  client: Client,
  { recorder, sleep, isOver }: Pick<ClientContext, 'recorder' | 'sleep' | 'isOver'>,
): Promise<void> {
  let watched: Recorder['watchers'][number] | undefined;
  while (!isOver()) {
    const listed = await client.list(configMapKind, { namespace });
    if (!listed.ok) {
      await sleep(200);
      continue;
    }
    const after = Number(listed.value.metadata.resourceVersion);
    if (watched === undefined) {
      watched = { name, after, events: [] };
      recorder.watchers.push(watched);
    } else watched.events.push({ listedAgain: after });
    await followFrom(after, client, { events: watched.events, sleep, isOver });
  }
}

/** Until the revision cannot be resumed. */
async function followFrom(
  after: number,
  client: Client,
  { events, sleep, isOver }: { readonly events: Recorder['watchers'][number]['events'] } & Pick<ClientContext, 'sleep' | 'isOver'>,
): Promise<void> {
  let newest = after;
  const watch = { isEnded: false, isExpired: false };
  while (!watch.isExpired && !isOver()) {
    watch.isEnded = false;
    const stream = client.watch(
      configMapKind,
      { namespace, resourceVersion: String(newest) },
      {
        events: (batch) => {
          for (const { type, object } of batch) {
            newest = Number(object.metadata.resourceVersion);
            if (type === 'BOOKMARK' || !(object.metadata.name ?? '').startsWith('history-')) continue;
            const key = (object.metadata.name ?? '').slice('history-'.length);
            events.push({ key, revision: newest, value: type === 'DELETED' ? undefined : (object as ConfigMap).data?.['value'] });
          }
        },
        end: (error) => {
          watch.isEnded = true;
          watch.isExpired = error?.code === 410;
        },
      },
    );
    while (!watch.isEnded && !isOver()) await sleep(50);
    stream.close();
    if (!watch.isExpired) await sleep(100);
  }
}
