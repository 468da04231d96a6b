/**
 * The difference of two texts, line by line, as `diff -u` shows it without its header: what Kubernetes adds to a message
 * about a spec that must not change.
 */
export function unifiedDiff(before: string, after: string): string {
  const a = before.split('\n');
  const b = after.split('\n');
  // A longer diff is of no use to a reader, and comparing costs the product of both lengths.
  if (a.length > MAX_LINES || b.length > MAX_LINES) return '';
  return hunks(edits(a, b))
    .map((hunk) => printHunk(hunk, a, b))
    .join('');
}

const MAX_LINES = 1000;
const CONTEXT = 3;

/** Lines [aStart, aEnd) of the one text stand where lines [bStart, bEnd) of the other do. */
interface Edit {
  readonly same: boolean;
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

interface Block {
  readonly a: number;
  readonly b: number;
  readonly length: number;
}

function edits(a: readonly string[], b: readonly string[]): Edit[] {
  const found: Edit[] = [];
  let [i, j] = [0, 0];
  for (const block of [
    ...mergeAdjacent(matchingBlocks(a, b, { aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length })),
    { a: a.length, b: b.length, length: 0 },
  ]) {
    if (i < block.a || j < block.b) found.push({ same: false, aStart: i, aEnd: block.a, bStart: j, bEnd: block.b });
    i = block.a + block.length;
    j = block.b + block.length;
    if (block.length > 0) found.push({ same: true, aStart: block.a, aEnd: i, bStart: block.b, bEnd: j });
  }
  return found;
}

type Window = Omit<Edit, 'same'>;

/** The longest run of equal lines, and then the same on both sides of it. */
function matchingBlocks(a: readonly string[], b: readonly string[], window: Window): Block[] {
  const best = longestMatch(a, b, window);
  if (best.length === 0) return [];
  const { aStart, aEnd, bStart, bEnd } = window;
  return [
    ...matchingBlocks(a, b, { aStart, aEnd: best.a, bStart, bEnd: best.b }),
    best,
    ...matchingBlocks(a, b, { aStart: best.a + best.length, aEnd, bStart: best.b + best.length, bEnd }),
  ];
}

function longestMatch(a: readonly string[], b: readonly string[], { aStart, aEnd, bStart, bEnd }: Window): Block {
  let best: Block = { a: aStart, b: bStart, length: 0 };
  let endingBefore = new Map<number, number>();
  for (let i = aStart; i < aEnd; i++) {
    const endingHere = new Map<number, number>();
    for (let j = bStart; j < bEnd; j++) {
      if (a[i] !== b[j]) continue;
      const length = (endingBefore.get(j - 1) ?? 0) + 1;
      endingHere.set(j, length);
      if (length > best.length) best = { a: i - length + 1, b: j - length + 1, length };
    }
    endingBefore = endingHere;
  }
  return best;
}

function mergeAdjacent(blocks: readonly Block[]): Block[] {
  const merged: Block[] = [];
  for (const block of blocks) {
    const last = merged[merged.length - 1];
    if (last !== undefined && last.a + last.length === block.a && last.b + last.length === block.b) {
      merged[merged.length - 1] = { ...last, length: last.length + block.length };
    } else merged.push(block);
  }
  return merged;
}

/** Changes with a few lines around them; those that lie close together in one hunk. */
function hunks(all: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = [[]];
  for (const [index, edit] of all.entries()) {
    const isFirst = index === 0;
    const isLast = index === all.length - 1;
    const before = { ...edit, aEnd: Math.min(edit.aEnd, edit.aStart + CONTEXT), bEnd: Math.min(edit.bEnd, edit.bStart + CONTEXT) };
    const after = { ...edit, aStart: Math.max(edit.aStart, edit.aEnd - CONTEXT), bStart: Math.max(edit.bStart, edit.bEnd - CONTEXT) };
    const group = groups[groups.length - 1] ?? [];
    if (!edit.same) group.push(edit);
    else if (isFirst) group.push(after);
    else if (isLast) group.push(before);
    else if (edit.aEnd - edit.aStart <= 2 * CONTEXT) group.push(edit);
    else {
      group.push(before);
      groups.push([after]);
    }
  }
  return groups.filter((group) => group.some((edit) => !edit.same));
}

function printHunk(hunk: readonly Edit[], a: readonly string[], b: readonly string[]): string {
  const first = hunk[0];
  const last = hunk[hunk.length - 1];
  if (first === undefined || last === undefined) return '';
  const head = `@@ -${range(first.aStart, last.aEnd)} +${range(first.bStart, last.bEnd)} @@`;
  const lines = hunk.flatMap((edit) =>
    edit.same
      ? a.slice(edit.aStart, edit.aEnd).map((line) => ` ${line}`)
      : [...a.slice(edit.aStart, edit.aEnd).map((line) => `-${line}`), ...b.slice(edit.bStart, edit.bEnd).map((line) => `+${line}`)],
  );
  return `${[head, ...lines].join('\n')}\n`;
}

function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}
