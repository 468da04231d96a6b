import type { Prng } from '../../world/prng.ts';
import { actionsEndMs } from './draw-actions.ts';
import type { Fault } from './faults.ts';
import { type FuzzSettings, nodeName } from './plan.ts';

/** In half of the worlds, some nodes have the real agent, which is killed between any two steps. From a generator of its own. */
export function drawAgents(random: Prng, { nodes }: FuzzSettings): { readonly agents: readonly string[]; readonly faults: readonly Fault[] } {
  if (random.chance(0.5)) return { agents: [], faults: [] };
  const first = random.below(nodes);
  const agents = Array.from({ length: nodes }, (_, i) => nodeName(i + 1)).filter((_, i) => i === first || random.chance(0.5));
  const faults = Array.from({ length: random.below(5) }, (): Fault => {
    const component = agents[random.below(agents.length)] ?? '';
    const [at, backMs] = [random.below(actionsEndMs), random.below(15_000)];
    if (random.chance(0.3)) return { kind: 'lost-mount', at, component, number: random.below(8), backMs };
    return { kind: 'crash-on-host', at, component, calls: random.below(60), moment: random.chance(0.5) ? 'before' : 'after', backMs };
  });
  return { agents, faults };
}
