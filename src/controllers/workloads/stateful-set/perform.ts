/** Performs the actions, and records their results as events with Kubernetes' texts. */
import { untypedKind, type Kind } from '../../../api/kind.ts';
import { persistentVolumeClaimKind } from '../../../api/kinds/core/persistent-volume-claim.ts';
import { controllerRevisionKind } from '../../../api/kinds/apps/controller-revision.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../../api/kinds/apps/stateful-set.ts';
import type { Client, Result } from '../../../client/client.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { ownershipHandlers } from '../../pods/perform-ownership.ts';
import { slowStart } from '../../pods/slow-start.ts';
import { type StatefulSetAction, claimReport, foreignControllerReport, podReport, type PodStep } from './actions.ts';

export interface StatefulSetContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

type Of<A extends { do: string }, Name extends A['do']> = Extract<A, { do: Name }>;
/** The claims of one pod. */
type MemberClaims = Pick<Of<PodStep, 'updateClaims'>, 'set' | 'podName' | 'claims'>;

export const writtenKinds: readonly Kind[] = [untypedKind(statefulSetKind), untypedKind(podKind), untypedKind(controllerRevisionKind)];

export class StatefulSetWorker {
  readonly #client: Client;
  readonly #recorder: Pick<EventRecorder, 'record'>;
  readonly #writer: ObjectWriter;

  constructor({ client, recorder }: StatefulSetContext) {
    this.#client = client;
    this.#recorder = recorder;
    this.#writer = new ObjectWriter(client, writtenKinds);
  }

  get handlers() {
    const step = (each: PodStep): Promise<Outcome> => this.#step(each);
    return {
      ...ownershipHandlers(this.#client, writtenKinds),
      createRevision: async ({ revision }: Of<StatefulSetAction, 'createRevision'>): Promise<Outcome> =>
        outcomeOf(await this.#client.create(controllerRevisionKind, revision)),
      together: ({ steps }: Of<StatefulSetAction, 'together'>) => slowStart(steps, step),
      expandClaim: (action: Of<StatefulSetAction, 'expandClaim'>) => this.#expandClaim(action),
      createPod: step,
      updatePod: step,
      restoreClaims: step,
      updateClaims: step,
      deletePod: step,
    };
  }

  #step(step: PodStep): Promise<Outcome> {
    switch (step.do) {
      case 'createPod':
        return this.#createPod(step);
      case 'updatePod':
        return this.#updatePod(step);
      case 'restoreClaims':
        return this.#restoreClaims(step);
      case 'updateClaims':
        return this.#updateClaims(step).then(({ outcome }) => outcome);
      case 'deletePod':
        return this.#deletePod(step);
    }
  }

  async #createPod({ set, pod, claims }: Of<PodStep, 'createPod'>): Promise<Outcome> {
    const member = { set, podName: pod.metadata?.name ?? '', claims };
    const prepared = await this.#createClaims(member);
    if (prepared.outcome !== 'done') return this.#recordPod(prepared, 'Create', member);
    const created = await this.#client.create(podKind, pod);
    // Another pod has this name, or it was created already: the cache will show it.
    if (!created.ok && created.reason === 'alreadyExists') return 'conflict';
    const updated = await this.#updateClaims(member);
    if (updated.outcome !== 'done') return this.#recordPod(updated, 'Update', member);
    return this.#recordPod(stepResult(created), 'Create', member);
  }

  async #updatePod({ set, podName, pod, claims }: Of<PodStep, 'updatePod'>): Promise<Outcome> {
    const member = { set, podName, claims };
    const prepared = await this.#createClaims(member);
    if (prepared.outcome !== 'done') return this.#recordPod(prepared, 'Update', member);
    const updated = await this.#updateClaims(member);
    if (updated.outcome !== 'done' || pod === undefined) return this.#recordPod(updated, 'Update', member);
    return this.#recordPod(stepResult(await this.#writer.attempt({ do: 'update', ...pod })), 'Update', member);
  }

  async #restoreClaims(member: MemberClaims): Promise<Outcome> {
    const prepared = await this.#createClaims(member);
    if (prepared.outcome !== 'done') return prepared.outcome;
    const updated = await this.#updateClaims(member);
    return updated.outcome === 'done' ? 'done' : this.#recordPod(updated, 'Update', member);
  }

  /** A refused claim does not keep the others from being created. */
  async #createClaims({ set, podName, claims }: MemberClaims): Promise<StepResult> {
    const problems: string[] = claims.terminating.map((name) => `pvc ${name} is being deleted`);
    let outcome: Outcome = 'done';
    for (const draft of claims.toCreate) {
      const claim = draft.metadata.name ?? '';
      const result = await this.#client.create(persistentVolumeClaimKind, draft);
      const done = stepResult(result);
      if (done.outcome === 'deposed') return done;
      if (done.outcome !== 'done') outcome = done.outcome;
      if (result.ok || done.refusal !== undefined) this.#recorder.record(set, claimReport('Create', set, { claim, pod: podName, error: done.refusal }));
      if (done.refusal !== undefined) problems.push(`failed to create PVC ${claim}: ${done.refusal}`);
    }
    if (problems.length === 0) return { outcome, refusal: undefined };
    const refusal = aggregate(problems);
    return { outcome: { retry: refusal }, refusal };
  }

  async #updateClaims({ set, claims }: MemberClaims): Promise<StepResult> {
    for (const name of claims.foreign) this.#recorder.record(set, foreignControllerReport(name));
    for (const { claim, from } of claims.toUpdate) {
      const done = stepResult(await this.#client.update(persistentVolumeClaimKind, claim));
      if (done.outcome === 'done') continue;
      const { refusal } = done;
      return {
        ...done,
        refusal: refusal === undefined ? undefined : `could not update claim ${from.metadata.name} for delete policy ownerRefs: ${refusal}`,
      };
    }
    return { outcome: 'done', refusal: undefined };
  }

  async #deletePod({ set, pod }: Of<PodStep, 'deletePod'>): Promise<Outcome> {
    const result = await this.#writer.attempt({ do: 'delete', object: pod });
    return this.#recordPod(stepResult(result), 'Delete', { set, podName: pod.metadata.name });
  }

  async #expandClaim({ set, podName, claim }: Of<StatefulSetAction, 'expandClaim'>): Promise<Outcome> {
    const { outcome, refusal } = stepResult(await this.#client.update(persistentVolumeClaimKind, claim));
    const report = claimReport('Expand', set, { claim: claim.metadata.name, pod: podName, error: refusal });
    if (outcome === 'done' || refusal !== undefined) this.#recorder.record(set, report);
    return outcome;
  }

  /** Conflicts and missing answers are not recorded as events. */
  #recordPod({ outcome, refusal }: StepResult, verb: 'Create' | 'Update' | 'Delete', { set, podName: name }: Pick<MemberClaims, 'set' | 'podName'>): Outcome {
    if (outcome === 'done' || refusal !== undefined) this.#recorder.record(set, podReport(verb, set, { name, error: refusal }));
    return outcome;
  }
}

interface StepResult {
  readonly outcome: Outcome;
  /** The server's message, if it refused the request. */
  readonly refusal: string | undefined;
}

function stepResult(result: Result<unknown>): StepResult {
  if (result.ok) return { outcome: 'done', refusal: undefined };
  const outcome = outcomeOf(result);
  switch (result.reason) {
    case 'forbidden':
    case 'invalid':
    case 'failed':
      return { outcome, refusal: result.error.message };
    default:
      return { outcome, refusal: undefined };
  }
}

/** The format of Kubernetes' utilerrors.Aggregate; each error once. */
function aggregate(problems: readonly string[]): string {
  const unique = [...new Set(problems)];
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
}
