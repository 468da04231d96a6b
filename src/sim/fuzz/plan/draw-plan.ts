import type { Fault } from './faults.ts';
import { drawFaults, drawGlobalFaults } from './draw-faults.ts';
import { Prng } from '../../world/prng.ts';
import { drawActions, actionsEndMs } from './draw-actions.ts';
import { drawEpisodes, drawLaterEpisode } from './episodes.ts';
import { drawHostileEpisode } from './hostile-episodes.ts';
import { nodeName, type FuzzPlan, type FuzzSettings } from './plan.ts';

/** The world of a seed. */
export function drawPlan(seed: number): FuzzPlan {
  const random = new Prng(seed);
  // Each has its own generator, so that a change to one leaves the draws of the others as they were.
  const [forSettings, forActions, forFaults, forGlobalFaults, forEpisodes] = [random.fork(), random.fork(), random.fork(), random.fork(), random.fork()];
  const forLaterEpisode = random.fork();
  const forHostileEpisode = random.fork();
  const settings = drawSettings(forSettings);
  const nodeNames = Array.from({ length: settings.nodes }, (_, i) => nodeName(i + 1));
  const options = { nodeNames, endMs: actionsEndMs };
  const episodes = settings.confluent ? [] : [...drawEpisodes(forEpisodes, options), ...drawLaterEpisode(forLaterEpisode, options)];
  const hostile = settings.confluent ? { actions: [], faults: [] } : drawHostileEpisode(forHostileEpisode, options);
  const actions = [...drawActions(forActions, settings), ...episodes, ...hostile.actions].sort((a, b) => a.at - b.at);
  const faults: readonly Fault[] = [...drawFaults(forFaults, settings), ...drawGlobalFaults(forGlobalFaults, settings), ...hostile.faults].sort(
    (a, b) => a.at - b.at,
  );
  return { seed, settings, actions, faults };
}

function drawSettings(random: Prng): FuzzSettings {
  const confluent = random.chance(0.4);
  return {
    nodes: 2 + random.below(2),
    volumeLimit: !confluent && random.chance(0.5) ? 2 : undefined,
    store: random.chance(0.5) ? 'embedded' : 'memory',
    bindsTogether: random.chance(0.5),
    leaders: 1 + random.below(2),
    confluent,
  };
}
