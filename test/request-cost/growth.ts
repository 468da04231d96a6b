/**
 * How the work for a request grows with its size. Work is the processor time of the process, so that a busy machine counts little; a request that seems
 * dear is measured again, and the medians count: collecting garbage and compiling make single measurements several times too large.
 */
import { ApiError } from '../../src/api/status.ts';
import type { ApiUnderTest } from '../apiserver/api-under-test.ts';
import type { HostileRequest } from './hostile-requests.ts';

export type Sent = Pick<HostileRequest, 'method' | 'path' | 'type'> & { readonly query: string; readonly body: string };

/** A request of a size, and the sizes that are tried. */
export interface Growing {
  readonly name: string;
  /** Made anew for each measurement: what the server caches must not count as cheap. */
  readonly of: (size: number) => Sent;
  /** The first size; it is doubled while the requests stay cheap. */
  readonly from: number;
  readonly to: number;
}

/** Linear work quadruples with four times the size, and a square is 16 times as much. Between: the work is two thirds square. */
const steepest = 8;
/** Measurements of less than this (ms) say nothing about growth. */
const measurable = 25;
/** Requests may cost this much more for a byte than an ordinary object in JSON; YAML is read by a slower parser. */
const dearest = { json: 12, yaml: 40 } as const;
/** Beside: as much as an ordinary object of this size. Patterns and expressions have limits of their own, of some tenths of a second. */
const freeKilobytes = 1_000;
/** Bytes of a body, and of a query, that the server reads at all: larger ones are not tried. */
const maxBody = 3_000_000;
const maxQuery = 64_000;
/** Sizes are doubled until a request costs this much (ms). */
const dearEnough = 400;
/** Characters of an answer that says what is wrong. */
export const longestAnswer = 512 * 1024;

const rounds = 5;

export class WorkMeter {
  readonly #api: ApiUnderTest;
  #msPerKilobyte = 0;

  constructor(api: ApiUnderTest) {
    this.#api = api;
  }

  /** What this machine needs for an ordinary object. */
  async calibrate(): Promise<void> {
    const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key-${i}`, 'value']));
    const body = JSON.stringify({ metadata: { name: 'ordinary' }, data });
    const ordinary: Sent = { method: 'POST', path: '/api/v1/namespaces/default/configmaps', type: 'application/json', query: 'dryRun=All', body };
    this.#msPerKilobyte = (await this.median(() => ordinary)) / kilobytes(ordinary);
  }

  /** Processor time (ms) for an ordinary object of this size. */
  ordinary(kilobytesOfObject: number): number {
    return this.#msPerKilobyte * kilobytesOfObject;
  }

  /** What is wrong with the work for a request, at some size; undefined: nothing. */
  async problemOf({ name, of, from, to }: Growing): Promise<string | undefined> {
    let sent = of(from);
    for (let size = from; ; size *= 2) {
      const { ms, answer } = await this.measure(sent);
      if (answer > longestAnswer) return `${name}: an answer of ${answer} characters to ${kilobytes(sent)} kB`;
      const dear = await this.#dear(() => of(size), ms);
      if (dear !== undefined) return `${name}: ${dear}`;
      const next = size * 2 <= to && ms < dearEnough ? of(size * 2) : undefined;
      if (next === undefined || next.body.length > maxBody || next.query.length > maxQuery) {
        const steep = await this.#steep(of, size, ms);
        return steep === undefined ? undefined : `${name}: ${steep}`;
      }
      sent = next;
    }
  }

  async #dear(again: () => Sent, first: number): Promise<string | undefined> {
    const sent = again();
    const allowed = this.ordinary(freeKilobytes + kilobytes(sent) * dearest[sent.type.endsWith('yaml') ? 'yaml' : 'json']);
    if (first <= allowed) return undefined;
    const ms = await this.median(again);
    return ms > allowed ? `${ms} ms for ${kilobytes(sent)} kB, more than ${Math.round(allowed)} ms` : undefined;
  }

  /** Measured in turns: a machine that becomes slower meanwhile is so for both. */
  async #steep(of: Growing['of'], size: number, first: number): Promise<string | undefined> {
    if (first <= measurable) return undefined;
    const growth: { large: number; small: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      growth.push({ small: (await this.measure(of(size / 4))).ms, large: (await this.measure(of(size))).ms });
      if (round === 0 && first <= (growth[0]?.small ?? 0) * (steepest / 2)) return undefined;
    }
    const [smallMs, largeMs] = [middle(growth.map((pair) => pair.small)), middle(growth.map((pair) => pair.large))];
    if (largeMs <= Math.max(measurable, smallMs * steepest)) return undefined;
    return `${largeMs} ms for ${kilobytes(of(size))} kB, and ${smallMs} ms for ${kilobytes(of(size / 4))} kB`;
  }

  async median(again: () => Sent): Promise<number> {
    const all: number[] = [];
    for (let round = 0; round < rounds; round++) all.push((await this.measure(again())).ms);
    return middle(all);
  }

  async measure({ method, path, type, query, body }: Sent): Promise<{ readonly ms: number; readonly answer: number }> {
    const bytes = body === '' ? undefined : { type, text: body };
    const before = process.cpuUsage();
    let answer = 0;
    try {
      await this.#api.handle(method, path, { query, ...(bytes === undefined ? {} : { bytes }) });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      answer = JSON.stringify(error.toStatus()).length;
    }
    const { user, system } = process.cpuUsage(before);
    return { ms: (user + system) / 1000, answer };
  }
}

const kilobytes = ({ body, query }: Sent): number => Math.ceil((body.length + query.length) / 1000);

const middle = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
