/** Whether what a scenario expects is so. */
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { compareQuantities } from '../../api/quantity.ts';
import type { SimulatedBackend } from './simulated-backend.ts';
import type { Statement, Expectation, NodeOrZone } from './language/expectation.ts';
import type { ObjectHistory } from './object-history.ts';
import { nameOf, type Reference } from './language/reference.ts';
import { formatDuration } from './language/duration.ts';

export interface AssertionResult {
  readonly text: string;
  readonly held: boolean;
  /** When it was decided; milliseconds since the scenario began. */
  readonly at: number;
  /** What was the case instead; '' if it held. */
  readonly found: string;
}

export interface AssertionContext {
  readonly history: ObjectHistory;
  readonly backends: ReadonlyMap<string, SimulatedBackend>;
  readonly zoneOf: (node: string) => string | undefined;
  /** Milliseconds since 1970, for ages. */
  readonly now: () => number;
}

export class Assertions {
  readonly #open: Set<Expectation>;
  readonly #expectations: readonly Expectation[];
  readonly #verdicts = new Map<Expectation, AssertionResult>();
  readonly #evidence: AssertionContext;

  constructor(expectations: readonly Expectation[], evidence: AssertionContext) {
    this.#expectations = expectations;
    this.#open = new Set(expectations);
    this.#evidence = evidence;
  }

  /** In the order in which they were written. */
  get verdicts(): readonly AssertionResult[] {
    return this.#expectations.map((each) => this.#verdicts.get(each) ?? { text: each.text, held: false, at: 0, found: 'it was never looked at' });
  }

  /** Something changed, or it is time. */
  check(at: number): void {
    for (const expectation of this.#open) {
      const { when, statement: claimed } = expectation;
      switch (when.type) {
        case 'at':
        case 'end':
          break;
        case 'by':
          if (at <= when.ms && this.#isSo(claimed).held) this.#decide(expectation, { held: true, at, found: '' });
          else if (at >= when.ms) this.#decide(expectation, { held: false, at: when.ms, found: this.#isSo(claimed).found });
          break;
        case 'always':
        case 'never': {
          if (at < when.fromMs || at > (when.toMs ?? Number.POSITIVE_INFINITY)) break;
          const { held, found } = this.#isSo(claimed);
          const broken = held === (when.type === 'never');
          if (broken) this.#decide(expectation, { held: false, at, found: `at ${formatDuration(at)} ${found}` });
        }
      }
    }
  }

  /** It is exactly that time. */
  checkAt(ms: number): void {
    for (const expectation of this.#open) {
      const { when, statement: claimed } = expectation;
      if (when.type === 'at' && when.ms === ms) this.#settle(expectation, claimed, ms);
    }
    this.check(ms);
  }

  end(ms: number): void {
    this.check(ms);
    for (const expectation of this.#open) {
      const { when, statement: claimed } = expectation;
      if (when.type === 'always' || when.type === 'never') this.#decide(expectation, { held: true, at: ms, found: '' });
      else this.#settle(expectation, claimed, ms);
    }
  }

  #settle(expectation: Expectation, claimed: Statement, at: number): void {
    const { held, found } = this.#isSo(claimed);
    this.#decide(expectation, { held, at, found: held ? '' : found });
  }

  #decide(expectation: Expectation, verdict: Omit<AssertionResult, 'text'>): void {
    this.#open.delete(expectation);
    this.#verdicts.set(expectation, { text: expectation.text, ...verdict });
  }

  #isSo(claimed: Statement): Found {
    return checkStatement(claimed, this.#evidence);
  }
}

/** `found`: what is the case. */
interface Found {
  readonly held: boolean;
  readonly found: string;
}

export function checkStatement(claimed: Statement, evidence: AssertionContext): Found {
  switch (claimed.type) {
    case 'count':
      return count(claimed, evidence);
    case 'disks':
      return disks(claimed, evidence);
    case 'event':
      return event(claimed, evidence);
    case 'exists': {
      const object = lookUp(claimed.object, evidence);
      return {
        held: (object === undefined) === claimed.not,
        found: object === undefined ? 'it does not exist' : `it is ${stateOf(claimed.object.kind, object, evidence)}`,
      };
    }
    case 'attached':
      return attached(claimed, evidence);
    case 'state':
    case 'bound to':
    case 'size':
    case 'ready':
    case 'field': {
      const object = lookUp(claimed.object, evidence);
      return object === undefined ? { held: claimed.type === 'state' && claimed.not, found: 'it does not exist' } : ofObject(claimed, object, evidence);
    }
  }
}

type AboutObject = Extract<Statement, { readonly type: 'state' | 'bound to' | 'size' | 'ready' | 'field' }>;

function ofObject(claimed: AboutObject, object: KubeObject, evidence: AssertionContext): Found {
  switch (claimed.type) {
    case 'state':
      return state(claimed, object, evidence);
    case 'bound to': {
      const other = partnerOf(object);
      return { held: other === claimed.other.name, found: other === undefined ? `it is bound to nothing` : `it is bound to ${other}` };
    }
    case 'size': {
      const { spec, status } = object as PersistentVolume & PersistentVolumeClaim;
      const size = object.kind === 'PersistentVolume' ? spec.capacity?.['storage'] : status.capacity?.['storage'];
      return { held: size !== undefined && compareQuantities(size, claimed.size) === 0, found: `it has ${size ?? 'nothing'}` };
    }
    case 'ready': {
      const { status } = object as KubeObject & { readonly status?: { readonly readyReplicas?: number; readonly numberReady?: number } };
      const ready = status?.readyReplicas ?? status?.numberReady ?? 0;
      return { held: ready === claimed.number, found: `${ready} are ready` };
    }
    case 'field': {
      const value = fieldOf(object, claimed.path);
      return { held: (value === claimed.value) !== claimed.not, found: `it is "${value}"` };
    }
  }
}

const lookUp = ({ kind, namespace, name }: Reference, { history }: AssertionContext): KubeObject | undefined => history.get(kind, { namespace, name });

function state({ state: wanted, not, place, object: { kind } }: Extract<Statement, { type: 'state' }>, object: KubeObject, evidence: AssertionContext): Found {
  const is = wanted === '' || isInState(kind, object, { state: wanted, evidence });
  const { nodeName = '' } = (object as Pod).spec ?? {};
  const there = place === undefined || isAt(place, nodeName, evidence);
  const where = object.kind !== 'Pod' ? '' : nodeName === '' ? ', on no node' : `, on ${nodeName}${zoneText(nodeName, evidence)}`;
  return { held: (is && there) !== not, found: `it is ${stateOf(kind, object, evidence)}${where}` };
}

const zoneText = (node: string, { zoneOf }: AssertionContext): string => (zoneOf(node) === undefined ? '' : ` (${zoneOf(node) ?? ''})`);

const isAt = (place: NodeOrZone, node: string, { zoneOf }: AssertionContext): boolean =>
  'node' in place ? node === place.node : node !== '' && zoneOf(node) === place.zone;

function isInState(kind: Kind, object: KubeObject, { state: wanted, evidence }: { readonly state: string; readonly evidence: AssertionContext }): boolean {
  if (stateOf(kind, object, evidence).split(',').includes(wanted)) return true;
  if (wanted === 'Terminating') return object.metadata.deletionTimestamp !== undefined;
  const { status } = object as { readonly status?: { readonly phase?: string; readonly conditions?: readonly { type: string; status: string }[] } };
  if (wanted === 'NotReady') return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is !== 'True') ?? false;
  return status?.phase === wanted || (status?.conditions?.some(({ type, status: is }) => type === wanted && is === 'True') ?? false);
}

/** As kubectl get shows it. */
function stateOf(kind: Kind, object: KubeObject, { now }: AssertionContext): string {
  const column = kind.columns.find(({ name }) => name === 'Status');
  const shown = column === undefined ? 'there' : String(column.cell(object, now()));
  return object.metadata.deletionTimestamp === undefined || shown.includes('Terminating') ? shown : `${shown},Terminating`;
}

function partnerOf(object: KubeObject): string | undefined {
  if (object.kind === 'PersistentVolumeClaim') return (object as PersistentVolumeClaim).spec.volumeName;
  return (object as PersistentVolume).spec.claimRef?.name;
}

function fieldOf(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    value = value === null || typeof value !== 'object' ? undefined : (value as Readonly<Record<string, unknown>>)[name ?? index ?? ''];
  }
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}

function attached({ object, place, not }: Extract<Statement, { type: 'attached' }>, evidence: AssertionContext): Found {
  const found = lookUp(object, evidence);
  const volume =
    found === undefined ? undefined : found.kind === 'PersistentVolumeClaim' ? (found as PersistentVolumeClaim).spec.volumeName : found.metadata.name;
  const nodes = evidence.history
    .all(volumeAttachmentKind)
    .flatMap(({ spec, status }) => (volume !== undefined && spec.source.persistentVolumeName === volume && (status?.attached ?? false) ? [spec.nodeName] : []));
  const is = nodes.some((node) => place === undefined || isAt(place, node, evidence));
  return { held: is !== not, found: nodes.length === 0 ? 'it is attached to no node' : `it is attached to ${nodes.join(', ')}` };
}

/** Also those that were told before; Kubernetes keeps events for an hour. */
function event({ reason, object, text, not }: Extract<Statement, { type: 'event' }>, { history }: AssertionContext): Found {
  const about = history
    .all(eventKind)
    .filter(
      ({ involvedObject }) =>
        involvedObject.kind === object.kind.kind && involvedObject.name === object.name && (involvedObject.namespace ?? '') === object.namespace,
    );
  const is = about.some((each) => each.reason === reason && (each.message ?? '').includes(text));
  const others = [...new Set(about.map((each) => each.reason ?? ''))];
  return { held: is !== not, found: is ? 'there is one' : others.length === 0 ? 'there are none about it' : `there are ${others.join(', ')}` };
}

function count({ kind, number, state: wanted }: Extract<Statement, { type: 'count' }>, evidence: AssertionContext): Found {
  const all = evidence.history.all(kind);
  const found = wanted === undefined ? all : all.filter((each) => isInState(kind, each, { state: wanted, evidence }));
  const names = found.slice(0, 5).map(nameOf);
  return {
    held: found.length === number,
    found: found.length === 0 ? 'there are none' : `there are ${found.length}: ${names.join(', ')}${found.length > 5 ? ' …' : ''}`,
  };
}

function disks({ driver, number }: Extract<Statement, { type: 'disks' }>, { backends }: AssertionContext): Found {
  const held = backends.get(driver)?.disks.size ?? 0;
  return { held: held === number, found: `it holds ${held}` };
}
