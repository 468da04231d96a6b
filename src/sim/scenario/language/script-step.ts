/** The steps of a scenario's script, and their phrases. docs/SIMULATE.md has the same table. */
import type { Taint } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { parseQuantity, QuantityError } from '../../../api/quantity.ts';
import type { DriverErrorCode } from '../../../drivers/contract.ts';
import { nearestName } from '../../../api/nearest-name.ts';
import { type CloudStep, cloudPhrases } from './cloud-step.ts';
import { durationOf } from './duration.ts';
import { type Phrase, Phrasebook, PhraseError, slot, type Slots } from './phrase.ts';
import { nodeIn as node, parseReference, type Reference } from './reference.ts';

export type ScriptStep = MachineStep | NodeStep | ProcessStep | CloudStep | ObjectStep;

/** Machines fail, return and join. */
export type MachineStep =
  | { readonly type: 'node dies'; readonly node: string; readonly forMs?: number }
  | { readonly type: 'node returns' | 'node is removed'; readonly node: string }
  | { readonly type: 'node joins'; readonly node: string; readonly zone: string }
  | { readonly type: 'zone goes dark'; readonly zone: string; readonly forMs?: number }
  | { readonly type: 'zone returns'; readonly zone: string };

/** A user changes a Node. */
export type NodeStep =
  | { readonly type: 'cordon' | 'uncordon' | 'drain'; readonly node: string }
  | { readonly type: 'taint'; readonly node: string; readonly taint: Taint }
  | { readonly type: 'untaint'; readonly node: string; readonly key: string };

/** Processes and backends fail. */
export type ProcessStep =
  | ({ readonly type: 'backend fails' } & BackendFault)
  | { readonly type: 'backend slows'; readonly driver: string; readonly call: BackendCall; readonly takesMs: number; readonly forMs?: number }
  | { readonly type: 'backend recovers'; readonly driver: string }
  | { readonly type: 'process crashes'; readonly process: ProcessName; readonly forMs: number }
  | { readonly type: 'crash in call'; readonly driver: string; readonly call: BackendCall; readonly forMs: number };

/** A user changes an object. */
export type ObjectStep =
  | { readonly type: 'label'; readonly object: Reference; readonly key: string; readonly value: string | null }
  | { readonly type: 'scale'; readonly object: Reference; readonly replicas: number }
  | { readonly type: 'resize'; readonly object: Reference; readonly size: string }
  | { readonly type: 'delete'; readonly object: Reference; readonly force: boolean }
  | { readonly type: 'remove finalizers' | 'clear claimRef'; readonly object: Reference }
  | { readonly type: 'apply'; readonly objects: readonly KubeObject[] }
  | { readonly type: 'patch'; readonly object: Reference; readonly patch: object };

export interface BackendFault {
  readonly driver: string;
  readonly call: BackendCall;
  readonly code: DriverErrorCode;
  readonly message: string;
  /** Neither `times` nor `forMs`: until it recovers. */
  readonly times?: number;
  readonly forMs?: number;
}

export const backendCalls = ['create', 'delete', 'attach', 'detach', 'resize'] as const;
export type BackendCall = (typeof backendCalls)[number] | 'every';
const processes = ['controllers', 'scheduler', 'server'] as const;
export type ProcessName = (typeof processes)[number];

/** The default time until a crashed process is back. */
const restartMs = 10_000;

const lasting = (slots: Slots) => (slots.has('duration') ? { forMs: durationOf(slot(slots, 'duration')) } : {});
const object = (slots: Slots) => parseReference(slot(slots, 'object'));

/** @throws PhraseError */
export function quantityOf(text: string): string {
  try {
    parseQuantity(text);
    return text;
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    throw new PhraseError(`"${text}" is no amount; one is 10Gi`);
  }
}

/** @throws PhraseError */
export function numberOf(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new PhraseError(`"${text}" is no number; one is 3`);
  return Number(text);
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function taintOf(text: string): Taint {
  const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
  if (key === '') throw new PhraseError(`"${text}" is no taint; one is node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`);
  if (!effects.includes(effect)) {
    const near = nearestName(effect, effects);
    throw new PhraseError(`"${effect}" is no effect of a taint${near === undefined ? `; these are ${effects.join(', ')}` : `; did you mean "${near}"?`}`);
  }
  return { key, effect, ...(value === '' ? {} : { value }) };
}

function callOf(slots: Slots): BackendCall {
  const word = slots.get('call') ?? 'every';
  if (word === 'every' || backendCalls.some((call) => call === word)) return word as BackendCall;
  const near = nearestName(word, backendCalls);
  throw new PhraseError(`a backend has no call "${word}"${near === undefined ? `; it has ${backendCalls.join(', ')}` : `; did you mean "${near}"?`}`);
}

const codes: readonly DriverErrorCode[] = [
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'Unauthenticated',
];

function faultOf(slots: Slots, usual: { readonly code: DriverErrorCode; readonly message: string }): BackendFault {
  const word = slots.get('code') ?? usual.code;
  const code = codes.find((each) => each === word);
  if (code === undefined) {
    const near = nearestName(word, codes);
    throw new PhraseError(`"${word}" is no code of CSI${near === undefined ? `; one is ${usual.code}` : `; did you mean "${near}"?`}`);
  }
  const times = slots.has('number') ? { times: numberOf(slot(slots, 'number')) } : {};
  return { driver: slot(slots, 'driver'), call: callOf(slots), code, message: slots.get('text') ?? usual.message, ...times, ...lasting(slots) };
}

function labelOf(slots: Slots): ScriptStep {
  const [, key = '', value] = /^([^=]+?)(?:=(.*)|-)$/.exec(slot(slots, 'label')) ?? [];
  if (key === '') throw new PhraseError(`"${slot(slots, 'label')}" is no label; one is tier=gold, or tier- to remove it`);
  return { type: 'label', object: object(slots), key, value: value ?? null };
}

function processOf(slots: Slots): ProcessName {
  const word = slot(slots, 'process');
  const found = processes.find((process) => process === word);
  if (found !== undefined) return found;
  const near = nearestName(word, processes);
  throw new PhraseError(`there is no process "${word}"; ${near === undefined ? `there are the ${processes.join(', the ')}` : `did you mean "${near}"?`}`);
}

const restarting = (slots: Slots) => ({ forMs: slots.has('duration') ? durationOf(slot(slots, 'duration')) : restartMs });

const phrases: readonly Phrase<ScriptStep>[] = [
  {
    pattern: '<node> dies|crashes [for <duration>]',
    about: 'The machine loses its connection: its agent sends nothing more, for a while or until it returns.',
    example: 'node-1 dies',
    make: (slots) => ({ type: 'node dies', node: node(slots), ...lasting(slots) }),
  },
  {
    pattern: '<node> returns',
    about: 'Its connection is back; its pods ran on.',
    example: 'node-1 returns',
    make: (slots) => ({ type: 'node returns', node: node(slots) }),
  },
  {
    pattern: '<zone> goes dark [for <duration>]',
    about: 'Every node of the zone dies, and the backends do not answer calls for disks there.',
    example: 'zone-a goes dark for 10m',
    make: (slots) => ({ type: 'zone goes dark', zone: slot(slots, 'zone'), ...lasting(slots) }),
  },
  {
    pattern: '<zone> is back',
    about: 'The zone works again.',
    example: 'zone-a is back',
    make: (slots) => ({ type: 'zone returns', zone: slot(slots, 'zone') }),
  },
  {
    pattern: '<node> joins [in <zone>]',
    about: 'A new node, like the others.',
    example: 'node-4 joins in zone-b',
    make: (slots) => ({ type: 'node joins', node: node(slots), zone: slots.get('zone') ?? '' }),
  },
  {
    pattern: 'remove <node>',
    about: 'The machine is switched off and its Node deleted, as autoscalers and clouds do.',
    example: 'remove node-1',
    make: (slots) => ({ type: 'node is removed', node: node(slots) }),
  },
  { pattern: 'cordon <node>', about: 'kubectl cordon', example: 'cordon node-1', make: (slots) => ({ type: 'cordon', node: node(slots) }) },
  { pattern: 'uncordon <node>', about: 'kubectl uncordon', example: 'uncordon node-1', make: (slots) => ({ type: 'uncordon', node: node(slots) }) },
  {
    pattern: 'drain <node>',
    about: 'kubectl drain: cordon, then evict its pods (not those of DaemonSets). Evictions that a PodDisruptionBudget refuses are retried every 5s.',
    example: 'drain node-1',
    make: (slots) => ({ type: 'drain', node: node(slots) }),
  },
  {
    pattern: 'taint <node> <taint>',
    about: 'kubectl taint node',
    example: 'taint node-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
    make: (slots) => ({ type: 'taint', node: node(slots), taint: taintOf(slot(slots, 'taint')) }),
  },
  {
    pattern: 'untaint <node> <key>',
    about: 'Removes every taint with that key.',
    example: 'untaint node-1 node.kubernetes.io/out-of-service',
    make: (slots) => ({ type: 'untaint', node: node(slots), key: slot(slots, 'key') }),
  },
  { pattern: 'label <object> <label>', about: 'kubectl label --overwrite', example: 'label node/node-1 tier=gold', make: labelOf },
  {
    pattern: 'scale <object> to <number>',
    about: 'kubectl scale',
    example: 'scale statefulset/web to 5',
    make: (slots) => ({ type: 'scale', object: object(slots), replicas: numberOf(slot(slots, 'number')) }),
  },
  {
    pattern: 'resize <object> to <size>',
    about: 'Raises the storage request of a claim.',
    example: 'resize pvc/data to 10Gi',
    make: (slots) => ({ type: 'resize', object: object(slots), size: quantityOf(slot(slots, 'size')) }),
  },
  {
    pattern: 'delete <object>',
    about: 'kubectl delete',
    example: 'delete pod/web-0',
    make: (slots) => ({ type: 'delete', object: object(slots), force: false }),
  },
  {
    pattern: 'delete <object> by force',
    about: 'kubectl delete --grace-period=0 --force: does not wait for the kubelet.',
    example: 'delete pod/web-0 by force',
    make: (slots) => ({ type: 'delete', object: object(slots), force: true }),
  },
  {
    pattern: 'remove finalizers of|from <object>',
    about: 'Removes all finalizers of an object that is stuck in Terminating.',
    example: 'remove finalizers of pvc/data',
    make: (slots) => ({ type: 'remove finalizers', object: object(slots) }),
  },
  {
    pattern: 'clear claimRef of <object>',
    about: 'Makes a Released volume Available again.',
    example: 'clear claimRef of pv/data',
    make: (slots) => ({ type: 'clear claimRef', object: object(slots) }),
  },
  {
    pattern: 'the <process> crash|crashes [for <duration>]',
    about: 'controllers, scheduler or server: the process is killed, and restarts with empty memory after 10s, or after the given time.',
    example: 'the controllers crash for 30s',
    make: (slots) => ({ type: 'process crashes', process: processOf(slots), ...restarting(slots) }),
  },
  {
    pattern: 'the controllers crash after the next <call> of <driver> [for <duration>]',
    about: 'The backend performs the call, and the controllers crash before they get the answer.',
    example: 'the controllers crash after the next create of disks.example.com',
    make: (slots) => ({ type: 'crash in call', driver: slot(slots, 'driver'), call: callOf(slots), ...restarting(slots) }),
  },
  {
    pattern: '<driver> is down [for <duration>]',
    about: 'Every call fails with Unavailable.',
    example: 'disks.example.com is down for 5m',
    make: (slots) => ({ type: 'backend fails', ...faultOf(slots, { code: 'Unavailable', message: 'connection refused' }) }),
  },
  {
    pattern: '<driver> fails to <call> [<number> times] [for <duration>] [with <code>] [saying <text>]',
    about: 'create, delete, attach, detach or resize fails with a CSI code (default: Internal).',
    example: 'disks.example.com fails to create 3 times with ResourceExhausted saying "no capacity in zone-a"',
    make: (slots) => ({ type: 'backend fails', ...faultOf(slots, { code: 'Internal', message: 'the backend failed' }) }),
  },
  {
    pattern: '<driver> takes <time> to <call> [for <duration>]',
    about: 'Calls of the backend take this long.',
    example: 'disks.example.com takes 90s to attach for 10m',
    make: (slots) => ({
      type: 'backend slows',
      driver: slot(slots, 'driver'),
      call: callOf(slots),
      takesMs: durationOf(slot(slots, 'time')),
      ...lasting(slots),
    }),
  },
  {
    pattern: '<driver> recovers',
    about: 'Ends all failures and delays of the backend.',
    example: 'disks.example.com recovers',
    make: (slots) => ({ type: 'backend recovers', driver: slot(slots, 'driver') }),
  },
];

export const scriptSteps = new Phrasebook<ScriptStep>([...phrases, ...cloudPhrases]);
