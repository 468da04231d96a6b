/**
 * The three storage controllers on a small server, without time, threads or network: what they decide is done at once,
 * key by key, until nothing is left to do. Before every effect a crash can be made to happen.
 */
import type { Pod } from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import * as binder from '../../src/storage/binder/decide.ts';
import type { BindMode } from '../../src/storage/binder/actions.ts';
import * as provisioner from '../../src/storage/provisioner/decide.ts';
import {
  afterCleanupFailed,
  afterCreated,
  afterDeleted as afterTakenBack,
  type CreateIntent,
  type ProvisionerAction,
} from '../../src/storage/provisioner/actions.ts';
import * as reclaimer from '../../src/storage/reclaimer/decide.ts';
import {
  afterDeleted,
  afterRecycleFailed,
  afterStarted,
  type ConfirmScrubbed,
  type ReclaimerAction,
  type StartRecyclerPod,
} from '../../src/storage/reclaimer/actions.ts';
import { recyclerPodName } from '../../src/storage/reclaimer/recycler-pod.ts';
import type { BinderAction } from '../../src/storage/binder/actions.ts';
import { messages } from '../../src/storage/provisioner/messages.ts';
import { type Claim, readClaim, takesAnyVolume } from '../../src/storage/volumes/claim.ts';
import type { Decision, RecordedEvent } from '../../src/client/decision.ts';
import { afterFailure, isFor } from '../../src/api/volumes/intent.ts';
import { defaultClassOf, waitsForConsumer } from '../../src/api/volumes/storage-class.ts';
import { readVolume, type Volume } from '../../src/storage/volumes/volume.ts';
import { VolumeIndex } from '../../src/storage/volumes/volume-index.ts';
import { WaitingClaims } from '../../src/storage/volumes/waiting-claims.ts';
import { FakeBackend } from './fake-backend.ts';
import { FakeApiServer, type WriteResult } from './fake-api-server.ts';

type Action = BinderAction | ProvisionerAction | ReclaimerAction;
type Pass = { readonly name: string; decide(): Decision<Action> | undefined };

/** The process died; nothing that it remembered is left. */
class Crash extends Error {}

export interface FakeClusterOptions {
  readonly mode?: BindMode;
  readonly nodes?: readonly string[];
}

export class FakeCluster {
  server = new FakeApiServer();
  backend = new FakeBackend();
  readonly mode: BindMode;
  readonly nodes: readonly string[];
  /** Every recorded event, once: 'pvc/data Warning FailedBinding: …'. */
  readonly events = new Set<string>();
  #lastEvents = new Map<string, RecordedEvent>();
  /** What was written, and the resourceVersion that it got. */
  readonly #written = new WeakMap<KubeObject, string>();
  /** Effects so far, and those before which the process dies. */
  effects = 0;
  /** Directories that are not empty. */
  readonly dirty = new Set<string>();
  crashBefore: ReadonlySet<number> = new Set();
  /** Asked after every effect: something that must hold at every moment. */
  invariant: () => void = () => undefined;

  constructor({ mode = 'transaction', nodes = [] }: FakeClusterOptions = {}) {
    this.mode = mode;
    this.nodes = nodes;
  }

  copy(): FakeCluster {
    const other = new FakeCluster({ mode: this.mode, nodes: this.nodes });
    other.server = this.server.copy();
    other.backend = this.backend.copy();
    other.#lastEvents = new Map(this.#lastEvents);
    for (const event of this.events) other.events.add(event);
    return other;
  }

  /** Runs every controller on every key until a whole round does nothing; then on to the next appointment within `horizonMs`. */
  settle(horizonMs = 60_000): this {
    const end = this.server.now + horizonMs;
    for (let round = 0; round < 500; round++) {
      const { acted, again } = this.#round();
      if (acted) continue;
      if (again === undefined || again > end) return this;
      this.server.now = again;
    }
    throw new Error('it does not settle');
  }

  /**
   * Many passes at a time, one action of one of them after the other: each decides from what it sees when it starts, and does
   * its last action when everything may be different. A crash ends them all.
   */
  runInterleaved(random: () => number, steps: number): this {
    let flights: { readonly name: string; readonly actions: Action[] }[] = [];
    const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
    for (let step = 0; step < steps; step++) {
      const flight = random() < 0.6 ? pick(flights) : undefined;
      if (flight === undefined) {
        const pass = pick(this.passes().filter(({ name }) => !flights.some((other) => other.name === name)));
        const actions = pass?.decide()?.actions ?? [];
        if (pass !== undefined && actions.length > 0) flights.push({ name: pass.name, actions: [...actions] });
      } else if (!this.#advance(flight)) {
        flights = [];
      } else {
        flights = flights.filter(({ actions }) => actions.length > 0);
      }
      if (random() < 0.2) this.#protect();
      if (random() < 0.1) this.server.now += 1000;
    }
    return this;
  }

  /** False: the process died. */
  #advance(flight: { readonly actions: Action[] }): boolean {
    const action = flight.actions.shift();
    if (action === undefined) return true;
    try {
      if (this.#perform(action) !== 'done') flight.actions.length = 0;
      return true;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#lastEvents.clear();
      return false;
    }
  }

  /** What every controller would do now. Nothing, once it has settled. */
  pending(): readonly Action[] {
    return this.passes().flatMap((pass) => pass.decide()?.actions ?? []);
  }

  #round(): { acted: boolean; again: number | undefined } {
    let acted = this.#protect();
    const times: number[] = [];
    for (const pass of this.passes()) {
      const decision = pass.decide();
      if (decision === undefined) continue;
      if (decision.again !== undefined) times.push(decision.again);
      if (decision.actions.length === 0) continue;
      acted = true;
      if (!this.#runPass(decision.actions)) return { acted, again: undefined };
    }
    return { acted, again: times.length === 0 ? undefined : Math.min(...times) };
  }

  /** False: the process died. */
  #runPass(actions: readonly Action[]): boolean {
    const pass = { actions: [...actions] };
    while (pass.actions.length > 0) if (!this.#advance(pass)) return false;
    return true;
  }

  passes(): Pass[] {
    const { server } = this;
    const volumes = server.list('PersistentVolume').map(readVolume);
    const names = new Set([...volumes.map(({ name }) => name), ...server.list('VolumeIntent').map(({ metadata }) => metadata.name ?? '')]);
    const claims = new Set([
      ...server.list('PersistentVolumeClaim').map((claim) => readClaim(claim).key),
      ...server.list('VolumeIntent').flatMap((intent) => (isFor(intent, 'Create') ? `${intent.spec.claimRef.namespace}/${intent.spec.claimRef.name}` : [])),
    ]);
    return [
      ...[...names].map((name) => ({ name: `binder pv/${name}`, decide: () => this.#bindVolume(name) })),
      ...[...claims].map((key) => ({ name: `binder pvc/${key}`, decide: () => this.#bindClaim(key) })),
      ...[...claims].map((key) => ({ name: `provisioner ${key}`, decide: () => this.#provision(key) })),
      ...[...names].map((name) => ({ name: `reclaimer ${name}`, decide: () => this.#reclaim(name) })),
    ];
  }

  #snapshot() {
    const index = new VolumeIndex();
    for (const volume of this.server.list('PersistentVolume')) index.set(readVolume(volume));
    const pods = this.server.list('Pod');
    const owners = new Map(
      this.server
        .list('PersistentVolumeClaim')
        .map(readClaim)
        .filter(({ everBound }) => everBound)
        .map((claim) => [claim.volumeName, claim]),
    );
    const using = (key: string) => pods.filter((pod) => !hasEnded(pod) && claimsOf(pod).includes(key));
    return {
      mode: this.mode,
      maxRecycles: 3,
      lastEvent: (key: string) => this.#lastEvents.get(key),
      volume: (name: string) => index.get(name),
      claim: (key: string) => this.#claim(key),
      class: (name: string) => this.server.get('StorageClass', name),
      defaultClass: () => defaultClassOf(this.server.list('StorageClass')),
      ownerOf: (name: string) => owners.get(name),
      bestFit: (claim: Claim, options: { readonly reservedOnly: boolean }) => index.bestFit(claim, { ...options, isTaken: (name) => owners.has(name) }),
      offeredTo: (name: string) => this.#offeredTo(index.get(name)),
      podsToSchedule: (key: string) => using(key).flatMap((pod) => (pod.spec.nodeName === undefined ? [binder.podToSchedule(pod)] : [])),
      podsUsing: (key: string) =>
        using(key)
          .map((pod) => `${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`)
          .sort(),
      hasNode: (name: string) => this.nodes.includes(name),
      driver: (name: string) => this.backend.driver(name),
      intent: (name: string) => this.server.get('VolumeIntent', name),
      attachedTo: () => [],
      recyclerPod: (name: string) => this.server.get('Pod', recyclerPodName(name), 'default'),
      hasNodes: () => this.nodes.length > 0,
      recyclerPodEvents: (name: string) => this.server.list('Event').filter((event) => event.involvedObject.name === recyclerPodName(name)),
    };
  }

  #offeredTo(volume: Volume | undefined): Claim | undefined {
    if (volume === undefined || waitsForConsumer(this.server.get('StorageClass', volume.className))) return undefined;
    const waiting = new WaitingClaims();
    for (const claim of this.server.list('PersistentVolumeClaim').map(readClaim)) if (takesAnyVolume(claim)) waiting.set(claim);
    return waiting.candidatesFor(volume).next().value ?? undefined;
  }

  #claim(key: string) {
    const [namespace = '', name = ''] = key.split('/');
    const claim = this.server.get('PersistentVolumeClaim', name, namespace);
    return claim === undefined ? undefined : readClaim(claim);
  }

  #bindVolume(name: string) {
    const volume = this.server.get('PersistentVolume', name);
    return volume === undefined ? undefined : binder.decide({ type: 'volume', volume: readVolume(volume), snapshot: this.#snapshot() }, this.server.now);
  }

  #bindClaim(key: string) {
    const claim = this.#claim(key);
    return claim === undefined ? undefined : binder.decide({ type: 'claim', claim, snapshot: this.#snapshot() }, this.server.now);
  }

  #provision(key: string) {
    const isHere = (intent: CreateIntent) => `${intent.spec.claimRef.namespace}/${intent.spec.claimRef.name}` === key;
    const intents = this.server.list('VolumeIntent').flatMap((intent) => (isFor(intent, 'Create') && isHere(intent) ? [intent] : []));
    return provisioner.decide({ claim: this.#claim(key), intents, snapshot: this.#snapshot() }, this.server.now);
  }

  #reclaim(name: string) {
    const volume = this.server.get('PersistentVolume', name);
    return reclaimer.decide({ name, volume: volume === undefined ? undefined : readVolume(volume), snapshot: this.#snapshot() }, this.server.now);
  }

  /** Something outside this process is about to change. */
  #effect<T>(change: () => T): T {
    if (this.crashBefore.has(++this.effects)) throw new Crash();
    const result = change();
    this.invariant();
    return result;
  }

  #perform(action: Action): WriteResult {
    switch (action.do) {
      case 'create':
        return this.#create(action.object);
      case 'update':
        return this.#update(action.object, 'spec', action.from);
      case 'updateStatus':
        return this.#update(action.object, 'status', action.from);
      case 'delete':
        return this.#delete(action.object);
      case 'bind':
        return this.#bind(action.volume, action.claim);
      case 'confirmClaimGone':
        return this.#claim(action.claim.key)?.uid === action.claim.uid ? 'conflict' : 'done';
      case 'recordEvent':
        return this.#recordEvent(action);
      case 'createAsset':
        return this.#createAsset(action.intent);
      case 'publishVolume': {
        const result = this.#create(action.volume);
        return result === 'exists' ? 'done' : result;
      }
      case 'startRecyclerPod':
        return this.#startRecyclerPod(action);
      case 'confirmScrubbed':
        return this.#confirmScrubbed(action);
      case 'deleteAsset':
        return 'asset' in action ? this.#takeBack(action.intent, action.asset.handle) : this.#deleteAsset(action.intent);
    }
  }

  #create(object: KubeObject): WriteResult {
    return this.#effect(() => this.server.create(object));
  }

  #update(object: KubeObject, part: 'spec' | 'status', from: KubeObject): WriteResult {
    const result = this.#effect(() => this.server.update(object, this.#written.get(from) ?? from.metadata.resourceVersion, part));
    if (result === 'done') this.#written.set(object, this.server.revisionOf(object) ?? '');
    return result;
  }

  #delete({ kind, metadata }: KubeObject): WriteResult {
    const result = this.#effect(() => this.server.delete(kind, metadata.name ?? '', metadata.namespace));
    return result === 'absent' ? 'done' : result;
  }

  #bind(volume: KubeObject, claim: KubeObject): WriteResult {
    for (const object of [volume, claim]) if (this.server.revisionOf(object) !== object.metadata.resourceVersion) return 'conflict';
    return this.#effect(() => {
      for (const object of [volume, claim]) {
        this.server.update(object, undefined, 'spec');
        this.server.update(object, undefined, 'status');
      }
      return 'done';
    });
  }

  #recordEvent({ event, rememberAs }: Extract<Action, { do: 'recordEvent' }>): WriteResult {
    this.#effect(() => undefined);
    const about = 'metadata' in event.about ? event.about.metadata.name : event.about.name;
    this.events.add(`${shortKind(event.about)}/${about ?? ''} ${event.type} ${event.reason}: ${event.message}`);
    if (rememberAs !== undefined) this.#lastEvents.set(rememberAs, { reason: event.reason, message: event.message, at: this.server.now });
    return 'done';
  }

  #createAsset(intent: CreateIntent): WriteResult {
    const outcome = this.#effect(() => this.backend.create(intent));
    if (outcome.type === 'created') return this.#update(afterCreated(intent, outcome.asset), 'spec', intent);
    const { claimRef, driver, request } = intent.spec;
    const about = this.server.get('PersistentVolumeClaim', claimRef.name, claimRef.namespace);
    const result = this.#update(afterFailure(intent, outcome, this.server.now), 'spec', intent);
    const message = messages.failed(driver, request.storageClassName, outcome.message);
    if (about !== undefined) this.#recordEvent({ do: 'recordEvent', event: { about, type: 'Warning', reason: 'ProvisioningFailed', message } });
    return result;
  }

  #takeBack(intent: CreateIntent, handle: string): WriteResult {
    const outcome = this.#effect(() => this.backend.delete(handle));
    const { now } = this.server;
    return this.#update(outcome.type === 'deleted' ? afterTakenBack(intent, now) : afterCleanupFailed(intent, outcome, now), 'spec', intent);
  }

  #deleteAsset(intent: Extract<ReclaimerAction, { do: 'deleteAsset' }>['intent']): WriteResult {
    const outcome = this.#effect(() => this.backend.delete(this.backend.handleOf(intent.spec.source)));
    return this.#update(outcome.type === 'deleted' ? afterDeleted(intent) : afterFailure(intent, outcome, this.server.now), 'spec', intent);
  }

  #startRecyclerPod({ intent, pod }: StartRecyclerPod): WriteResult {
    const result = this.#create(pod);
    const created = this.server.get('Pod', pod.metadata.name ?? '', pod.metadata.namespace);
    return result === 'done' && created !== undefined ? this.#update(afterStarted(intent, created), 'spec', intent) : result;
  }

  /** Reads only: a crash before it is one before the next effect. */
  #confirmScrubbed({ intent, pod, directory = '' }: ConfirmScrubbed): WriteResult {
    if (this.server.revisionOf(pod) !== pod.metadata.resourceVersion) return 'conflict';
    if (!this.dirty.has(directory)) return 'done';
    this.#update(afterRecycleFailed(intent, `Recycle failed: failed to recycle volume: ${directory} is not empty`, this.server.now), 'spec', intent);
    return 'conflict';
  }

  /** What the protection controllers do, as far as volumes and claims without pods are concerned. */
  #protect(): boolean {
    let acted = false;
    const free = (object: KubeObject, finalizer: string) => {
      const { finalizers = [], deletionTimestamp } = object.metadata;
      if (deletionTimestamp === undefined || !finalizers.includes(finalizer)) return;
      acted = true;
      this.server.update({ ...object, metadata: { ...object.metadata, finalizers: finalizers.filter((name) => name !== finalizer) } }, undefined, 'spec');
    };
    for (const claim of this.server.list('PersistentVolumeClaim')) free(claim, 'kubernetes.io/pvc-protection');
    for (const volume of this.server.list('PersistentVolume')) if (volume.status.phase !== 'Bound') free(volume, 'kubernetes.io/pv-protection');
    return acted;
  }
}

const shortKind = ({ kind = '' }: { readonly kind?: string }): string =>
  kind === 'PersistentVolume' ? 'pv' : kind === 'PersistentVolumeClaim' ? 'pvc' : kind.toLowerCase();
const hasEnded = (pod: Pod): boolean => pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
const claimsOf = (pod: Pod): string[] =>
  (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : `${pod.metadata.namespace ?? ''}/${persistentVolumeClaim.claimName}`,
  );
