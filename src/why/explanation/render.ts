/** An explanation as text for a terminal. */
import {
  type Candidate,
  type Explanation,
  type Fix,
  type Next,
  nothingToDo,
  type ObjectExplanation,
  type Overview,
  type StoreProblem,
  type Verdict,
} from './explanation.ts';
import { timeOf } from './timestamps.ts';
import { shortName, type Target } from './target.ts';
import { listed, plural } from './words.ts';

export interface RenderOptions {
  /** The terminal shows colours. */
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
}

/** How many candidates are shown one by one; the others are counted by reason. */
const mostCandidates = 8;
const mostInPart = 3;

export function render(written: Explanation, { colour, width }: RenderOptions): string {
  const explanation = withoutControlCharacters(written);
  const writer = new ExplanationWriter(explanation.asOf, { colour, width: Math.min(Math.max(width, 40), 100) });
  if (explanation.store !== undefined) writer.preamble(storeText(explanation.store));
  writer.explanation(explanation, '', mostCandidates);
  for (const { what, because } of explanation.unseen) writer.paragraph(`Could not read ${what}: ${because}`, '');
  return writer.text();
}

/** One line for each object that is stuck; undefined: the terminal's width does not matter. */
export function renderOverview(written: Overview, { colour, width }: { readonly colour: boolean; readonly width: number | undefined }): string {
  const { asOf, stuck, waiting, unseen, store } = withoutControlCharacters(written);
  const rows = stuck.map(({ about, state, since, summary }) => [placedName(about), state, ageOf(asOf, since), summary]);
  const widths = [0, 1, 2].map((i) => Math.max(0, ...rows.map((row) => (row[i] ?? '').length)));
  const lines = rows.map((row) => {
    const [name = '', state = '', age = ''] = row.slice(0, 3).map((text, i) => text.padEnd(widths[i] ?? 0));
    const start = `${name}  ${state}  ${age}  `;
    const text = cut(row[3] ?? '', width === undefined ? Infinity : Math.max(20, width - start.length));
    return colour ? `\u001b[${codes.bold}m${name}\u001b[0m  \u001b[${codes.red}m${state}\u001b[0m  ${age}  ${text}` : `${start}${text}`.trimEnd();
  });
  const left =
    waiting.length === 0
      ? ''
      : ` ${plural(waiting.length, 'object')} ${waiting.length === 1 ? 'waits' : 'wait'} for a component or a user, as ${waiting.length === 1 ? 'it' : 'they'} should.`;
  const nothing = store === undefined ? 'Nothing is stuck.' : 'Of the objects that were read, none is stuck for another reason.';
  const end = stuck.length === 0 ? `${nothing}${left}` : `${plural(stuck.length, 'object')} stuck.${left} "moor why KIND/NAME -n NAMESPACE" says more.`;
  const first = store === undefined ? [] : [storeText(store), ''];
  return `${[...first, ...lines, ...(lines.length === 0 ? [] : ['']), end, ...unseen.map(({ what, because }) => `Could not read ${what}: ${because}`)].join('\n')}\n`;
}

/** What comes first, since everything waits for it. */
function storeText({ check, reason }: StoreProblem): string {
  const why = reason ?? `the check "${check}" of /readyz fails, and the server tells the reason to its administrators only.`;
  return `Everything waits for the store of the API server: ${why}`;
}

/** 'pvc/data -n shop': as `moor why` takes it. */
const placedName = (about: Target): string => `${shortName(about)}${about.namespace === undefined ? '' : ` -n ${about.namespace}`}`;

function ageOf(asOf: string, since: string | null): string {
  const [now, time] = [timeOf(asOf), timeOf(since)];
  return now === undefined || time === undefined ? '-' : duration(now - time);
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);

/** Messages in objects come from any client: none may send control characters to the terminal. */
export function withoutControlCharacters<T>(value: T): T {
  // oxlint-disable-next-line no-control-regex -- these are the ones
  return JSON.parse(JSON.stringify(value), (_, item: unknown) => (typeof item === 'string' ? item.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ') : item)) as T;
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
type Style = keyof typeof codes;

const verdictStyles: Readonly<Record<Verdict, Style>> = { fine: 'green', waiting: 'yellow', stuck: 'red', absent: 'red' };

class ExplanationWriter {
  readonly #asOf: number;
  readonly #options: RenderOptions;
  readonly #lines: string[] = [];

  constructor(asOf: string, options: RenderOptions) {
    this.#asOf = timeOf(asOf) ?? 0;
    this.#options = options;
  }

  text(): string {
    return `${this.#lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()}\n`;
  }

  explanation(explained: ObjectExplanation, indent: string, most: number): void {
    this.#heading(explained, indent);
    this.paragraph(explained.summary, indent);
    this.#facts(explained, indent);
    this.#candidates(explained, indent, most);
    this.#fixes(explained.fixes, indent);
    // An object that waits for others has no next step of its own.
    if (explained.parts.length === 0) this.paragraph(`${this.#styled('Next:', 'bold')} ${this.#next(explained.next)}`, indent);
    for (const part of explained.parts) {
      this.#lines.push('');
      this.explanation(part, `${indent}  `, mostInPart);
    }
  }

  /** With an empty line after it. */
  preamble(text: string): void {
    this.#lines.push(...wrap(text, '', this.#options.width), '');
  }

  /** With an empty line before it. */
  paragraph(text: string, indent: string): void {
    this.#lines.push('', ...wrap(text, indent, this.#options.width));
  }

  #heading({ about, state, since, verdict }: ObjectExplanation, indent: string): void {
    const place = about.namespace === undefined ? '' : ` in namespace ${about.namespace}`;
    const time = timeOf(since);
    const lasted = time === undefined ? '' : `, for ${duration(this.#asOf - time)}`;
    this.#lines.push(`${indent}${this.#styled(shortName(about), 'bold')}${place}: ${this.#styled(state, verdictStyles[verdict])}${lasted}`);
  }

  #facts({ facts }: ObjectExplanation, indent: string): void {
    if (facts.length === 0) return;
    const width = Math.max(...facts.map(({ label }) => label.length));
    this.#lines.push('');
    for (const { label, text } of facts) {
      const [first = '', ...rest] = wrap(text, `${indent}  ${' '.repeat(width)}  `, this.#options.width);
      this.#lines.push(`${indent}  ${this.#styled(label.padEnd(width), 'dim')}  ${first.trimStart()}`, ...rest);
    }
  }

  #candidates({ candidates }: ObjectExplanation, indent: string, most: number): void {
    if (candidates.length === 0) return;
    const [kind = ''] = (candidates[0]?.name ?? '').split('/');
    const fitting = candidates.filter(({ refusals }) => refusals.length === 0).length;
    const fits = fitting === 0 ? (candidates.length === 1 ? 'it does not fit' : 'none fits') : `${fitting} would fit`;
    this.paragraph(`Considered ${plural(candidates.length, kindNames[kind] ?? 'object')}; ${fits}:`, indent);
    const shown = candidates.slice(0, most);
    const widths = columnWidths(shown);
    for (const candidate of shown) this.#lines.push(...this.#candidate(candidate, widths, indent));
    const others = candidates.slice(most);
    if (others.length > 0) this.#lines.push(`${indent}  … and ${others.length} more: ${summed(others)}`);
  }

  #candidate({ name, traits, refusals }: Candidate, widths: readonly number[], indent: string): readonly string[] {
    const columns = [name, ...traits].map((text, i) => text.padEnd(widths[i] ?? 0)).join('  ');
    // Whether a volume of another claim would fit does not matter.
    const decisive = refusals.filter(({ rule }) => rule === 'claimedByAnother');
    const verdict = refusals.length === 0 ? 'fits' : (decisive.length > 0 ? decisive : refusals).map(({ text }) => text).join('; ');
    const start = `${indent}  ${columns}  `;
    const [first = '', ...rest] = wrap(verdict, ' '.repeat(start.length), Math.max(this.#options.width, start.length + 40));
    return [`${start}${this.#styled(first.trimStart(), refusals.length === 0 ? 'green' : 'red')}`, ...rest.map((line) => this.#styled(line, 'red'))];
  }

  #fixes(fixes: readonly Fix[], indent: string): void {
    if (fixes.length === 0) return;
    this.#lines.push('', `${indent}${this.#styled('What would change it:', 'bold')}`);
    for (const { text, commands, yaml } of fixes) {
      const [first = '', ...rest] = wrap(text, `${indent}    `, this.#options.width);
      this.#lines.push(`${indent}  - ${first.trimStart()}`, ...rest);
      // Never wrapped: commands are copied from the terminal.
      for (const command of yaml === undefined ? commands : [...commands, yaml]) this.#lines.push(`${indent}      ${this.#styled(command, 'cyan')}`);
    }
  }

  #next({ who, does, by }: Next): string {
    const text = who === nothingToDo.who ? does : `${who} ${does}`;
    const time = by === 'at once' ? undefined : timeOf(by);
    if (by === undefined || by === '') return `${text}.`;
    if (time === undefined) return `${text}, ${by}.`;
    const away = time - this.#asOf;
    return away <= 0 ? `${text}, now (due ${by}).` : `${text}, by ${by} (in ${duration(away)}).`;
  }

  #styled(text: string, style: Style): string {
    return this.#options.colour && text !== '' ? `\u001b[${codes[style]}m${text}\u001b[0m` : text;
  }
}

const kindNames: Readonly<Record<string, string>> = { pv: 'volume', pvc: 'claim', node: 'node' };

const columnWidths = (candidates: readonly Candidate[]): readonly number[] =>
  Array.from({ length: Math.max(...candidates.map(({ traits }) => traits.length + 1)) }, (_, i) =>
    Math.max(...candidates.map(({ name, traits }) => ([name, ...traits][i] ?? '').length)),
  );

const ruleNames: Readonly<Record<string, string>> = {
  claimedByAnother: 'taken or reserved',
  capacity: 'too small',
  accessModes: 'other access modes',
  class: 'another class',
  volumeMode: 'another volume mode',
  attributesClass: 'another attributes class',
  selector: 'other labels',
  claimSelector: 'for other claims',
  deleting: 'being deleted',
  phase: 'not Available',
  nodeAffinity: 'out of reach',
};

/** '12 taken or reserved, 3 too small', each by the first rule that refused it. */
function summed(candidates: readonly Candidate[]): string {
  const counts = new Map<string, number>();
  for (const { refusals } of candidates) {
    const rule = refusals[0]?.rule ?? 'fits';
    counts.set(rule, (counts.get(rule) ?? 0) + 1);
  }
  return listed([...counts].sort((a, b) => b[1] - a[1]).map(([rule, count]) => `${count} ${ruleNames[rule] ?? rule}`));
}

/** '42 seconds', '3 minutes', '2 hours', '5 days' */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return plural(seconds, 'second');
  if (seconds < 7200) return plural(Math.floor(seconds / 60), 'minute');
  if (seconds < 172_800) return plural(Math.floor(seconds / 3600), 'hour');
  return plural(Math.floor(seconds / 86_400), 'day');
}

/** Lines of words, each with the indent. */
function wrap(text: string, indent: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && indent.length + printedLength(line) + 1 + printedLength(word) > width) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, indent + line];
}

// oxlint-disable-next-line no-control-regex -- colours take no room
const printedLength = (text: string): number => text.replace(/\u001b\[\d+m/g, '').length;
