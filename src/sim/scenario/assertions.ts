/** Checks the expectations of a scenario. */
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { isLaunched } from '../../cluster/cloud/node-provider.ts';
import { compareQuantities } from '../../api/quantity.ts';
import type { SimulatedBackend } from './simulated-backend.ts';
import type { Statement, Expectation, NodeOrZone } from './language/expectation.ts';
import type { ObjectHistory } from './object-history.ts';
import { nameOf } from '../../why/timeline/object-name.ts';
import type { Reference } from './language/reference.ts';
import { formatDuration } from './language/duration.ts';

export interface AssertionResult {
  readonly text: string;
  readonly held: boolean;
  /** When it was decided; milliseconds since the scenario began. */
  readonly at: number;
  /** What was found instead; '' if it held. */
  readonly found: string;
}

export interface AssertionContext {
  readonly history: ObjectHistory;
  readonly backends: ReadonlyMap<string, SimulatedBackend>;
  /** Undefined: the cluster is in no cloud. */
  readonly cloud: Cloud | undefined;
  readonly zoneOf: (node: string) => string | undefined;
  /** Milliseconds since 1970, for ages. */
  readonly now: () => number;
}

export class Assertions {
  readonly #undecided: Set<Expectation>;
  readonly #expectations: readonly Expectation[];
  readonly #results = new Map<Expectation, AssertionResult>();
  readonly #context: AssertionContext;

  constructor(expectations: readonly Expectation[], context: AssertionContext) {
    this.#expectations = expectations;
    this.#undecided = new Set(expectations);
    this.#context = context;
  }

  /** In the order of the file. */
  get verdicts(): readonly AssertionResult[] {
    return this.#expectations.map((each) => this.#results.get(each) ?? { text: each.text, held: false, at: 0, found: 'it was never checked' });
  }

  /** An object changed, or a time has come. */
  check(at: number): void {
    for (const expectation of this.#undecided) {
      const { when, statement } = expectation;
      switch (when.type) {
        case 'at':
        case 'end':
          break;
        case 'by':
          if (at <= when.ms && this.#evaluate(statement).held) this.#decide(expectation, { held: true, at, found: '' });
          else if (at >= when.ms) this.#decide(expectation, { held: false, at: when.ms, found: this.#evaluate(statement).found });
          break;
        case 'always':
        case 'never': {
          if (at < when.fromMs || at > (when.toMs ?? Number.POSITIVE_INFINITY)) break;
          const { held, found } = this.#evaluate(statement);
          const broken = held === (when.type === 'never');
          if (broken) this.#decide(expectation, { held: false, at, found: `at ${formatDuration(at)} ${found}` });
        }
      }
    }
  }

  /** Exactly at that time. */
  checkAt(ms: number): void {
    for (const expectation of this.#undecided) {
      const { when, statement } = expectation;
      if (when.type === 'at' && when.ms === ms) this.#settle(expectation, statement, ms);
    }
    this.check(ms);
  }

  end(ms: number): void {
    this.check(ms);
    for (const expectation of this.#undecided) {
      const { when, statement } = expectation;
      if (when.type === 'always' || when.type === 'never') this.#decide(expectation, { held: true, at: ms, found: '' });
      else this.#settle(expectation, statement, ms);
    }
  }

  #settle(expectation: Expectation, statement: Statement, at: number): void {
    const { held, found } = this.#evaluate(statement);
    this.#decide(expectation, { held, at, found: held ? '' : found });
  }

  #decide(expectation: Expectation, result: Omit<AssertionResult, 'text'>): void {
    this.#undecided.delete(expectation);
    this.#results.set(expectation, { text: expectation.text, ...result });
  }

  #evaluate(statement: Statement): CheckResult {
    return checkStatement(statement, this.#context);
  }
}

/** `found`: the actual state. */
interface CheckResult {
  readonly held: boolean;
  readonly found: string;
}

export function checkStatement(statement: Statement, context: AssertionContext): CheckResult {
  switch (statement.type) {
    case 'count':
      return count(statement, context);
    case 'disks':
      return disks(statement, context);
    case 'instances':
      return instances(statement, context);
    case 'event':
      return event(statement, context);
    case 'exists': {
      const object = lookUp(statement.object, context);
      return {
        held: (object === undefined) === statement.not,
        found: object === undefined ? 'it does not exist' : `it is ${stateOf(statement.object.kind, object, context)}`,
      };
    }
    case 'attached':
      return attached(statement, context);
    case 'state':
    case 'bound to':
    case 'size':
    case 'ready':
    case 'field': {
      const object = lookUp(statement.object, context);
      return object === undefined ? { held: statement.type === 'state' && statement.not, found: 'it does not exist' } : ofObject(statement, object, context);
    }
  }
}

type ObjectStatement = Extract<Statement, { readonly type: 'state' | 'bound to' | 'size' | 'ready' | 'field' }>;

function ofObject(statement: ObjectStatement, object: KubeObject, context: AssertionContext): CheckResult {
  switch (statement.type) {
    case 'state':
      return state(statement, object, context);
    case 'bound to': {
      const other = partnerOf(object);
      return { held: other === statement.other.name, found: other === undefined ? `it is bound to nothing` : `it is bound to ${other}` };
    }
    case 'size': {
      const { spec, status } = object as PersistentVolume & PersistentVolumeClaim;
      const size = object.kind === 'PersistentVolume' ? spec.capacity?.['storage'] : status.capacity?.['storage'];
      return { held: size !== undefined && compareQuantities(size, statement.size) === 0, found: `it has ${size ?? 'nothing'}` };
    }
    case 'ready': {
      const { status } = object as KubeObject & { readonly status?: { readonly readyReplicas?: number; readonly numberReady?: number } };
      const ready = status?.readyReplicas ?? status?.numberReady ?? 0;
      return { held: ready === statement.number, found: `${ready} are ready` };
    }
    case 'field': {
      const value = fieldOf(object, statement.path);
      return { held: (value === statement.value) !== statement.not, found: `it is "${value}"` };
    }
  }
}

const lookUp = ({ kind, namespace, name }: Reference, { history }: AssertionContext): KubeObject | undefined => history.get(kind, { namespace, name });

function state(
  { state: wanted, not, place, object: { kind } }: Extract<Statement, { type: 'state' }>,
  object: KubeObject,
  context: AssertionContext,
): CheckResult {
  const is = wanted === '' || isInState(kind, object, { state: wanted, context });
  const { nodeName = '' } = (object as Pod).spec ?? {};
  const there = place === undefined || isAt(place, nodeName, context);
  const where = object.kind !== 'Pod' ? '' : nodeName === '' ? ', on no node' : `, on ${nodeName}${zoneText(nodeName, context)}`;
  return { held: (is && there) !== not, found: `it is ${stateOf(kind, object, context)}${where}` };
}

const zoneText = (node: string, { zoneOf }: AssertionContext): string => (zoneOf(node) === undefined ? '' : ` (${zoneOf(node) ?? ''})`);

const isAt = (place: NodeOrZone, node: string, { zoneOf }: AssertionContext): boolean =>
  'node' in place ? node === place.node : node !== '' && zoneOf(node) === place.zone;

function isInState(kind: Kind, object: KubeObject, { state: wanted, context }: { readonly state: string; readonly context: AssertionContext }): boolean {
  if (stateOf(kind, object, context).split(',').includes(wanted)) return true;
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

function attached({ object, place, not }: Extract<Statement, { type: 'attached' }>, context: AssertionContext): CheckResult {
  const found = lookUp(object, context);
  const volume =
    found === undefined ? undefined : found.kind === 'PersistentVolumeClaim' ? (found as PersistentVolumeClaim).spec.volumeName : found.metadata.name;
  const nodes = context.history
    .all(volumeAttachmentKind)
    .flatMap(({ spec, status }) => (volume !== undefined && spec.source.persistentVolumeName === volume && (status?.attached ?? false) ? [spec.nodeName] : []));
  const is = nodes.some((node) => place === undefined || isAt(place, node, context));
  return { held: is !== not, found: nodes.length === 0 ? 'it is attached to no node' : `it is attached to ${nodes.join(', ')}` };
}

/** Also earlier events: Kubernetes keeps them for an hour. */
function event({ reason, object, text, not }: Extract<Statement, { type: 'event' }>, { history }: AssertionContext): CheckResult {
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

function count({ kind, number, state: wanted }: Extract<Statement, { type: 'count' }>, context: AssertionContext): CheckResult {
  const all = context.history.all(kind);
  const found = wanted === undefined ? all : all.filter((each) => isInState(kind, each, { state: wanted, context }));
  const names = found.slice(0, 5).map(nameOf);
  return {
    held: found.length === number,
    found: found.length === 0 ? 'there are none' : `there are ${found.length}: ${names.join(', ')}${found.length > 5 ? ' …' : ''}`,
  };
}

function disks({ driver, number }: Extract<Statement, { type: 'disks' }>, { backends, cloud }: AssertionContext): CheckResult {
  const ofCloud = [...(cloud?.state.volumes.values() ?? [])].filter(({ attachments }) => !attachments.some((each) => each.deleteOnTermination));
  const held = backends.get(driver)?.disks.size ?? ofCloud.length;
  return { held: held === number, found: `it holds ${held}` };
}

function instances({ number }: Extract<Statement, { type: 'instances' }>, { cloud }: AssertionContext): CheckResult {
  const running = [...(cloud?.state.instances.values() ?? [])].filter((each) => isLaunched(each) && (each.state === 'pending' || each.state === 'running'));
  return { held: running.length === number, found: `it runs ${running.length}` };
}
