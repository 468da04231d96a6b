/** The expectations of a scenario, and their phrases. docs/SIMULATE.md has the same table. */
import { durationOf } from './duration.ts';
import { numberOf, quantityOf } from './script-step.ts';
import { type Phrase, Phrasebook, PhraseError, slot, type Slots } from './phrase.ts';
import { checkedState } from './states.ts';
import { kindOf, parseReference, type Reference } from './reference.ts';
import type { Kind } from '../../../api/kind.ts';
import type { LocatedYaml } from './located-yaml.ts';

/** When the statement has to hold. */
export type ExpectationTime =
  | { readonly type: 'at' | 'by'; readonly ms: number }
  | { readonly type: 'end' }
  /** At every moment of the interval. `never` is `always` with the opposite statement. */
  | { readonly type: 'always' | 'never'; readonly fromMs: number; readonly toMs: number | undefined };

export type Statement =
  | { readonly type: 'state'; readonly object: Reference; readonly state: string; readonly not: boolean; readonly place?: NodeOrZone }
  | { readonly type: 'exists'; readonly object: Reference; readonly not: boolean }
  | { readonly type: 'bound to'; readonly object: Reference; readonly other: Reference }
  | { readonly type: 'attached'; readonly object: Reference; readonly place?: NodeOrZone; readonly not: boolean }
  | { readonly type: 'size'; readonly object: Reference; readonly size: string }
  | { readonly type: 'ready'; readonly object: Reference; readonly number: number }
  | { readonly type: 'field'; readonly object: Reference; readonly path: string; readonly value: string; readonly not: boolean }
  | { readonly type: 'event'; readonly reason: string; readonly object: Reference; readonly text: string; readonly not: boolean }
  | { readonly type: 'count'; readonly kind: Kind; readonly number: number; readonly state?: string }
  | { readonly type: 'disks'; readonly driver: string; readonly number: number }
  | { readonly type: 'instances'; readonly number: number };

export type NodeOrZone = { readonly node: string } | { readonly zone: string };

export interface Expectation {
  readonly when: ExpectationTime;
  readonly statement: Statement;
  /** As it was written. */
  readonly text: string;
  readonly written: LocatedYaml;
}

const object = (slots: Slots) => parseReference(slot(slots, 'object'));
const node = (slots: Slots): NodeOrZone => ({ node: slot(slots, 'node').replace(/^node\//, '') });
const zone = (slots: Slots): NodeOrZone => ({ zone: slot(slots, 'zone') });
const state = (slots: Slots, more: { readonly not?: boolean; readonly place?: NodeOrZone } = {}): Statement => ({
  type: 'state',
  object: object(slots),
  state: checkedState(slot(slots, 'state')),
  not: false,
  ...more,
});
/** Order matters: a phrase with a fixed word comes before one with a slot in its place. */
const phrases: readonly Phrase<Statement>[] = [
  {
    pattern: '<object> exists',
    about: 'The object exists.',
    example: 'pvc/data exists',
    make: (slots) => ({ type: 'exists', object: object(slots), not: false }),
  },
  {
    pattern: '<object> is gone',
    about: 'The object does not exist.',
    example: 'pod/web-0 is gone',
    make: (slots) => ({ type: 'exists', object: object(slots), not: true }),
  },
  {
    pattern: '<object> is attached',
    about: 'The volume, or the volume of the claim, is attached to some node.',
    example: 'pvc/data is attached',
    make: (slots) => ({ type: 'attached', object: object(slots), not: false }),
  },
  {
    pattern: '<object> is attached to <node>',
    about: 'The same, to this node.',
    example: 'pvc/data is attached to node-2',
    make: (slots) => ({ type: 'attached', object: object(slots), place: node(slots), not: false }),
  },
  {
    pattern: '<object> is not attached [to <node>]',
    about: 'To no node, or not to this one.',
    example: 'pvc/data is not attached to node-1',
    make: (slots) => ({ type: 'attached', object: object(slots), not: true, ...(slots.has('node') ? { place: node(slots) } : {}) }),
  },
  {
    pattern: '<object> is Bound to <other>',
    about: 'A claim and its volume, in either order.',
    example: 'pvc/data is Bound to pv/small',
    make: (slots) => ({ type: 'bound to', object: object(slots), other: parseReference(slot(slots, 'other')) }),
  },
  {
    pattern: '<object> is [<state>] on a node in <zone>',
    about: 'A pod in a zone.',
    example: 'pod/web-0 is Running on a node in zone-b',
    make: (slots) => state(new Map([['state', ''], ...slots]), { place: zone(slots) }),
  },
  {
    pattern: '<object> is [<state>] on <node>',
    about: 'A pod on a node.',
    example: 'pod/web-0 is Running on node-2',
    make: (slots) => state(new Map([['state', ''], ...slots]), { place: node(slots) }),
  },
  { pattern: '<object> is not <state>', about: 'The opposite of the next.', example: 'pod/web-0 is not Ready', make: (slots) => state(slots, { not: true }) },
  {
    pattern: '<object> is <state>',
    about:
      'The state that kubectl get shows (Running, Pending, Bound, Released, Terminating, ContainerCreating …), a phase, or a condition that is True (Ready, PodScheduled).',
    example: 'pvc/data is Bound',
    make: (slots) => state(slots),
  },
  {
    pattern: '<object> has <number> ready',
    about: 'Pods of a StatefulSet, Deployment … that are ready.',
    example: 'statefulset/web has 3 ready',
    make: (slots) => ({ type: 'ready', object: object(slots), number: numberOf(slot(slots, 'number')) }),
  },
  {
    pattern: '<object> has <size>',
    about: 'The capacity of a claim or volume.',
    example: 'pvc/data has 10Gi',
    make: (slots) => ({ type: 'size', object: object(slots), size: quantityOf(slot(slots, 'size')) }),
  },
  {
    pattern: '<object> field <path> is <value>',
    about: 'Any field, by its path; absent fields are "".',
    example: 'pv/data field .spec.claimRef.name is data',
    make: (slots) => ({ type: 'field', object: object(slots), path: slot(slots, 'path'), value: slot(slots, 'value'), not: false }),
  },
  {
    pattern: '<object> field <path> is not <value>',
    about: 'The opposite.',
    example: 'pod/web-0 field .spec.nodeName is not node-1',
    make: (slots) => ({ type: 'field', object: object(slots), path: slot(slots, 'path'), value: slot(slots, 'value'), not: true }),
  },
  {
    pattern: 'event <reason> on <object> [saying <text>]',
    about: 'An event with this reason was recorded for the object; its message contains the text.',
    example: 'event FailedAttachVolume on pod/web-0 saying "Waiting for detach"',
    make: (slots) => ({ type: 'event', reason: slot(slots, 'reason'), object: object(slots), text: slots.get('text') ?? '', not: false }),
  },
  {
    pattern: 'no event <reason> on <object> [saying <text>]',
    about: 'The opposite.',
    example: 'no event FailedMount on pod/web-0',
    make: (slots) => ({ type: 'event', reason: slot(slots, 'reason'), object: object(slots), text: slots.get('text') ?? '', not: true }),
  },
  {
    pattern: 'there are|is <number> <kind> [that are|is <state>]',
    about: 'The number of objects of a kind, in all namespaces.',
    example: 'there are 3 pods that are Running',
    make: (slots) => ({
      type: 'count',
      kind: kindOf(slot(slots, 'kind')),
      number: numberOf(slot(slots, 'number')),
      ...(slots.has('state') ? { state: checkedState(slot(slots, 'state')) } : {}),
    }),
  },
  {
    pattern: '<driver> holds <number> disk|disks',
    about: 'The disks that exist at the backend: more disks than volumes is a leak.',
    example: 'disks.example.com holds 1 disk',
    make: (slots) => ({ type: 'disks', driver: slot(slots, 'driver'), number: numberOf(slot(slots, 'number')) }),
  },
  {
    pattern: 'the cloud runs <number> instance|instances',
    about: 'The instances that the autoscaler launched, and that have not ended: more of them than nodes is a leak.',
    example: 'the cloud runs 2 instances',
    make: (slots) => ({ type: 'instances', number: numberOf(slot(slots, 'number')) }),
  },
];

export const expectations = new Phrasebook(phrases);

const moments: readonly Phrase<ExpectationTime>[] = [
  { pattern: 'at the end', about: 'When the simulation is over.', example: 'at the end pvc/data is Bound', make: () => ({ type: 'end' }) },
  {
    pattern: 'at <duration>',
    about: 'At that time.',
    example: 'at 8m pod/web-0 is Running',
    make: (slots) => ({ type: 'at', ms: durationOf(slot(slots, 'duration')) }),
  },
  {
    pattern: 'by <duration>',
    about: 'At some moment until then.',
    example: 'by 8m pod/web-0 is Running',
    make: (slots) => ({ type: 'by', ms: durationOf(slot(slots, 'duration')) }),
  },
  {
    pattern: 'never [after <duration>] [before <end>]',
    about: 'At no moment.',
    example: 'never pvc/data is Lost',
    make: (slots) => lastingMoment('never', slots),
  },
  {
    pattern: 'always [after <duration>] [before <end>]',
    about: 'At every moment.',
    example: 'always after 1m pvc/data is Bound',
    make: (slots) => lastingMoment('always', slots),
  },
];

function lastingMoment(type: 'always' | 'never', slots: Slots): ExpectationTime {
  const [from, to] = [slots.get('duration'), slots.get('end')];
  return { type, fromMs: from === undefined ? 0 : durationOf(from), toMs: to === undefined ? undefined : durationOf(to) };
}

const momentBook = new Phrasebook(moments);
export const timePhrases = moments;

/** @throws PhraseError */
export function readExpectation(text: string): Omit<Expectation, 'written'> {
  const [, when, statement] = /^\s*(at\s+the\s+end|(?:at|by)\s+\S+|(?:never|always)(?:\s+after\s+\S+)?(?:\s+before\s+\S+)?),?\s+(\S[\s\S]*)$/.exec(text) ?? [];
  if (when === undefined || statement === undefined) {
    throw new PhraseError('the time is missing: begin with "at 8m", "by 8m", "at the end", "never" or "always"');
  }
  return { when: momentBook.read(when.replace(/,$/, '')), statement: expectations.read(statement), text: text.trim() };
}
