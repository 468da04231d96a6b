import type { Event, ObjectReference } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Log, World } from '../../world/world.ts';
import type { Client, Result } from '../client.ts';
import type { EventDraft } from '../decision.ts';
import { type Correlated, EventCorrelator, type FreshEvent } from './event-correlator.ts';
import { EventNames } from './event-names.ts';
import { WorkQueue } from '../work-queue.ts';

export interface EventRecorderOptions {
  readonly world: World;
  readonly client: Client;
  readonly eventKind: Kind<Event>;
  /** The event's source: 'persistentvolume-controller'. */
  readonly component: string;
  readonly host?: string;
  /** How many events may wait; a thousand by default. A recorder of many nodes needs more. */
  readonly waitingLimit?: number;
}

/**
 * Writes events about objects, as client-go's recorder does.
 *
 * Guarantees
 * - `record` never waits, never throws, and costs its caller nothing but memory, which is limited: beyond the
 *   limit of waiting events, new ones are dropped, and the log says so.
 * - Events about one object are written in order; those about different objects side by side.
 * Caveats: events are best effort. One that the server refuses is dropped; one that gets no answer is tried twelve times, ten seconds
 * apart.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #log: Log;
  readonly #correlator: EventCorrelator;
  readonly #queue: WorkQueue<string>;
  readonly #names: EventNames;
  /** By object, in order; an object is in the queue as long as it has a list here. */
  readonly #waiting = new Map<string, Waiting[]>();
  #size = 0;
  /** Since the last time that nothing was waiting. */
  #dropped = 0;
  #stopped = false;
  #whenDrained: (() => void)[] = [];

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#log = options.world.log.with({ recorder: options.component });
    this.#names = new EventNames(options.world);
    this.#correlator = new EventCorrelator((event) => this.#names.next(event.involvedObject));
    this.#queue = new WorkQueue(options.world);
    this.#queue.onReady = () => options.world.timers.soon(() => this.#pump());
  }

  /** `host`: where it happened, if that is not where the recorder is. */
  record(about: KubeObject | ObjectReference, report: EventDraft, host: string | undefined = this.#options.host): void {
    if (this.#stopped) return;
    const involvedObject = referenceTo(about);
    const key = [involvedObject.apiVersion, involvedObject.kind, involvedObject.namespace, involvedObject.name].join('/');
    if (this.#size >= (this.#options.waitingLimit ?? defaultWaitingLimit)) return this.#drop(key, report);
    this.#size++;
    const list = this.#waiting.get(key);
    const waiting: Waiting = { event: this.#freshEvent(involvedObject, report, host), correlated: undefined, tries: 0 };
    if (list === undefined) this.#waiting.set(key, [waiting]);
    else list.push(waiting);
    this.#queue.add(key);
  }

  /** Logged when it begins and when it is over, not for each event: a thousand dropped events must not become a thousand log lines. */
  #drop(about: string, { reason }: EventDraft): void {
    if (this.#dropped++ === 0) this.#log.warn('events are dropped: too many are waiting', { about, reason });
  }

  #reportDropped(): void {
    if (this.#dropped > 0) this.#log.warn('events were dropped', { count: this.#dropped });
    this.#dropped = 0;
  }

  /** Takes no more events; resolves once the waiting ones were tried once more. */
  stop(): Promise<void> {
    this.#stopped = true;
    if (this.#size === 0) return Promise.resolve();
    for (const key of this.#waiting.keys()) this.#queue.add(key);
    return new Promise((resolve) => this.#whenDrained.push(resolve));
  }

  #pump(): void {
    while (this.#queue.processing < parallelism) {
      const key = this.#queue.take();
      if (key === undefined) return;
      void this.#writeAll(key).finally(() => {
        this.#queue.done(key);
        if (this.#size === 0) this.#reportDropped();
        if (this.#size === 0) for (const resolve of this.#whenDrained.splice(0)) resolve();
        this.#pump();
      });
    }
  }

  async #writeAll(key: string): Promise<void> {
    const list = this.#waiting.get(key) ?? [];
    for (let next = list[0]; next !== undefined; next = list[0]) {
      next.correlated ??= this.#correlator.correlate(next.event, this.#options.world.clock.now());
      const written = await this.#write(next.correlated, next.tries);
      if (!written && ++next.tries < triesLimit && !this.#stopped) {
        const jitter = next.tries === 1 ? this.#options.world.random.float() : 1;
        return this.#queue.addAfter(key, retryMs * jitter);
      }
      list.shift();
      this.#size--;
    }
    this.#waiting.delete(key);
  }

  /** Whether the event is done with: written, or refused. */
  async #write(correlated: Correlated, tries: number): Promise<boolean> {
    if (correlated.type === 'skip') return true;
    let result = correlated.type === 'patch' ? await this.#patch(correlated) : await this.#create(correlated.event);
    // The event to be counted up has expired meanwhile: a new one begins with its count.
    if (correlated.type === 'patch' && !result.ok && result.reason === 'notFound') result = await this.#create(correlated.event);
    // Another recorder used the same nanosecond. On a second try it is this recorder's first one, whose answer was lost.
    if (!result.ok && result.reason === 'alreadyExists' && tries === 0)
      result = await this.#create({ ...correlated.event, metadata: this.#renamed(correlated.event) });
    if (result.ok) {
      this.#correlator.recorded(result.value);
      return true;
    }
    if (result.reason === 'unreachable') return false;
    this.#log[result.reason === 'terminating' ? 'debug' : 'warn']('event refused', { reason: result.reason, error: result.error.message });
    return true;
  }

  #create(event: FreshEvent): Promise<Result<Event>> {
    return this.#options.client.create(this.#options.eventKind, event);
  }

  #patch({ event, patch }: Extract<Correlated, { type: 'patch' }>): Promise<Result<Event>> {
    const { namespace, name = '' } = event.metadata;
    return this.#options.client.patch(this.#options.eventKind, { namespace, name }, { type: 'strategic', body: patch });
  }

  #freshEvent(involvedObject: ObjectReference, report: EventDraft, host: string | undefined): FreshEvent {
    const { component } = this.#options;
    const time = `${new Date(this.#options.world.clock.now()).toISOString().slice(0, 19)}Z`;
    const namespace = involvedObject.namespace === undefined || involvedObject.namespace === '' ? 'default' : involvedObject.namespace;
    return {
      metadata: { name: this.#names.next(involvedObject), namespace },
      involvedObject,
      ...report,
      source: host === undefined ? { component } : { component, host },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: host ?? '',
    };
  }

  #renamed = (event: FreshEvent) => ({ ...event.metadata, name: this.#names.next(event.involvedObject) });
}

interface Waiting {
  readonly event: FreshEvent;
  correlated: Correlated | undefined;
  tries: number;
}

const defaultWaitingLimit = 1000;
const triesLimit = 12;
const retryMs = 10_000;
/** Events about different objects that are written side by side: one commit of the store takes them all. */
const parallelism = 64;

export function referenceTo(about: KubeObject | ObjectReference): ObjectReference {
  if (!('metadata' in about)) return about;
  const { namespace, name, uid, resourceVersion } = about.metadata;
  return {
    kind: about.kind,
    apiVersion: about.apiVersion,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
