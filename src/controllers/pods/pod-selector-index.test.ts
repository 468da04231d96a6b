import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { Cache } from '../../client/informers/cache.ts';
import { simulate } from '../../sim/world/world.ts';
import { PodSelectorIndex } from './pod-selector-index.ts';

let revision = 0;
const pod = (namespace: string, name: string, app: string): Stored<Pod> =>
  ({ metadata: { namespace, name, uid: `${namespace}/${name}`, resourceVersion: String(++revision), labels: { app } } }) as unknown as Stored<Pod>;
const selecting = (app: string) => (labels: Readonly<Record<string, string>> | undefined) => labels?.['app'] === app;

test('for any changes of selectors and pods, each selector has its pods, and a change returns the selectors that it concerns', () =>
  simulate(1, async (world) => {
    const name = fc.constantFrom('a', 'b', 'c');
    const namespace = fc.constantFrom('x', 'y');
    const app = fc.constantFrom('web', 'db');
    const step = fc.oneof(
      fc.record({ do: fc.constant('pod' as const), namespace, name, app: fc.option(app, { nil: undefined }) }),
      fc.record({ do: fc.constant('selector' as const), namespace, name, app: fc.option(app, { nil: undefined }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const pods = new Cache<Pod>({ log: world.log });
        const selections = new PodSelectorIndex(pods);
        let concerned: readonly string[] = [];
        pods.subscribe((change) => {
          concerned = selections.change(change);
        });
        const selectors = new Map<string, string>();
        for (const each of steps) {
          const key = `${each.namespace}/${each.name}`;
          if (each.do === 'selector') {
            selections.select(key, each.app === undefined ? undefined : selecting(each.app));
            if (each.app === undefined) selectors.delete(key);
            else selectors.set(key, each.app);
          } else {
            const before = pods.getKey(key)?.metadata.labels?.['app'];
            concerned = [];
            if (each.app !== undefined) pods.observe(pod(each.namespace, each.name, each.app));
            else if (before !== undefined) pods.observeDeleted(pod(each.namespace, each.name, before));
            const expected = [...selectors].filter(([owner, wanted]) => owner.startsWith(`${each.namespace}/`) && (wanted === before || wanted === each.app));
            if (each.app !== undefined || before !== undefined) expect([...concerned].sort()).toEqual(expected.map(([owner]) => owner).sort());
          }
          for (const [owner, wanted] of selectors) {
            const members = selections.members(owner).map(({ metadata }) => metadata.uid);
            const right = [...pods.list()].filter(({ metadata }) => owner.startsWith(`${metadata.namespace ?? ''}/`) && metadata.labels?.['app'] === wanted);
            expect(members.sort()).toEqual(right.map(({ metadata }) => metadata.uid).sort());
          }
        }
      }),
    );
  }));
