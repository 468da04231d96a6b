/** The screen of `moor top`: claims with usage bars, attach slots, and what is stuck. Pure: lines of text from a summary. */
import { age } from '../../api/printer-columns.ts';
import { withoutControlCharacters } from '../../why/explanation/render.ts';
import { type StorageSummary, type SummarizedClaim, tightestNodes } from '../model/summary.ts';
import { showBytes } from '../model/usage.ts';

export interface ScreenOptions {
  readonly width: number;
  readonly colour: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const columns = ['NAMESPACE', 'NAME', 'PHASE', 'USED', 'SIZE', 'CLASS', 'NODE', 'AGE', 'WHY'] as const;
/** Names may be long; the sentence gets what is left. */
const widest = 32;
const mostNodes = 6;

/** The lines above the list, which stay where they are, and the lines of the list. */
export function topScreen(
  given: StorageSummary,
  { width, colour, now }: ScreenOptions,
): { readonly head: readonly string[]; readonly rows: readonly string[] } {
  const { claims, zones, stuck, waiting, unseen } = withoutControlCharacters(given);
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const cells = claims.map((claim) => cellsOf(claim, now));
  const widths = columns.map((title, i) => Math.min(widest, Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0))));
  const line = (row: readonly string[]) =>
    cut(
      row
        .map((cell, i) => (i === columns.length - 1 ? cell : cut(cell, widths[i] ?? 0).padEnd(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
      width,
    );
  const nodes = tightestNodes(zones, mostNodes).map(({ name, ready, headroom }) => {
    const slots = headroom.flatMap(({ driver, attached, limit }) =>
      limit === undefined ? [] : [`${driver} ${bar(attached.length / limit)} ${attached.length}/${limit}`],
    );
    return cut(`  ${name}${ready ? '' : ' NotReady'}  ${slots.join('  ')}`, width);
  });
  return {
    head: [
      paint(1, cut(`${claims.length} claims, ${stuck.length} stuck, ${waiting.length} waiting`, width)),
      ...(unseen.length === 0 ? [] : [cut(`not read: ${unseen.map(({ what }) => what).join(', ')}`, width)]),
      ...(nodes.length === 0 ? [] : ['attach slots', ...nodes]),
      paint(1, line(columns)),
    ],
    rows: claims.map((claim, i) => paintRow(claim, line(cells[i] ?? []), paint)),
  };
}

const paintRow = ({ verdict }: SummarizedClaim, text: string, paint: (code: number, text: string) => string): string =>
  verdict === 'stuck' ? paint(31, text) : verdict === 'waiting' ? paint(33, text) : text;

function cellsOf({ namespace, name, phase, usage, size, className, nodes, created, sentence }: SummarizedClaim, now: number): readonly string[] {
  const used = usage === null ? '' : `${bar(usage.capacityBytes === 0 ? 0 : usage.usedBytes / usage.capacityBytes)} ${showBytes(usage.usedBytes)}`;
  return [namespace, name, phase, used, size, className, nodes.join(','), age(created, now), sentence];
}

const barWidth = 8;

/** '███░░░░░' */
export function bar(share: number): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)}`;
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, Math.max(width - 1, 0))}…`);
