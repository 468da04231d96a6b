/** A report as text for a terminal. */
import { formatDuration } from './language/duration.ts';
import type { EndTable, ScenarioReport } from './report.ts';
import type { EntryType, TimelineEntry } from './scenario-timeline.ts';

export interface RenderOptions {
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
type Style = keyof typeof codes;

const styles: Readonly<Record<EntryType, Style | undefined>> = {
  happening: 'bold',
  change: undefined,
  event: 'dim',
  warning: 'yellow',
  backend: 'dim',
  failure: 'red',
  why: 'cyan',
};

export function renderReport(report: ScenarioReport, options: RenderOptions): string {
  const paint = (text: string, style: Style | undefined) => (options.colour && style !== undefined ? `\u001b[${codes[style]}m${text}\u001b[0m` : text);
  const failed = report.verdicts.filter(({ held }) => !held).length;
  return [
    ...timelineLines(report, { ...options, paint }),
    ...(report.dropped > 0 ? [`… and ${report.dropped} more`] : []),
    '',
    `After ${formatDuration(report.lastsMs)}`,
    ...report.end.flatMap((table) => ['', ...tableLines(table)]),
    ...(report.verdicts.length === 0 ? [] : ['']),
    ...report.verdicts.flatMap(({ text, held, found }) => [
      `${held ? paint('✓', 'green') : paint('✗', 'red')} ${printable(text)}`,
      ...(held ? [] : [`    ${printable(found)}`]),
    ]),
    ...(report.verdicts.length === 0 ? [] : ['', summary(report, failed)]),
    '',
  ].join('\n');
}

const summary = ({ verdicts, seed }: ScenarioReport, failed: number): string =>
  failed === 0 ? `${verdicts.length} of ${verdicts.length} as expected (seed ${seed})` : `${failed} of ${verdicts.length} not as expected (seed ${seed})`;

interface Painting extends RenderOptions {
  readonly paint: (text: string, style: Style | undefined) => string;
}

const longestColumn = 28;

function timelineLines({ timeline }: ScenarioReport, { paint, width }: Painting): readonly string[] {
  const shown = timeline.map((entry) => ({ entry, time: formatDuration(entry.at), who: brief(entry.who), what: lineOf(entry) }));
  const widest = (texts: readonly string[]) => Math.min(longestColumn, Math.max(0, ...texts.map((text) => text.length)));
  const [ofTime, ofWho] = [widest(shown.map(({ time }) => time)), widest(shown.map(({ who }) => who))];
  const indent = ofTime + ofWho + 4;
  let last = '';
  return shown.flatMap(({ entry, time, who, what }) => {
    const head = `${(time === last ? '' : time).padStart(ofTime)}  ${entry.type === 'happening' ? '▶'.padEnd(ofWho) : who.padEnd(ofWho)}  `;
    last = time;
    const [first = '', ...rest] = wrap(what, Math.max(40, width - indent));
    const style = styles[entry.type];
    return [`${head}${paint(first, style)}`.trimEnd(), ...rest.map((line) => `${' '.repeat(indent)}${paint(line, style)}`)];
  });
}

function lineOf({ about, what, times, until, at, type }: TimelineEntry): string {
  const again = times === 1 ? '' : ` (${times} times${until === at ? '' : ` until ${formatDuration(until)}`})`;
  return brief(printable(`${about === '' ? '' : `${about}${type === 'why' ? ':' : ''} `}${what}${again}`));
}

/** Shortens random names to their beginning: 'pvc-1b4e28ba-2fa1-…'. */
const brief = (text: string): string =>
  text.replace(/\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '$1…').replace(/\b(csi-[0-9a-f]{8})[0-9a-f]{56}\b/g, '$1…');

/** Messages come from any client: none may send control characters to the terminal. */
// oxlint-disable-next-line no-control-regex -- these are the ones
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function tableLines({ header, rows }: EndTable): readonly string[] {
  const all = [header, ...rows];
  const widths = header.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, i) => printable(cell).padEnd((widths[i] ?? 0) + 3))
      .join('')
      .trimEnd(),
  );
}

/** The same as data, for programs. */
export function reportAsJson({ seed, lastsMs, timeline, end, verdicts }: ScenarioReport): string {
  const seconds = (ms: number) => ms / 1000;
  return `${JSON.stringify(
    {
      seed,
      seconds: seconds(lastsMs),
      timeline: timeline.map(({ at, until, ...entry }) => ({ at: seconds(at), ...entry, until: seconds(until) })),
      end: Object.fromEntries(end.map(({ resource, objects }) => [resource, objects])),
      expectations: verdicts.map(({ at, ...verdict }) => ({ ...verdict, at: seconds(at) })),
    },
    null,
    2,
  )}\n`;
}
