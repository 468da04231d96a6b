import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { parseQuantity, quantityToNumber } from '../../api/quantity.ts';
import type { Stored } from '../../api/stored.ts';
import type { ObjectExplanation, Verdict } from '../../why/explanation/explanation.ts';
import { keyOf, type StorageView } from './storage-view.ts';

/** One line of the list of claims. */
export interface ClaimRow {
  /** 'shop/data' */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** As kubectl shows it. */
  readonly phase: string;
  readonly verdict: Verdict;
  /** Why it is as it is; '': there is nothing to say beyond its phase. */
  readonly sentence: string;
  /** What it has, or what it asks for. */
  readonly size: string;
  readonly className: string;
  readonly volumeName: string;
  readonly nodes: readonly string[];
  readonly pods: readonly string[];
  /** RFC 3339 */
  readonly created: string;
}

/** What a row was made of. */
interface Made {
  readonly from: readonly unknown[];
  readonly row: ClaimRow;
}

const made = new WeakMap<Stored<PersistentVolumeClaim>, Made>();

/** The same row for the same objects: of thousands of claims, one changes at a time. */
export function claimRow(claim: Stored<PersistentVolumeClaim>, view: StorageView, explanation: ObjectExplanation | undefined): ClaimRow {
  const { namespace = '', name } = claim.metadata;
  const attachments = view.attachmentsOf(claim.spec.volumeName ?? '');
  const pods = view.podsOf(namespace, name);
  const from = [attachments, pods, explanation];
  const known = made.get(claim);
  if (known?.from.every((part, i) => part === from[i]) === true) return known.row;
  const row = makeRow(claim, { attachments, pods, explanation });
  made.set(claim, { from, row });
  return row;
}

interface RowParts {
  readonly attachments: ReturnType<StorageView['attachmentsOf']>;
  readonly pods: ReturnType<StorageView['podsOf']>;
  readonly explanation: ObjectExplanation | undefined;
}

function makeRow(claim: Stored<PersistentVolumeClaim>, { attachments, pods, explanation }: RowParts): ClaimRow {
  const { metadata, spec, status } = claim;
  const { namespace = '', name } = metadata;
  const volumeName = spec.volumeName ?? '';
  const phase = metadata.deletionTimestamp === undefined ? (status.phase ?? 'Pending') : 'Terminating';
  return {
    key: keyOf(claim),
    namespace,
    name,
    phase,
    verdict: explanation?.verdict ?? (phase === 'Bound' ? 'fine' : 'waiting'),
    sentence: explanation?.summary ?? '',
    size: status.capacity?.['storage'] ?? spec.resources.requests?.['storage'] ?? '',
    className: spec.storageClassName ?? '',
    volumeName,
    nodes: attachments.map((attachment) => attachment.spec.nodeName),
    pods: pods.map((pod) => pod.metadata.name),
    created: metadata.creationTimestamp ?? '',
  };
}

export const sortColumns = ['name', 'phase', 'size', 'className', 'created'] as const;
export type SortColumn = (typeof sortColumns)[number];

export interface RowSelection {
  /** Words that all have to occur in a row. */
  readonly text: string;
  /** '': every phase. */
  readonly phase: string;
  readonly sort: SortColumn;
  readonly descending: boolean;
}

/** The rows that are selected, in order. What is stuck comes first where the order leaves it open. */
export function selectRows(rows: readonly ClaimRow[], { text, phase, sort, descending }: RowSelection): readonly ClaimRow[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const selected = rows.filter((row) => (phase === '' || row.phase === phase) && (words.length === 0 || matches(row, words)));
  const sign = descending ? -1 : 1;
  return selected.toSorted((a, b) => sign * compare[sort](a, b) || urgency(a) - urgency(b) || byText(a.key, b.key));
}

/** Text of objects may be long: the beginning of a sentence is enough to search in. */
const matches = (row: ClaimRow, words: readonly string[]): boolean => {
  const text = [row.key, row.phase, row.className, row.volumeName, ...row.nodes, ...row.pods, row.sentence.slice(0, 500)].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
};

const order: readonly Verdict[] = ['stuck', 'waiting', 'absent', 'fine'];
const urgency = ({ verdict }: ClaimRow): number => order.indexOf(verdict);
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compare: Readonly<Record<SortColumn, (a: ClaimRow, b: ClaimRow) => number>> = {
  name: (a, b) => byText(a.key, b.key),
  phase: (a, b) => urgency(a) - urgency(b) || byText(a.phase, b.phase),
  size: (a, b) => bytesOf(a.size) - bytesOf(b.size),
  className: (a, b) => byText(a.className, b.className),
  created: (a, b) => byText(b.created, a.created),
};

/** Of a quantity that the server accepted; 0 if there is none. */
export const bytesOf = (quantity: string): number => (quantity === '' ? 0 : quantityToNumber(parseQuantity(quantity)));
