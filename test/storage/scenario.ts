/**
 * A scenario: what is there, what happens, what it looks like once everything is quiet. Each runs in both ways of binding,
 * and then again and again with a crash before each single effect: the end must always be the same.
 */
import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { readClaim } from '../../src/storage/volumes/claim.ts';
import { isFor } from '../../src/api/volumes/intent.ts';
import { readVolume } from '../../src/storage/volumes/volume.ts';
import { FakeCluster } from './fake-cluster.ts';

export interface StorageScenario {
  readonly nodes?: readonly string[];
  /** Created one after the other; between them everything settles. */
  readonly given: readonly KubeObject[];
  readonly when?: readonly ((world: FakeCluster) => void)[];
  /** The end, as `show` shows it. */
  readonly shows: string;
  /** Events that must have been recorded; '!' in front: must not. Only the beginning and the words count that are given. */
  readonly events?: readonly string[];
}

export function scenario(title: string, given: StorageScenario): void {
  describe.each(['transaction', 'plain'] as const)(`${title} (%s)`, (mode) => {
    const run = (...crashBefore: readonly number[]): FakeCluster => {
      const world = new FakeCluster({ mode, nodes: given.nodes ?? [] });
      world.crashBefore = new Set(crashBefore);
      world.invariant = () => checkInvariants(world);
      for (const object of given.given) {
        expect(world.server.create(object)).toBe('done');
        world.settle();
      }
      for (const step of given.when ?? []) {
        step(world);
        world.settle();
      }
      return world;
    };

    it('ends as it should, and is quiet then', () => {
      const world = run();
      expect(show(world)).toEqual(lines(given.shows));
      for (const text of given.events ?? []) {
        const recorded = [...world.events].some((event) => event.startsWith(text.replace('!', '')));
        expect(recorded, `${text}\n${[...world.events].join('\n')}`).toBe(!text.startsWith('!'));
      }
      expect(world.pending()).toEqual([]);
    });

    it('ends the same after a crash before any of its effects', () => {
      const calm = run();
      for (let crashAt = 1; crashAt <= calm.effects; crashAt++) {
        const world = run(crashAt);
        expect(stateOf(world), `crash before effect ${crashAt} of ${calm.effects}`).toEqual(stateOf(calm));
        expect(world.pending()).toEqual([]);
      }
    });
  });
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '')
    .sort();

/**
 *     pv/vol 1Gi Bound default/data marked      marked: by the controller; reserved: by name only; held: by the finalizer
 *     pvc/data Bound vol 1Gi marked done        done: it was bound once
 */
export function show(world: FakeCluster): string[] {
  return [
    ...world.server.list('PersistentVolume').map(showVolume),
    ...world.server.list('PersistentVolumeClaim').map(showClaim),
    ...world.server.list('Pod').map((pod) => `pod/${pod.metadata.name ?? ''} ${pod.status.phase ?? ''}`),
    ...world.server.list('VolumeIntent').map((intent) => `intent/${intent.metadata.name ?? ''} ${intent.spec.operation} ${intent.status.phase}`),
    ...(world.backend.assets.size === 0 ? [] : [`assets ${world.backend.assets.size}`]),
  ].sort();
}

function showVolume(object: PersistentVolume): string {
  const { name, phase, claim, boundByController, deleting } = readVolume(object);
  const held = object.metadata.finalizers?.includes('kubernetes.io/pv-controller') ?? false;
  const flags = [boundByController ? 'marked' : '', claim?.uid === '' ? 'reserved' : '', held ? 'held' : '', deleting ? 'deleting' : ''];
  return words([
    `pv/${name}`,
    object.spec.capacity?.['storage'],
    phase,
    claim?.key,
    ...flags,
    object.status.message === undefined ? '' : `(${object.status.message})`,
  ]);
}

function showClaim(object: PersistentVolumeClaim): string {
  const { name, phase, volumeName, boundByController, everBound, className, selectedNode } = readClaim(object);
  const flags = [
    boundByController ? 'marked' : '',
    everBound ? 'done' : '',
    className === 'class' ? '' : `class=${className}`,
    selectedNode === undefined ? '' : `node=${selectedNode}`,
  ];
  return words([`pvc/${name}`, phase, volumeName, object.status.capacity?.['storage'], ...flags]);
}

const words = (parts: readonly (string | undefined)[]): string => parts.filter((part) => part !== undefined && part !== '').join(' ');

/** Everything that two runs must agree on: all but the numbers that count writes, and times. */
export function stateOf(world: FakeCluster): unknown {
  const transient = new Set(['resourceVersion', 'uid', 'creationTimestamp', 'deletionTimestamp']);
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !transient.has(key))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => [key, strip(item)]),
    );
  };
  const seen = world.server.all().filter(({ kind }) => kind === 'PersistentVolume' || kind === 'PersistentVolumeClaim' || kind === 'Pod');
  const byName = [...seen].sort((a, b) => (`${a.kind}/${a.metadata.name ?? ''}` < `${b.kind}/${b.metadata.name ?? ''}` ? -1 : 1));
  return {
    objects: byName.map(strip),
    intents: world.server.list('VolumeIntent').map(({ metadata }) => metadata.name),
    assets: [...world.backend.assets].sort(),
  };
}

/** What must hold at every moment, crash or no crash. */
export function checkInvariants(world: FakeCluster): void {
  const bound = world.server.list('PersistentVolumeClaim').filter(({ status }) => status.phase === 'Bound');
  const names = bound.map(({ spec }) => spec.volumeName);
  expect(new Set(names).size, 'two claims have the same volume').toBe(names.length);
  const reachable = new Set([
    ...world.server.list('PersistentVolume').flatMap(({ spec }) => spec.hostPath?.path ?? []),
    ...world.server.list('VolumeIntent').flatMap((intent) => (isFor(intent, 'Create') ? world.backend.handleFor(intent.metadata.name ?? '') : [])),
    ...world.server.list('VolumeIntent').flatMap((intent) => (isFor(intent, 'Delete') ? world.backend.handleOf(intent.spec.source) : [])),
  ]);
  for (const asset of world.backend.assets) expect(reachable.has(asset), `asset ${asset} has leaked`).toBe(true);
}
