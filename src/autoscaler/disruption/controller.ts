import type { Node } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { type NodeClaim, nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import { podDisruptionBudgetKind } from '../../api/kinds/policy/pod-disruption-budget.ts';
import type { Stored } from '../../api/stored.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { EventDraft } from '../../client/decision.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Clock } from '../../world/world.ts';
import type { ClusterState } from '../cluster-state.ts';
import { isTrue } from '../node-claims.ts';
import type { Command, DisruptionAction } from './actions.ts';
import { type Candidate, examine } from './candidates.ts';
import { decideDisruption, type DisruptionSnapshot } from './decide.ts';
import { isMarked, type MarkedNode, withReason, withTaint } from './disrupted-mark.ts';
import { findCommand } from './methods.ts';

export interface DisruptionOptions {
  readonly state: ClusterState;
  readonly informers: Informers;
  readonly client: Client;
  readonly events: RecordedEvents;
  readonly clock: Clock;
  readonly sha256: (text: string) => string;
}

/** Of the whole cluster: what is removed together has to fit together. */
type DisruptionKey = 'nodes';

/** Removes nodes that are not needed, and replaces those that are not as they should be. */
export function nodeDisruption(options: DisruptionOptions): Controller<DisruptionKey, DisruptionSnapshot, DisruptionAction> {
  const disruption = new Disruption(options);
  return defineController<DisruptionKey, DisruptionSnapshot, DisruptionAction>({
    name: 'node-disruption',
    sources: [
      source(nodePoolKind, () => ['nodes']),
      source(nodeClaimKind, ({ before, after }) =>
        before === undefined || after === undefined || isInitialized(before) !== isInitialized(after) ? ['nodes'] : [],
      ),
    ],
    snapshot: () => disruption.snapshot(),
    decide: decideDisruption,
    writer: new ObjectWriter(options.client, [untypedKind(nodeKind), untypedKind(nodeClaimKind)]),
    events: options.events,
    actions: {
      async consider({ command }) {
        disruption.considered = { command, at: options.clock.now() };
        return 'done';
      },
      async drop() {
        disruption.considered = undefined;
        return 'done';
      },
      execute: ({ command }) => disruption.execute(command),
      complete: ({ command }) => disruption.complete(command),
      async undo({ command }) {
        disruption.end(command);
        return 'done';
      },
    },
  });
}

const isInitialized = (claim: NodeClaim): boolean => isTrue(claim, 'Initialized');

class Disruption {
  considered: DisruptionSnapshot['considered'];
  readonly #options: DisruptionOptions;
  readonly #budgets;
  #executing: readonly Command[] = [];

  constructor(options: DisruptionOptions) {
    this.#options = options;
    this.#budgets = options.informers.cache(podDisruptionBudgetKind);
  }

  snapshot(): DisruptionSnapshot | undefined {
    const { state } = this.#options;
    if (!state.isActive) return undefined;
    return {
      executing: this.#executing.map((command) => ({ command, replacements: this.#stateOf(command) })),
      abandoned: this.#abandoned(),
      considered: this.considered,
      find: () => this.#find(),
      validate: (command) => this.#validate(command),
    };
  }

  #abandoned(): readonly MarkedNode[] {
    const { state } = this.#options;
    const owned = new Set(this.#executing.flatMap(({ candidates }) => candidates));
    return [...state.claims.list()].flatMap((claim) => {
      const node = state.nodeOf(claim);
      if (node === undefined || owned.has(claim.metadata.name) || state.isLeaving(node)) return [];
      return isMarked({ node, claim }) ? [{ node, claim }] : [];
    });
  }

  #stateOf({ replacements }: Command): 'ready' | 'awaited' | 'failed' {
    const { state } = this.#options;
    const claims = replacements.map(({ metadata }) => state.claims.getKey(metadata.name ?? ''));
    if (claims.some((claim) => claim === undefined || claim.metadata.deletionTimestamp !== undefined)) return 'failed';
    return claims.every((claim) => claim !== undefined && isInitialized(claim)) ? 'ready' : 'awaited';
  }

  #find(): Command | undefined {
    const { state, sha256 } = this.#options;
    const all = [...state.claims.list()];
    const onUnconsolidatable = (candidate: Candidate, why: string) => this.#tell(candidate, { type: 'Normal', reason: 'Unconsolidatable', message: why });
    return findCommand({ state, sha256, onUnconsolidatable, candidates: this.#candidates(all) });
  }

  /** The same method finds all of the same nodes again, and does not need more in their place. */
  #validate(command: Command): Command | undefined {
    const { state, sha256 } = this.#options;
    const named = command.candidates.flatMap((name) => state.claims.getKey(name) ?? []);
    const candidates = this.#candidates(named);
    if (command.reason !== 'Empty' && candidates.length !== command.candidates.length) return undefined;
    const found = findCommand({ state, sha256, onUnconsolidatable: () => undefined, candidates });
    if (found === undefined || found.reason !== command.reason || found.replacements.length > command.replacements.length) return undefined;
    return command.reason === 'Empty' || found.candidates.length === command.candidates.length ? found : undefined;
  }

  #candidates(claims: readonly Stored<NodeClaim>[]): readonly Candidate[] {
    const { state, clock } = this.#options;
    const budgets = [...this.#budgets.list()];
    return claims.flatMap((claim) => {
      const examined = examine(claim, { state, budgets, now: clock.now() });
      return examined.type === 'candidate' ? [examined.candidate] : this.#blocked(claim, examined.why);
    });
  }

  #blocked(claim: Stored<NodeClaim>, why: string): readonly Candidate[] {
    const node = this.#options.state.nodeOf(claim);
    if (node !== undefined && isInitialized(claim) && node.metadata.deletionTimestamp === undefined)
      this.#tell({ claim, node }, { type: 'Normal', reason: 'DisruptionBlocked', message: why });
    return [];
  }

  /** Once in fifteen minutes. */
  #tell({ claim, node }: Pick<Candidate, 'claim' | 'node'>, event: EventDraft): void {
    const { events, clock } = this.#options;
    for (const about of [node, claim]) {
      const key = `${about.metadata.uid}/${event.reason}`;
      const last = events.lastEvent(key);
      if (last?.message === event.message && clock.now() - last.at < tellMs) continue;
      events.record({ ...event, about }, key);
    }
  }

  /** The command owns its nodes from before the first write until its end: a pass that finds marked nodes without a command releases them. */
  async execute(command: Command): Promise<Outcome> {
    this.considered = undefined;
    this.#own([...this.#executing, command]);
    const outcome = await this.#begin(command);
    if (outcome !== 'done') this.end(command);
    else if (command.replacements.length === 0) return await this.complete(command);
    return outcome;
  }

  async #begin(command: Command): Promise<Outcome> {
    const { client, state, events, clock } = this.#options;
    for (const { claim, node } of this.#nodesOf(command)) {
      const tainted = outcomeOf(await client.update(nodeKind, withTaint(node)));
      if (tainted !== 'done') return tainted;
      const marked = outcomeOf(await client.updateStatus(nodeClaimKind, withReason(claim, command.reason, clock.now())));
      if (marked !== 'done' && marked !== 'conflict') return marked;
    }
    for (const replacement of command.replacements) {
      const made = await client.create(nodeClaimKind, replacement);
      if (!made.ok) return outcomeOf(made);
      state.nominate(made.value.metadata.name, clock.now() + replacementMs);
      const launching = { type: 'Normal', reason: 'DisruptionLaunching', message: `Launching NodeClaim: ${command.reason}` } as const;
      const waiting = { type: 'Normal', reason: 'DisruptionWaitingReadiness', message: 'Waiting on readiness to continue disruption' } as const;
      for (const event of [launching, waiting]) events.record({ ...event, about: made.value });
    }
    return 'done';
  }

  /** Called again, by a later pass, if a delete fails. */
  async complete(command: Command): Promise<Outcome> {
    const { client, events } = this.#options;
    for (const { claim, node } of this.#nodesOf(command)) {
      if (claim.metadata.deletionTimestamp !== undefined) continue;
      const gone = await client.delete(nodeClaimKind, { name: claim.metadata.name }, { preconditions: { uid: claim.metadata.uid } });
      if (!gone.ok && gone.reason !== 'notFound') return outcomeOf(gone);
      events.record({ type: 'Normal', reason: 'DisruptionTerminating', message: `Disrupting Node: ${command.reason}`, about: node });
      events.record({ type: 'Normal', reason: 'DisruptionTerminating', message: `Disrupting NodeClaim: ${command.reason}`, about: claim });
    }
    this.end(command);
    return 'done';
  }

  end(command: Command): void {
    this.#own(this.#executing.filter((each) => each !== command));
  }

  #own(executing: readonly Command[]): void {
    const { marked } = this.#options.state;
    this.#executing = executing;
    marked.clear();
    for (const { node } of executing.flatMap((command) => this.#nodesOf(command))) marked.add(node.metadata.name);
  }

  #nodesOf({ candidates }: Command): readonly { readonly claim: Stored<NodeClaim>; readonly node: Stored<Node> }[] {
    const { state } = this.#options;
    return candidates.flatMap((name) => {
      const claim = state.claims.getKey(name);
      const node = claim === undefined ? undefined : state.nodeOf(claim);
      return claim === undefined || node === undefined ? [] : [{ claim, node }];
    });
  }
}

const tellMs = 15 * 60_000;
/** How long a replacement is kept although no pod is on it yet. */
const replacementMs = 10 * 60_000;
