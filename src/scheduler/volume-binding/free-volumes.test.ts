import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { node, reachedFrom, within, zone } from '../../../test/scheduler/small-cluster.ts';
import { available, pv, pvc, reservedFor } from '../../../test/storage/objects.ts';
import type { PersistentVolume } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { type Claim, readClaim } from '../../storage/volumes/claim.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import { readVolume, type Volume } from '../../storage/volumes/volume.ts';
import { bySize } from '../../storage/volumes/volume-index.ts';
import type { ObjectChange } from '../framework.ts';
import { FreeVolumes } from './free-volumes.ts';
import { NodeLabelIndex } from './node-label-index.ts';
import { VolumeAssumeCache } from './assume-cache.ts';

const host = 'kubernetes.io/hostname';
const change = <T extends KubeObject>(before: T | undefined, after: T | undefined) => ({ before, after }) as ObjectChange<Stored<T>>;
const terms = fc.oneof(
  fc.constant(undefined),
  fc.subarray(['n0', 'n1', 'n2'], { minLength: 1 }).map((names) => reachedFrom([within(host, ...names)])),
  fc.constantFrom('a', 'b').map((value) => reachedFrom([within(zone, value)])),
  fc.constant(reachedFrom([within(zone, 'a'), within('rack', '1')])),
  fc.constant(reachedFrom([within(zone, 'a')], [within(host, 'n2')])),
  fc.constant(reachedFrom([{ key: zone, operator: 'NotIn', values: ['a'] }])),
  fc.constant(reachedFrom([{ key: 'rack', operator: 'Exists' }, within(zone, 'a', 'b')])),
  fc.constant(reachedFrom([])),
);

const volume = fc.record({
  name: fc.constantFrom('v0', 'v1', 'v2', 'v3', 'v4', 'v5'),
  size: fc.constantFrom('1Gi', '2Gi', '3Gi'),
  modes: fc.subarray(['ReadWriteOnce', 'ReadOnlyMany'], { minLength: 1 }),
  labels: fc.record({ tier: fc.constantFrom('fast', 'slow') }, { requiredKeys: [] }),
  terms,
  taken: fc.constantFrom(false, false, false, true),
  phase: fc.constantFrom('Available', 'Available', 'Available', 'Released'),
  block: fc.constantFrom(false, false, false, true),
  restricted: fc.constantFrom(false, false, false, true),
});

const labels = fc.record({ [zone]: fc.constantFrom('a', 'b'), rack: fc.constantFrom('1', '2') }, { requiredKeys: [] });

const step = fc.oneof(
  { weight: 4, arbitrary: volume.map((draft) => ({ do: 'volume' as const, draft })) },
  { weight: 1, arbitrary: fc.constantFrom('v0', 'v1', 'v2', 'v3').map((name) => ({ do: 'delete' as const, name })) },
  { weight: 1, arbitrary: fc.constantFrom('v0', 'v1', 'v2', 'v3').map((name) => ({ do: 'assume' as const, name })) },
  { weight: 1, arbitrary: fc.constantFrom('v0', 'v1', 'v2', 'v3').map((name) => ({ do: 'restore' as const, name })) },
  { weight: 2, arbitrary: fc.record({ name: fc.constantFrom('n0', 'n1', 'n2'), labels }).map((draft) => ({ do: 'node' as const, ...draft })) },
  { weight: 1, arbitrary: fc.constantFrom('n0', 'n1').map((name) => ({ do: 'nodeGone' as const, name })) },
);

const claim = fc.record({
  size: fc.constantFrom('1Gi', '2Gi'),
  modes: fc.subarray(['ReadWriteOnce', 'ReadOnlyMany'], { minLength: 1 }),
  selector: fc.option(fc.constant({ matchLabels: { tier: 'fast' } }), { nil: undefined }),
  team: fc.constantFrom('storage', 'other'),
});

const objectOf = (draft: typeof volume extends fc.Arbitrary<infer D> ? D : never, revision: number): PersistentVolume =>
  pv(draft.name, draft.size, {
    metadata: {
      name: draft.name,
      labels: draft.labels,
      resourceVersion: String(revision),
      ...(draft.restricted ? { annotations: { 'mooring.dev/claim-selector': 'team=storage' } } : {}),
    },
    spec: {
      accessModes: draft.modes,
      ...draft.terms,
      ...(draft.taken ? { claimRef: reservedFor('other') } : {}),
      ...(draft.block ? { volumeMode: 'Block' } : {}),
    },
    status: { phase: draft.phase },
  });

/** A model of the assume cache, without an index. */
class Model {
  readonly nodes = new NodeLabelIndex();
  readonly cache = new VolumeAssumeCache(this.nodes);
  readonly known = new Map<string, Volume>();
  readonly assumed = new Map<string, PersistentVolume>();
  readonly present = new Map<string, Readonly<Record<string, string>>>();
  readonly #objects = new Map<string, PersistentVolume>();
  readonly #nodes = new Map<string, ReturnType<typeof node>>();

  take(action: typeof step extends fc.Arbitrary<infer A> ? A : never, revision: number): void {
    switch (action.do) {
      case 'volume':
        return this.#volume(action.draft.name, objectOf(action.draft, revision));
      case 'delete':
        return this.#volume(action.name, undefined);
      case 'assume':
        return this.#assume(action.name);
      case 'restore':
        return this.#restore(action.name);
      case 'node':
        return this.#node(action.name, node(action.name, action.labels));
      case 'nodeGone':
        return this.#node(action.name, undefined);
    }
  }

  check(claim: Claim, taken: ReadonlySet<string>): void {
    const candidates = this.cache.candidatesFor(claim);
    for (const [name, nodeLabels] of this.present) {
      const fitting = [...this.known.values()].filter((each) => !taken.has(each.name) && matchVolume(claim, each, { node: { labels: nodeLabels } }) === 'fits');
      const expected = fitting.sort(bySize)[0]?.name;
      expect(candidates.smallest(nodeLabels, taken)?.name).toBe(expected);
      // The short cut must not exclude a node with a match.
      if (expected !== undefined) expect(candidates.nodes?.has(name) ?? true).toBe(true);
    }
  }

  #volume(name: string, after: PersistentVolume | undefined): void {
    const before = this.#objects.get(name);
    if (before === undefined && after === undefined) return;
    this.cache.observeVolume(change(before, after));
    this.assumed.delete(name);
    if (after === undefined) {
      this.#objects.delete(name);
      this.known.delete(name);
    } else {
      this.#objects.set(name, after);
      this.known.set(name, readVolume(after));
    }
  }

  #assume(name: string): void {
    const object = this.#objects.get(name);
    if (object === undefined) return;
    const after = { ...object, spec: { ...object.spec, claimRef: reservedFor('another') } };
    expect(this.cache.assumeVolume(after)).toBe('assumed');
    this.assumed.set(name, after);
    this.known.set(name, readVolume(after));
  }

  #restore(name: string): void {
    const assumed = this.assumed.get(name);
    const object = this.#objects.get(name);
    if (assumed === undefined || object === undefined) return;
    expect(this.cache.restoreVolume(assumed)).toBe(true);
    this.assumed.delete(name);
    this.known.set(name, readVolume(object));
  }

  #node(name: string, after: ReturnType<typeof node> | undefined): void {
    const before = this.#nodes.get(name);
    if (before === undefined && after === undefined) return;
    this.nodes.observe(change(before, after));
    if (after === undefined) {
      this.#nodes.delete(name);
      this.present.delete(name);
    } else {
      this.#nodes.set(name, after);
      this.present.set(name, after.metadata.labels ?? {});
    }
  }
}

describe('the free PVs of a class', () => {
  it('are found for every node as by a full scan, after any sequence of events', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.array(claim, { minLength: 1, maxLength: 3 }),
        fc.subarray(['v0', 'v1']),
        (steps, drafts, takenNames) => {
          const model = new Model();
          const claims = drafts.map(({ size, modes, selector, team }) =>
            readClaim(
              pvc('data', size, {
                metadata: { namespace: 'default', name: 'data', labels: { team } },
                spec: { accessModes: modes, ...(selector === undefined ? {} : { selector }) },
              }),
            ),
          );
          for (const [i, each] of steps.entries()) {
            model.take(each, i + 1);
            // A cached match must not outlive a change.
            for (const claim of claims) model.check(claim, new Set(takenNames));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('do not include PVs of bound claims, even without a claimRef', () => {
    const nodes = new NodeLabelIndex();
    const cache = new VolumeAssumeCache(nodes);
    cache.observeVolume(change(undefined, pv('vol', '1Gi', { status: available })));
    const owner = pvc('owner', '1Gi', {
      metadata: { name: 'owner', namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { volumeName: 'vol' },
    });
    cache.observeClaim(change(undefined, owner));
    const claim = readClaim(pvc('data', '1Gi'));
    expect(cache.candidatesFor(claim).smallest({}, new Set())).toBeUndefined();
    cache.observeClaim(change(owner, undefined));
    expect(cache.candidatesFor(claim).smallest({}, new Set())?.name).toBe('vol');
  });

  it('are examined only for their topology, and once for all nodes of a zone', () => {
    const free = new FreeVolumes(new NodeLabelIndex());
    const examined: string[] = [];
    for (let i = 0; i < 2000; i++) {
      const term = i < 1000 ? within(host, `n${i}`) : within(zone, `z${i % 2}`);
      const { accessModes, ...rest } = readVolume(pv(`v${i}`, '1Gi', { status: available, spec: reachedFrom([term]) }));
      // Reading the access modes counts as examining the PV.
      const watched = Object.defineProperty(rest, 'accessModes', { get: () => (examined.push(rest.name), accessModes) });
      free.change(undefined, watched as Volume);
    }
    const candidates = free.candidatesFor(readClaim(pvc('data', '1Gi')));
    expect(candidates.smallest({ [host]: 'n7' }, new Set())?.name).toBe('v7');
    expect(candidates.smallest({ [host]: 'elsewhere' }, new Set())).toBeUndefined();
    for (let i = 0; i < 500; i++) candidates.smallest({ [host]: `m${i}`, [zone]: 'z0' }, new Set());
    const another = free.candidatesFor(readClaim(pvc('same', '1Gi')));
    expect(another.smallest({ [zone]: 'z0' }, new Set())?.name).toBe('v1000');
    // Each is examined twice: by the fast check, and by matchVolume.
    expect(examined).toEqual(['v7', 'v7', 'v1000', 'v1000']);
  });
});
