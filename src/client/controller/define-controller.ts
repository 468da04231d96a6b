import type { RecordedEvents } from '../events/event-dedup.ts';
import type { ObjectWrite, RecordEvent } from '../decision.ts';
import type { Controller, Outcome } from './loop.ts';
import type { ObjectWriter } from './object-writer.ts';

/**
 * A controller in one call: what enqueues its keys, what it reads, what it decides, and how each of its own actions is done.
 *
 *     defineController<string, ExpanderSnapshot, ExpanderAction>({
 *       name: 'expander',
 *       sources: [source(persistentVolumeClaimKind, keysForClaimChange)],
 *       snapshot: (key) => …,                          // from caches; undefined: there is nothing to decide
 *       decide,                                        // pure
 *       writer, events,                                // perform ObjectWrite and RecordEvent
 *       actions: { expandVolume: async (action) => … } // one entry for each other `do`
 *     });
 *
 * An entry for a `do` of ObjectWrite or RecordEvent takes precedence over `writer` and `events`.
 */
export function defineController<Key extends string, Snapshot, Action extends AnyAction>(
  definition: ControllerDefinition<Key, Snapshot, Action>,
): Controller<Key, Snapshot, Action> {
  const { writer, events, actions, ...rest } = definition;
  const handlers: Readonly<Record<string, ActionHandler<Key, Snapshot, AnyAction> | undefined>> = {
    ...(writer === undefined ? {} : writesWith(writer)),
    ...(events === undefined ? {} : { recordEvent: (action) => record(events, action as RecordEvent) }),
    ...actions,
  };
  return {
    ...rest,
    perform(action, key, snapshot) {
      const handler = handlers[action.do];
      if (handler === undefined) throw new Error(`controller ${rest.name} does not define how to perform ${action.do}`);
      return handler(action, key, snapshot);
    },
  };
}

interface AnyAction {
  readonly do: string;
}

export interface ControllerDefinition<Key extends string, Snapshot, Action extends AnyAction> extends Omit<Controller<Key, Snapshot, Action>, 'perform'> {
  readonly writer?: Pick<ObjectWriter, 'perform'>;
  readonly events?: RecordedEvents;
  readonly actions: ActionHandlers<Key, Snapshot, Action>;
}

type ActionHandler<Key, Snapshot, Action> = (action: Action, key: Key, snapshot: Snapshot) => Promise<Outcome>;

type StandardAction = ObjectWrite | RecordEvent;

/** One for each action of the controller's own; those of `StandardAction` may have one. */
export type ActionHandlers<Key, Snapshot, Action extends AnyAction> = {
  readonly [Verb in Exclude<Action, StandardAction>['do']]: ActionHandler<Key, Snapshot, WithVerb<Action, Verb>>;
} & { readonly [Verb in Extract<Action, StandardAction>['do']]?: ActionHandler<Key, Snapshot, WithVerb<Action, Verb>> };

/** The members of a union that have this `do`, among others perhaps. */
type WithVerb<Action extends AnyAction, Verb> = Action extends unknown ? (Verb extends Action['do'] ? Action : never) : never;

function writesWith(writer: Pick<ObjectWriter, 'perform'>) {
  const write = (action: AnyAction): Promise<Outcome> => writer.perform(action as ObjectWrite);
  return { create: write, update: write, updateStatus: write, delete: write };
}

async function record(events: RecordedEvents, { event, rememberAs, state }: RecordEvent): Promise<Outcome> {
  events.record(event, rememberAs, state);
  return 'done';
}
