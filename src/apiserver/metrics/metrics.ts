/** Metrics for Prometheus. Counting is on the path of every request: an addition to a number in a map. Text is made for /metrics alone. */
export class Metrics {
  readonly #families: Family[] = [];

  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    const family = new Counter({ name, help, labelNames });
    this.#families.push(family);
    return family;
  }

  histogram(name: string, help: string, shape: { readonly labelNames: readonly string[]; readonly bounds: readonly number[] }): Histogram {
    const family = new Histogram({ name, help, labelNames: shape.labelNames }, shape.bounds);
    this.#families.push(family);
    return family;
  }

  /** A number, or one per set of labels, that is read for each scrape. */
  gauge(name: string, help: string, read: () => number | readonly Sample[]): void {
    this.#families.push(new ReadFamily({ name, help, labelNames: [] }, 'gauge', read));
  }

  /** A counter that is kept elsewhere. */
  counterOf(name: string, help: string, read: () => number): void {
    this.#families.push(new ReadFamily({ name, help, labelNames: [] }, 'counter', read));
  }

  text(): string {
    return this.#families.map((family) => family.text()).join('');
  }
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  text(): string;
}

interface Description {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** A family has at most this many sets of labels; the rest is counted together, without labels. */
const maxSeries = 5_000;

export class Counter implements Family {
  readonly #description: Description;
  readonly #counts = new Map<string, number>();

  constructor(description: Description) {
    this.#description = description;
    if (description.labelNames.length === 0) this.#counts.set('', 0);
  }

  /** Label values in the order of their names. */
  add(amount: number, ...labelValues: readonly string[]): void {
    const key = seriesKey(this.#counts, labelValues);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + amount);
  }

  value(...labelValues: readonly string[]): number {
    return this.#counts.get(labelValues.join(separator)) ?? 0;
  }

  text(): string {
    const { name, labelNames } = this.#description;
    const lines = [...this.#counts].map(([key, count]) => `${name}${labelText(labelNames, key)} ${count}\n`);
    return heading(this.#description, 'counter') + lines.join('');
  }
}

interface Buckets {
  readonly counts: number[];
  sum: number;
}

export class Histogram implements Family {
  readonly #description: Description;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Buckets>();

  constructor(description: Description, bounds: readonly number[]) {
    this.#description = description;
    this.#bounds = bounds;
  }

  observe(value: number, ...labelValues: readonly string[]): void {
    const key = seriesKey(this.#series, labelValues);
    let buckets = this.#series.get(key);
    if (buckets === undefined) {
      buckets = { counts: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0 };
      this.#series.set(key, buckets);
    }
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] ?? 0)) at += 1;
    buckets.counts[at] = (buckets.counts[at] ?? 0) + 1;
    buckets.sum += value;
  }

  text(): string {
    return heading(this.#description, 'histogram') + [...this.#series].map(([key, buckets]) => this.#seriesText(key, buckets)).join('');
  }

  #seriesText(key: string, buckets: Buckets): string {
    const { name, labelNames } = this.#description;
    let below = 0;
    const lines = buckets.counts.map((count, at) => {
      below += count;
      return `${name}_bucket${labelText(labelNames, key, `le="${this.#bounds[at] ?? '+Inf'}"`)} ${below}\n`;
    });
    const labels = labelText(labelNames, key);
    return `${lines.join('')}${name}_sum${labels} ${buckets.sum}\n${name}_count${labels} ${below}\n`;
  }
}

class ReadFamily implements Family {
  readonly #description: Description;
  readonly #type: 'gauge' | 'counter';
  readonly #read: () => number | readonly Sample[];

  constructor(description: Description, type: 'gauge' | 'counter', read: () => number | readonly Sample[]) {
    this.#description = description;
    this.#type = type;
    this.#read = read;
  }

  text(): string {
    const { name } = this.#description;
    const read = this.#read();
    const samples = typeof read === 'number' ? [{ labels: {}, value: read }] : read;
    const lines = samples.map(({ labels, value }) => `${name}${labelText(Object.keys(labels), Object.values(labels).join(separator))} ${value}\n`);
    return heading(this.#description, this.#type) + lines.join('');
  }
}

/** Between label values: it cannot be in one that came over HTTP. */
const separator = '\u0000';

function seriesKey(series: ReadonlyMap<string, unknown>, labelValues: readonly string[]): string {
  const key = labelValues.join(separator);
  return series.size < maxSeries || series.has(key) ? key : separator.repeat(Math.max(0, labelValues.length - 1));
}

const heading = ({ name, help }: Description, type: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

function labelText(names: readonly string[], key: string, extra?: string): string {
  const values = key.split(separator);
  const pairs = names.map((name, at) => `${name}="${escapeLabel(values[at] ?? '')}"`);
  if (extra !== undefined) pairs.push(extra);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeLabel = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
