import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Event } from '../../../api/generated/types.ts';
import { changeEntries, eventEntry, oldestRevision, sorted, type TimelineEntry } from '../../model/timeline.ts';
import { browserClient } from '../api/browser-client.ts';
import { eventKind, intentKind, storageKinds } from '../api/kinds.ts';
import { view } from './cluster.ts';

/** What happened, and goes on to happen, to a claim, its volume, its attachments and its pods, as far back as the store's history goes. */
export function useTimeline(namespace: string, name: string): ReadonlySignal<readonly TimelineEntry[]> {
  const entries = useSignal<readonly TimelineEntry[]>([]);
  const related = relatedTo(namespace, name);
  const key = related.map(({ kind, name: of }) => `${kind.kind}/${of}`).join(' ');
  useEffect(() => {
    const found = new Map<string, TimelineEntry>();
    const add = (more: readonly TimelineEntry[]) => {
      for (const each of more) found.set(each.key, each);
      if (more.length > 0) entries.value = sorted(found.values());
    };
    const ends = related.flatMap((each) => [replay(each, add), followEvents(each, add)]);
    return () => ends.forEach((end) => end());
  }, [key]);
  return entries;
}

interface Related {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly name: string;
}

function relatedTo(namespace: string, name: string): readonly Related[] {
  const current = view.value;
  const volume = current.claim(namespace, name)?.spec.volumeName ?? '';
  const of = (list: keyof typeof storageKinds, each: string): Related => {
    const kind = storageKinds[list] as unknown as Kind;
    return { kind, namespace: kind.namespaced ? namespace : undefined, name: each };
  };
  return [
    of('claims', name),
    ...(volume === '' ? [] : [of('volumes', volume), { kind: intentKind as unknown as Kind, namespace: undefined, name: volume }]),
    ...current.attachmentsOf(volume).map(({ metadata }) => of('attachments', metadata.name)),
    ...current.podsOf(namespace, name).map(({ metadata }) => of('pods', metadata.name)),
  ];
}

/** A watch from the oldest revision that the store has: the same watch goes on with what happens next. */
function replay({ kind, namespace, name }: Related, add: (entries: readonly TimelineEntry[]) => void): () => void {
  let last: Stored | undefined;
  let close = () => {};
  const open = (resourceVersion: string, isLast: boolean) => {
    const stream = browserClient.watch(
      kind,
      { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion },
      {
        events: (batch) => {
          for (const { type, object } of batch) {
            if (type === 'BOOKMARK') continue;
            // An object that is older than the history is there before its first change that is known.
            const before = last ?? (type === 'MODIFIED' ? object : undefined);
            add(changeEntries(before, type === 'DELETED' ? undefined : object));
            last = type === 'DELETED' ? undefined : object;
          }
        },
        end: (error) => {
          const oldest = error === undefined ? undefined : oldestRevision(error.message);
          if (oldest !== undefined && !isLast) open(oldest, true);
        },
      },
    );
    close = () => stream.close();
  };
  open('1', false);
  return () => close();
}

function followEvents({ kind, namespace = 'default', name }: Related, add: (entries: readonly TimelineEntry[]) => void): () => void {
  const fieldSelector = `involvedObject.name=${name},involvedObject.kind=${kind.kind}`;
  // From "any" revision: first the events that are there, then new ones.
  const stream = browserClient.watch(
    eventKind as unknown as Kind,
    { namespace, fieldSelector, resourceVersion: '0' },
    {
      events: (batch) =>
        add(
          batch.flatMap(({ type, object }) =>
            type === 'ADDED' || type === 'MODIFIED' ? (eventEntry(object as unknown as Stored<Event & KubeObject>) ?? []) : [],
          ),
        ),
      end: () => undefined,
    },
  );
  return () => stream.close();
}
