/** What a cloud does wrong, as steps of a scenario's script. docs/SIMULATE.md has the same table. */
import { nearestName } from '../../../api/nearest-name.ts';
import type { Fault } from '../../../cloud/engine/faults.ts';
import { durationOf } from './duration.ts';
import { type Phrase, PhraseError, slot, type Slots } from './phrase.ts';
import { nodeIn } from './reference.ts';

export type CloudStep =
  | { readonly type: 'cloud fails'; readonly fault: Fault; readonly zone?: string; readonly over: string; readonly forMs?: number }
  | { readonly type: 'instance freezes'; readonly node: string; readonly forMs?: number }
  | { readonly type: 'instance is lost'; readonly node: string }
  | { readonly type: 'cloud recovers' };

const actions = ['AttachVolume', 'CreateFleet', 'CreateVolume', 'DeleteVolume', 'DescribeInstances', 'DescribeVolumes', 'DetachVolume', 'TerminateInstances'];

/** Absent: all of them. */
function actionsIn(slots: Slots): { readonly actions?: readonly string[] } {
  const word = slots.get('action');
  if (word === undefined) return {};
  if (actions.includes(word)) return { actions: [word] };
  const near = nearestName(word, actions);
  throw new PhraseError(`the cloud has no action "${word}"${near === undefined ? `; it has ${actions.join(', ')}` : `; did you mean "${near}"?`}`);
}

const lasting = (slots: Slots) => (slots.has('duration') ? { forMs: durationOf(slot(slots, 'duration')) } : {});

function lacking(slots: Slots, capacityType?: 'spot'): CloudStep {
  const zone = slots.get('zone');
  const fault: Fault = {
    fault: 'insufficient-capacity',
    ...(zone === undefined ? {} : { zones: [zone] }),
    ...(capacityType === undefined ? {} : { capacityType }),
  };
  const over = `the cloud has ${capacityType === undefined ? '' : 'spot '}capacity again`;
  return { type: 'cloud fails', fault, over, ...(zone === undefined ? {} : { zone }), ...lasting(slots) };
}

/** As many answers as arrive. */
const lostAnswers = 0.5;

export const cloudPhrases: readonly Phrase<CloudStep>[] = [
  {
    pattern: 'the cloud throttles calls [of <action>] [for <duration>]',
    about: 'EC2 refuses calls with RequestLimitExceeded: all of them, or those of one action.',
    example: 'the cloud throttles calls of AttachVolume for 2m',
    make: (slots) => ({ type: 'cloud fails', fault: { fault: 'throttling', ...actionsIn(slots) }, over: 'the cloud takes calls again', ...lasting(slots) }),
  },
  {
    pattern: 'the cloud loses answers [of <action>] [for <duration>]',
    about: 'Calls take effect, and every other answer is lost.',
    example: 'the cloud loses answers of CreateFleet for 5m',
    make: (slots) => ({
      type: 'cloud fails',
      fault: { fault: 'lost-answer', probability: lostAnswers, ...actionsIn(slots) },
      over: 'the cloud answers again',
      ...lasting(slots),
    }),
  },
  {
    pattern: 'the cloud has no capacity [in <zone>] [for <duration>]',
    about: 'Launches fail with InsufficientInstanceCapacity.',
    example: 'the cloud has no capacity in eu-west-2a for 10m',
    make: (slots) => lacking(slots),
  },
  {
    pattern: 'the cloud has no spot capacity [in <zone>] [for <duration>]',
    about: 'The same for spot instances alone.',
    example: 'the cloud has no spot capacity for 10m',
    make: (slots) => lacking(slots, 'spot'),
  },
  {
    pattern: 'attachments are stuck [for <duration>]',
    about: 'Volumes that are attached from now on stay attaching, until the driver gives them up.',
    example: 'attachments are stuck for 3m',
    make: (slots) => ({ type: 'cloud fails', fault: { fault: 'stuck-attaching' }, over: 'attachments succeed again', ...lasting(slots) }),
  },
  {
    pattern: '<node> freezes [for <duration>]',
    about: 'The instance of the node runs and answers nothing; volumes that are to be detached stay busy.',
    example: 'the node of pod/db-0 freezes for 10m',
    make: (slots) => ({ type: 'instance freezes', node: nodeIn(slots), ...lasting(slots) }),
  },
  {
    pattern: '<node> is lost',
    about: 'The instance of the node ends, as by a failure of its host; its volumes are detached.',
    example: 'the node of pod/db-0 is lost',
    make: (slots) => ({ type: 'instance is lost', node: nodeIn(slots) }),
  },
  { pattern: 'the cloud recovers', about: 'Ends all faults of the cloud.', example: 'the cloud recovers', make: () => ({ type: 'cloud recovers' }) },
];
