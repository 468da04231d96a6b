/**
 * The decisions against outcomes recorded on a running Kubernetes, if the recordings are here. (What they say about the API,
 * nodes and scheduling is not ours to compare.) The same rules are written out in scenarios.test.ts, which needs no recordings.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ObjectMeta, Pod } from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { BindMode } from '../../src/storage/binder/actions.ts';
import { FakeCluster } from './fake-cluster.ts';

const folder = path.resolve(import.meta.dirname, '../../../shared/conformance/scenarios');
const files = existsSync(folder) ? ['binding', 'provisioning', 'recycle'] : [];

interface Step {
  readonly do: string;
  readonly objects?: readonly KubeObject[];
  readonly ref?: string;
  readonly refs?: readonly string[];
  readonly body?: object;
  readonly phase?: string;
  readonly rejected?: boolean;
  readonly quiet?: boolean;
}
interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly optionalEvents?: readonly string[];
}
interface Outcome {
  readonly state?: { readonly objects: Readonly<Record<string, object>>; readonly events: readonly string[] };
}

const goldens = (files.length === 0 ? {} : JSON.parse(readFileSync(path.join(folder, 'golden.json'), 'utf8'))) as Record<string, readonly Outcome[]>;
const kindOf: Readonly<Record<string, string>> = { pv: 'PersistentVolume', pvc: 'PersistentVolumeClaim', pod: 'Pod', sc: 'StorageClass' };
const left = ['resourceVersion', 'creationTimestamp', 'generation', 'lastPhaseTransitionTime'];

/** Plays one scenario on a small world. */
class Player {
  readonly world: FakeCluster;
  readonly #uids = new Map<string, string>();

  constructor(mode: BindMode) {
    this.world = new FakeCluster({ mode });
  }

  play(step: Step): void {
    if (step.rejected === true) return;
    for (const object of step.objects ?? []) if (!['Node', 'VolumeAttributesClass'].includes(object.kind)) this.#create(this.#expand(object));
    for (const ref of step.refs ?? (step.ref === undefined ? [] : [step.ref])) this.#change(step, ref);
    // Without a scheduler the test records its events about a recycler pod.
    this.#complain(this.world.settle());
    this.world.settle();
  }

  #create(object: KubeObject): void {
    if (object.kind === 'PersistentVolumeClaim' || object.kind === 'Pod') object.metadata.namespace = 's';
    expect(this.world.server.create(object)).toBe('done');
    this.#learn();
    // As the recorder did: each kind had time to be seen before the next.
    this.world.settle();
  }

  #change(step: Step, ref: string): void {
    const [, short = '', name = '', namespace = 's'] = /^([a-z]+)\/([^@]+)(?:@(.+))?$/.exec(ref) ?? [];
    const kind = kindOf[short] as 'PersistentVolume' | 'PersistentVolumeClaim' | 'Pod';
    const plain = this.#expand(name);
    const object = this.world.server.get(kind, plain, namespace);
    if (object === undefined) throw new Error(`${ref} is not there`);
    if (step.do === 'delete') this.world.server.delete(kind, plain, namespace);
    else if (step.do === 'phase') this.world.server.update({ ...object, status: { ...object.status, phase: step.phase } } as Pod, undefined, 'status');
    else this.world.server.update(mergePatch(object, this.#expand(step.body ?? {})) as KubeObject, undefined, 'spec');
  }

  #complain(world: FakeCluster): void {
    for (const pod of world.server.list('Pod')) {
      const name = `${pod.metadata.name ?? ''}.${pod.metadata.uid ?? ''}`;
      const event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace: 'default' },
        involvedObject: { name: pod.metadata.name },
        type: 'Warning',
        message: 'no nodes available to schedule pods',
      };
      world.server.create(event);
    }
  }

  #expand<T>(value: T): T {
    const text = JSON.stringify(value).replace(/\$uid\(([^)]+)\)/g, (_, ref: string) => [...this.#uids].find(([, known]) => known === ref)?.[0] ?? 'unknown');
    return JSON.parse(text.replace(/\$\{?([a-z][a-z0-9.-]*)\}?/g, (_, name: string) => (name === 'ns' ? 's' : name))) as T;
  }

  #learn(): void {
    for (const { kind, metadata } of this.world.server.all()) {
      const short = Object.entries(kindOf).find(([, known]) => known === kind)?.[0];
      if (short !== undefined && !this.#uids.has(metadata.uid ?? '')) this.#uids.set(metadata.uid ?? '', `${short}/${this.#tidy(metadata.name ?? '')}`);
    }
  }

  observe(): { objects: Record<string, unknown>; events: string[] } {
    this.#learn();
    const objects: Record<string, unknown> = {};
    for (const object of this.world.server.all()) {
      const label = `${Object.entries(kindOf).find(([, kind]) => kind === object.kind)?.[0] ?? ''}/${this.#tidy(object.metadata.name ?? '')}`;
      if (object.kind === 'PersistentVolume' || object.kind === 'PersistentVolumeClaim') objects[label] = this.#project(object);
      else if (object.kind === 'Pod') objects[`${label}${object.metadata.namespace === 'default' ? '@default' : ''}`] = this.#projectPod(object as Pod);
    }
    return { objects, events: [...this.world.events].map((event) => this.#tidy(event)) };
  }

  #project(object: KubeObject): unknown {
    const rest = Object.entries(object).filter(([key]) => !['metadata', 'apiVersion', 'kind'].includes(key));
    return this.#tidyAll({ ...projectMeta(object.metadata), ...Object.fromEntries(rest) });
  }

  #projectPod({ metadata, spec, status }: Pod): unknown {
    return this.#tidyAll({ ...projectMeta(metadata), volumes: spec.volumes, phase: status.phase });
  }

  #tidyAll(value: unknown): unknown {
    if (typeof value === 'string') return this.#tidy(value);
    if (Array.isArray(value)) return value.map((item) => this.#tidyAll(item));
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] =>
      left.includes(key) || item === undefined ? [] : [[key, this.#tidyAll(item)]],
    );
    return Object.fromEntries(
      entries.filter(([, item]) => !(item !== null && typeof item === 'object' && !Array.isArray(item) && Object.keys(item).length === 0)),
    );
  }

  #tidy(text: string): string {
    let tidy = text;
    for (const [uid, ref] of this.#uids) tidy = tidy.replaceAll(uid, `uid(${ref})`);
    tidy = tidy.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID');
    return tidy === 's' ? '$ns' : tidy;
  }
}

const projectMeta = ({ labels, annotations, finalizers, deletionTimestamp }: ObjectMeta) => ({
  labels,
  annotations,
  finalizers: finalizers === undefined ? undefined : [...finalizers].sort(),
  deleting: deletionTimestamp === undefined ? undefined : true,
});

function mergePatch(target: unknown, change: unknown): unknown {
  if (change === null || typeof change !== 'object' || Array.isArray(change)) return change;
  const merged = new Map<string, unknown>(Object.entries(target ?? {}));
  for (const [key, value] of Object.entries(change)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** What is not decided here: pods' conditions, nodes, and the node that a scheduler chooses. */
function comparable(objects: Readonly<Record<string, object>>): Record<string, unknown> {
  const kept = Object.entries(objects).filter(([label]) => !label.startsWith('node/'));
  return Object.fromEntries(
    kept.map(([label, object]) => [label, Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'conditions' && key !== 'nominatedNodeName'))]),
  );
}

const needsScheduler = new Set(['WaitForFirstConsumer with a provisioner: nothing is made until a pod is scheduled']);

describe.each(files)('as recorded: %s', async (file) => {
  const { default: scenarios } = (await import(pathToFileURL(path.join(folder, `${file}.mjs`)).href)) as { default: readonly Scenario[] };
  const played = scenarios.filter(({ name }) => !needsScheduler.has(name));
  it.each(played.flatMap((scenario) => (['transaction', 'plain'] as const).map((mode) => [scenario.name, mode, scenario] as const)))(
    '%s (%s)',
    (name, mode, scenario) => {
      const player = new Player(mode);
      for (const [i, step] of scenario.steps.entries()) {
        player.play(step);
        const expected = goldens[`${file}: ${name}`]?.[i]?.state;
        if (expected === undefined) continue;
        const observed = player.observe();
        expect(observed.objects, `step ${i + 1}`).toEqual(comparable(expected.objects));
        const events = expected.events.filter((event) => !event.startsWith('pod/') && !(scenario.optionalEvents ?? []).some((text) => event.includes(text)));
        expect(observed.events, `step ${i + 1}`).toEqual(expect.arrayContaining(events));
      }
      expect(player.world.pending()).toEqual([]);
    },
  );
});

describe('recordings', () => {
  it('are compared where they are present', () => {
    expect(files.length === 0 || Object.keys(goldens).length > 0).toBe(true);
  });
});
