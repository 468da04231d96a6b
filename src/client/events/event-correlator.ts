import type { Event } from '../../api/generated/types.ts';
import { RecentMap } from '../recent-map.ts';

/** An event as a controller reports it, before it is counted. */
export type FreshEvent = Omit<Event, 'apiVersion' | 'kind'>;

export type Correlated =
  | { readonly type: 'create'; readonly event: FreshEvent }
  /** A repetition: only the count, the time and the message of the event of that name change. */
  | { readonly type: 'patch'; readonly event: FreshEvent; readonly patch: { count: number; lastTimestamp: string | null; message: string | undefined } }
  | { readonly type: 'skip' };

/**
 * Keeps events from becoming spam, by the rules of client-go:
 * - the same event again (source, object, type, reason and message) counts up the first one;
 * - ten events within ten minutes that differ by nothing but their message become one, which counts up from there and
 *   carries the newest message behind '(combined from similar events): ';
 * - about one object a source may write 25 events, and then one in five minutes.
 * All of it is remembered for the 4096 most recent only.
 */
export class EventCorrelator {
  readonly #counted = new RecentMap<string, CountedEvent>(rememberedCounts);
  readonly #similar = new RecentMap<string, { readonly messages: Set<string>; readonly last: number }>(rememberedCounts);
  readonly #budgets = new RecentMap<string, { readonly tokens: number; readonly at: number }>(rememberedCounts);
  readonly #nameAt: (event: FreshEvent) => string;

  /** `nameAt`: a new name for an event about the same object, of this moment. */
  constructor(nameAt: (event: FreshEvent) => string) {
    this.#nameAt = nameAt;
  }

  correlate(fresh: FreshEvent, now: number): Correlated {
    const { event, key } = this.#combine(fresh, now);
    const counted = this.#count(event, key);
    if (!this.#affordable(spamKey(fresh), now)) return { type: 'skip' };
    const { count, lastTimestamp, message } = counted;
    return count === undefined || count <= 1 ? { type: 'create', event: counted } : { type: 'patch', event: counted, patch: { count, lastTimestamp, message } };
  }

  /** The server has it, under this name. */
  recorded(event: FreshEvent): void {
    this.#counted.set(eventKey(event), countedOf(event));
  }

  #combine(fresh: FreshEvent, now: number): { event: FreshEvent; key: string } {
    const group = similarKey(fresh);
    const before = this.#similar.get(group);
    const messages = before !== undefined && now - before.last <= similarWithinMs ? before.messages : new Set<string>();
    messages.add(fresh.message ?? '');
    this.#similar.set(group, { messages, last: now });
    if (messages.size < similarLimit) return { event: fresh, key: eventKey(fresh) };
    // One in, one out: the set stays at the threshold and does not grow.
    for (const oldest of messages) {
      messages.delete(oldest);
      break;
    }
    const event: FreshEvent = {
      ...fresh,
      metadata: { name: this.#nameAt(fresh), ...(fresh.metadata.namespace === undefined ? {} : { namespace: fresh.metadata.namespace }) },
      message: `(combined from similar events): ${fresh.message ?? ''}`,
      reportingComponent: '',
      reportingInstance: '',
    };
    return { event, key: group };
  }

  #count(event: FreshEvent, key: string): FreshEvent {
    const known = this.#counted.get(key);
    const counted: FreshEvent =
      known === undefined
        ? event
        : { ...event, metadata: { ...event.metadata, name: known.name }, firstTimestamp: known.firstTimestamp, count: known.count + 1 };
    this.#counted.set(key, countedOf(counted));
    return counted;
  }

  /** A token bucket for each source and object. */
  #affordable(key: string, now: number): boolean {
    const budget = this.#budgets.get(key) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, budget.tokens + (now - budget.at) / refillMs);
    const affordable = tokens >= 1;
    this.#budgets.set(key, { tokens: affordable ? tokens - 1 : tokens, at: now });
    return affordable;
  }
}

interface CountedEvent {
  readonly count: number;
  readonly firstTimestamp: string | null;
  readonly name: string;
}

const countedOf = (event: FreshEvent): CountedEvent => ({ count: event.count ?? 1, firstTimestamp: event.firstTimestamp, name: event.metadata.name ?? '' });

/** Of so many objects the counts are remembered. */
export const rememberedCounts = 4096;
const similarLimit = 10;
const similarWithinMs = 600_000;
const burst = 25;
const refillMs = 300_000;

const join = (...parts: readonly (string | undefined)[]): string => parts.map((part) => part ?? '').join('\0');

function aboutKey({ source, involvedObject: about, type }: FreshEvent): string {
  return join(source.component, source.host, about.kind, about.namespace, about.name, about.uid, about.apiVersion, type);
}

const spamKey = aboutKey;
const similarKey = (event: FreshEvent) => join(aboutKey(event), event.reason, event.reportingComponent, event.reportingInstance);
const eventKey = (event: FreshEvent) => join(aboutKey(event), event.involvedObject.fieldPath, event.reason, event.message);
