import { type ErrorCode, RpcError } from '../grpc/status.ts';

/** Something that a case made at the driver and that has to go again. */
export interface LedgerEntry {
  /** 'volume', 'snapshot', 'published' … */
  readonly kind: string;
  readonly key: string;
  /** The negating call. */
  readonly undo: () => Promise<void>;
}

/**
 * What the cases made, written down before each call: an answer may be lost. Only what is written here is ever deleted: the driver's other
 * volumes are not touched.
 */
export class Ledger {
  readonly #entries = new Map<string, LedgerEntry>();

  add(entry: LedgerEntry): void {
    this.#entries.set(idOf(entry.kind, entry.key), entry);
  }

  /** Writes the entry down, and makes the call. A request that the driver refused made nothing, unless the same was made before. */
  async record<T>(entry: LedgerEntry, call: () => Promise<T>): Promise<T> {
    const isNew = !this.#entries.has(idOf(entry.kind, entry.key));
    this.add(entry);
    try {
      return await call();
    } catch (error) {
      if (isNew && error instanceof RpcError && refusals.has(error.code)) this.remove(entry.kind, entry.key);
      throw error;
    }
  }

  /** What is left to undo after the negating call. */
  change(kind: string, key: string, undo: () => Promise<void>): void {
    const id = idOf(kind, key);
    if (this.#entries.has(id)) this.#entries.set(id, { kind, key, undo });
  }

  remove(kind: string, key: string): void {
    this.#entries.delete(idOf(kind, key));
  }

  /** Undoes everything: first uses of volumes, then the rest, the newest first; each failure as a line. What could not be undone is forgotten: it is reported once. */
  async undoAll(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (const entry of [...this.#entries.values()].reverse().sort((a, b) => rankOf(a) - rankOf(b))) {
      try {
        await entry.undo();
      } catch (error) {
        failures.push(`${entry.kind} ${entry.key}: ${textOf(error)}`);
      }
    }
    this.#entries.clear();
    return failures;
  }
}

/** The request itself was wrong. After other failures something may have been made. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'InvalidArgument',
  'NotFound',
  'AlreadyExists',
  'OutOfRange',
  'Unimplemented',
  'Unauthenticated',
  'PermissionDenied',
]);

/** A volume is deleted only after it was unpublished, unstaged and detached, in this order. */
const uses = ['published', 'staged', 'attached'];
const rankOf = ({ kind }: LedgerEntry): number => (uses.includes(kind) ? uses.indexOf(kind) : uses.length);

const idOf = (kind: string, key: string): string => `${kind} ${key}`;

/** 'NotFound: volume v1 is unknown' */
export function textOf(error: unknown): string {
  if (error instanceof RpcError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
