import type { Prng } from '../../world/prng.ts';
import { actionsEndMs } from './draw-actions.ts';
import type { NamespaceAction } from './namespace-actions.ts';
import type { TimedAction } from './user-actions.ts';

const namespaces = ['team-a', 'team-b'];

/**
 * In a third of the worlds: namespaces with quotas, in which several users create objects at once, and which are deleted meanwhile. From a generator of
 * its own.
 */
export function drawNamespaces(random: Prng): readonly TimedAction[] {
  if (random.chance(0.66)) return [];
  const names = (what: string, most: number): readonly string[] => Array.from({ length: 1 + random.below(most) }, () => `${what}-${random.below(6)}`);
  const at = () => random.below(actionsEndMs - 10_000);
  const actions: TimedAction[] = [];
  // Three people, so that their requests race.
  const add = (who: TimedAction['who'], time: number, action: NamespaceAction) => void actions.push({ at: time, who, action });
  for (const namespace of random.chance(0.5) ? namespaces : namespaces.slice(0, 1)) {
    const born = random.below(10_000);
    add('admin', born, { do: 'create-namespace', namespace });
    if (random.chance(0.8))
      add('admin', born + random.below(5_000), {
        do: 'create-quota',
        namespace,
        claims: 1 + random.below(4),
        pods: 1 + random.below(3),
        storageGi: 2 + random.below(5),
      });
    if (random.chance(0.3)) add('admin', born + random.below(5_000), { do: 'create-limit-range', namespace, mostGi: 2 });
    for (let i = 3 + random.below(5); i > 0; i--) {
      const who = random.chance(0.5) ? 'user' : 'autoscaler';
      const [time, kind] = [at(), random.below(10)];
      if (kind < 4)
        add(who, time, {
          do: 'create-claims',
          namespace,
          names: names('claim', 4),
          sizeGi: 1 + random.below(3),
          ...(random.chance(0.5) ? { storageClass: random.chance(0.5) ? 'fast' : 'late' } : {}),
        });
      else if (kind < 7) add(who, time, { do: 'create-pods', namespace, names: names('pod', 4) });
      else if (kind < 9) add(who, time, { do: 'delete-claims', namespace, names: names('claim', 3) });
      else add(who, time, { do: 'delete-service-account', namespace });
    }
    if (random.chance(0.5)) {
      const gone = 20_000 + random.below(50_000);
      add('admin', gone, { do: 'delete-namespace', namespace });
      add('user', gone + random.below(300), { do: 'create-claims', namespace, names: names('late', 4), sizeGi: 1, storageClass: 'fast' });
      add('autoscaler', gone + random.below(300), { do: 'create-pods', namespace, names: names('late', 4) });
      if (random.chance(0.5)) add('admin', gone + 10_000 + random.below(10_000), { do: 'create-namespace', namespace });
    }
  }
  for (let i = random.below(3); i > 0; i--)
    add('admin', at(), { do: 'set-default-class', name: random.chance(0.5) ? 'fast' : 'late', isDefault: random.chance(0.7) });
  return actions;
}
