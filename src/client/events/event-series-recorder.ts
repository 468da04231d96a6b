import type { EventsEvent, ObjectReference } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import type { Client, Result } from '../client.ts';
import { EventNames } from './event-names.ts';
import { WorkQueue } from '../work-queue.ts';
import type { EventDraft } from '../decision.ts';
import { referenceTo } from './event-recorder.ts';

export interface EventSeriesRecorderOptions {
  readonly world: World;
  readonly client: Client;
  readonly eventKind: Kind<EventsEvent>;
  /** reportingController: 'default-scheduler'. */
  readonly controller: string;
  /** reportingInstance: 'default-scheduler-host'. */
  readonly instance: string;
}

export interface EventSeriesDraft extends EventDraft {
  /** 'Binding' */
  readonly action: string;
  /** Another object that the event is about: the pod that preempted this one. */
  readonly related?: KubeObject;
}

/**
 * Writes events in the newer form, as client-go's tools/events does: the same again (object at the same version, reason and action;
 * the message does not matter) makes a series of the first one.
 *
 *     recorded once     → an event
 *     recorded again    → the event has a series, of 2
 *     once more         → counted, and written within six minutes
 *
 * `record` never waits and never throws. Events are best effort: one that the server refuses is dropped; one that gets no answer
 * is tried twelve times.
 */
export class EventSeriesRecorder {
  readonly #options: EventSeriesRecorderOptions;
  readonly #log: Log;
  readonly #names: EventNames;
  readonly #queue: WorkQueue<string>;
  readonly #series = new Map<string, Series>();
  #cancelSweep: Cancel | undefined;
  #stopped = false;
  #dropped = 0;
  #whenDrained: (() => void)[] = [];

  constructor(options: EventSeriesRecorderOptions) {
    this.#options = options;
    this.#log = options.world.log.with({ recorder: options.controller });
    this.#names = new EventNames(options.world);
    this.#queue = new WorkQueue(options.world);
    this.#queue.onReady = () => options.world.timers.soon(() => this.#pump());
  }

  record(about: KubeObject, { related, ...report }: EventSeriesDraft): void {
    if (this.#stopped) return;
    const regarding = referenceTo(about);
    const key = JSON.stringify([regarding, report.type, report.reason, report.action, related?.metadata.uid]);
    const series = this.#series.get(key);
    if (series !== undefined) {
      series.count++;
      series.lastSeen = this.#options.world.clock.now();
      if (series.count === 2) this.#queue.add(key);
      return;
    }
    if (this.#series.size >= seriesLimit && !this.#forgetOldest()) return this.#drop(report);
    const event = this.#freshEvent(regarding, report, related);
    this.#series.set(key, { event, count: 1, written: 0, lastSeen: this.#options.world.clock.now(), tries: 0 });
    this.#queue.add(key);
    this.#planSweep();
  }

  /** Takes no more events; resolves once the waiting ones were tried once more. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelSweep?.();
    if (this.#queue.idle) return Promise.resolve();
    return new Promise((resolve) => this.#whenDrained.push(resolve));
  }

  #drop({ reason }: EventDraft): void {
    if (this.#dropped++ === 0) this.#log.warn('events are dropped: too many are waiting', { reason });
  }

  /** A series that is written is kept only to count repetitions. */
  #forgetOldest(): boolean {
    for (const [key, { written }] of this.#series) {
      if (written === 0) continue;
      this.#series.delete(key);
      return true;
    }
    return false;
  }

  #pump(): void {
    while (this.#queue.processing < parallelism) {
      const key = this.#queue.take();
      if (key === undefined) break;
      void this.#write(key).finally(() => {
        this.#queue.done(key);
        this.#pump();
      });
    }
    if (!this.#queue.idle) return;
    if (this.#dropped > 0) this.#log.warn('events were dropped', { count: this.#dropped });
    this.#dropped = 0;
    for (const resolve of this.#whenDrained.splice(0)) resolve();
  }

  async #write(key: string): Promise<void> {
    const series = this.#series.get(key);
    if (series === undefined || series.written === series.count) return;
    const { count } = series;
    const result = await this.#send(series);
    if (result.ok || result.reason !== 'unreachable') {
      series.written = count;
      if (!result.ok) this.#log[result.reason === 'terminating' ? 'debug' : 'warn']('event refused', { reason: result.reason, error: result.error.message });
    } else if (++series.tries < triesLimit && !this.#stopped) {
      this.#queue.addAfter(key, retryMs * (1 + this.#options.world.random.float() / 4));
    }
  }

  async #send({ event, count, lastSeen, written }: Series): Promise<Result<EventsEvent>> {
    const { client, eventKind } = this.#options;
    const counted = count === 1 ? {} : { series: { count, lastObservedTime: microTime(lastSeen) } };
    if (written === 0) return client.create(eventKind, { ...event, ...counted });
    const { namespace, name = '' } = event.metadata;
    const patched = await client.patch(eventKind, { namespace, name }, { type: 'strategic', body: counted });
    // The event has expired meanwhile: a new one begins with its count.
    return patched.ok || patched.reason !== 'notFound' ? patched : client.create(eventKind, { ...event, ...counted });
  }

  #freshEvent(regarding: ObjectReference, { type, reason, action, message }: Omit<EventSeriesDraft, 'related'>, related: KubeObject | undefined): FreshSeries {
    const { controller, instance, world } = this.#options;
    const namespace = regarding.namespace === undefined || regarding.namespace === '' ? 'default' : regarding.namespace;
    return {
      metadata: { name: this.#names.next(regarding), namespace },
      eventTime: microTime(world.clock.now()),
      reportingController: controller,
      reportingInstance: instance,
      action,
      reason,
      regarding,
      ...(related === undefined ? {} : { related: referenceTo(related) }),
      note: message,
      type,
    };
  }

  /** Only while there are series. */
  #planSweep(): void {
    if (this.#cancelSweep !== undefined || this.#stopped) return;
    this.#cancelSweep = this.#options.world.timers.after(finishMs, () => {
      this.#cancelSweep = undefined;
      this.#sweep(this.#options.world.clock.now());
      if (this.#series.size > 0) this.#planSweep();
    });
  }

  #sweep(now: number): void {
    for (const [key, { lastSeen, written, count }] of this.#series) {
      if (written === count) {
        if (now - lastSeen >= finishMs) this.#series.delete(key);
      } else this.#queue.add(key);
    }
  }
}

type FreshSeries = Pick<
  EventsEvent,
  'metadata' | 'eventTime' | 'reportingController' | 'reportingInstance' | 'action' | 'reason' | 'regarding' | 'related' | 'note' | 'type'
>;

interface Series {
  readonly event: FreshSeries;
  count: number;
  /** The count that the server knows; 0: nothing yet. */
  written: number;
  /** Milliseconds since 1970. */
  lastSeen: number;
  tries: number;
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

const seriesLimit = 10_000;
const triesLimit = 12;
const retryMs = 10_000;
const finishMs = 360_000;
/** Events that are written side by side: one commit of the store takes them all. */
const parallelism = 16;
