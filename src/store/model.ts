import type { Transaction } from './contract.ts';

/**
 * An executable model of a store: a list of revisions, from which every answer is computed.
 * Random histories of real stores are checked against it. Values are text here, to be read when a check fails.
 */
export interface Model {
  readonly revision: number;
  readonly compacted: number;
  /** One for each revision after the first. */
  readonly log: readonly LoggedRevision[];
}

interface LoggedRevision {
  readonly revision: number;
  /** undefined: deleted */
  readonly writes: readonly { readonly key: string; readonly value: string | undefined }[];
}

export type Request =
  | { readonly type: 'transact'; readonly transaction: Transaction }
  | { readonly type: 'get'; readonly key: string }
  | { readonly type: 'range'; readonly from: string; readonly to: string; readonly revision?: number; readonly limit?: number }
  | { readonly type: 'compact'; readonly revision: number }
  /** All that a watcher has got that started after a revision. */
  | { readonly type: 'watched'; readonly prefix: string; readonly after: number };

/** An answer in plain text, such as `ok @3 [/a=x 2..3]`. */
export type Response = string;

export const emptyModel: Model = { revision: 1, compacted: 0, log: [] };

export function step(model: Model, request: Request): { readonly model: Model; readonly response: Response } {
  switch (request.type) {
    case 'transact':
      return transact(model, request.transaction);
    case 'get':
      return { model, response: showEntry(stateAt(model, model.revision).get(request.key)) };
    case 'range':
      return { model, response: range(model, request) };
    case 'compact':
      if (request.revision > model.revision) return { model, response: 'future' };
      return { model: { ...model, compacted: Math.max(model.compacted, request.revision) }, response: 'done' };
    case 'watched':
      return { model, response: watched(model, request.prefix, request.after) };
  }
}

interface ModelEntry {
  readonly key: string;
  readonly value: string;
  readonly created: number;
  readonly modified: number;
}

/** Everything that existed at a revision, in the order of the keys. */
function stateAt(model: Model, revision: number): ReadonlyMap<string, ModelEntry> {
  const state = new Map<string, ModelEntry>();
  for (const { revision: modified, writes } of model.log.filter((logged) => logged.revision <= revision)) {
    for (const { key, value } of writes) {
      if (value === undefined) state.delete(key);
      else state.set(key, { key, value, modified, created: state.get(key)?.created ?? modified });
    }
  }
  return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function transact(model: Model, { compares, writes }: Transaction): { model: Model; response: Response } {
  const state = stateAt(model, model.revision);
  const failed = compares.filter(({ key, modRevision }) => (state.get(key)?.modified ?? 0) !== modRevision);
  if (failed.length > 0) return { model, response: `conflict ${failed.map(({ key }) => `${key}:${showEntry(state.get(key))}`).join(' ')}` };
  const effective = writes
    .filter((write) => write.type === 'put' || state.has(write.key))
    .map((write) => ({ key: write.key, value: write.type === 'put' ? decode(write.value) : undefined }));
  const revision = model.revision + (effective.length > 0 ? 1 : 0);
  const next = effective.length > 0 ? { ...model, revision, log: [...model.log, { revision, writes: effective }] } : model;
  const after = stateAt(next, revision);
  return { model: next, response: `ok @${revision} ${writes.map(({ key }) => showEntry(after.get(key))).join(' ')}`.trim() };
}

function range(model: Model, request: Extract<Request, { type: 'range' }>): Response {
  const revision = request.revision ?? model.revision;
  if (revision > model.revision) return 'future';
  if (revision < model.compacted) return 'compacted';
  const all = [...stateAt(model, revision).values()].filter(({ key }) => key >= request.from && key < request.to);
  const shown = all.slice(0, request.limit);
  return `@${revision} ${shown.map(showEntry).join(' ')} +${all.length - shown.length}`;
}

function watched(model: Model, prefix: string, after: number): Response {
  const lines: string[] = [];
  for (const { revision, writes } of model.log) {
    if (revision <= after) continue;
    const before = stateAt(model, revision - 1);
    const now = stateAt(model, revision);
    const concerned = writes.filter(({ key }) => (prefix.endsWith('/') ? key.startsWith(prefix) : key === prefix));
    if (concerned.length > 0)
      lines.push(`${revision}: ${concerned.map(({ key }) => `${key} ${showEntry(now.get(key))} was ${showEntry(before.get(key))}`).join(', ')}`);
  }
  return lines.join('\n');
}

function showEntry(entry: ModelEntry | undefined): string {
  return entry === undefined ? 'none' : `[${entry.key}=${entry.value} ${entry.created}..${entry.modified}]`;
}

const decode = (value: Uint8Array): string => new TextDecoder().decode(value);
