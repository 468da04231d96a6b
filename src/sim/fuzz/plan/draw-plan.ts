import type { Fault } from './faults.ts';
import { drawDamage, drawFaults, drawGlobalFaults } from './draw-faults.ts';
import { drawAgents } from './draw-agents.ts';
import { withCsi } from './draw-csi.ts';
import { drawNamespaces } from './draw-namespaces.ts';
import { drawWorkloads } from './draw-workloads.ts';
import { Prng } from '../../world/prng.ts';
import { drawActions, actionsEndMs } from './draw-actions.ts';
import { drawEpisodes, drawLaterEpisode } from './episodes.ts';
import { drawDisturbedEpisode } from './disturbed-episodes.ts';
import { drawHostileEpisode } from './hostile-episodes.ts';
import { nodeName, type FuzzPlan, type FuzzSettings } from './plan.ts';

/** The world of a seed. */
export function drawPlan(seed: number): FuzzPlan {
  const random = new Prng(seed);
  // Each has its own generator, so that a change to one leaves the draws of the others as they were.
  const [forSettings, forActions, forFaults, forGlobalFaults, forEpisodes] = [random.fork(), random.fork(), random.fork(), random.fork(), random.fork()];
  const forLaterEpisode = random.fork();
  const [forAgents, forNamespaces, forDamage] = [random.fork(), random.fork(), random.fork()];
  const [forHostileEpisode, forDisturbedEpisode] = [random.fork(), random.fork()];
  const [forWorkloads, forReaders] = [random.fork(), random.fork()];
  const drawnSettings = drawSettings(forSettings);
  const { agents, faults: agentFaults } = drawAgents(forAgents, drawnSettings);
  const settings = agents.length === 0 ? drawnSettings : { ...drawnSettings, agents, readsAsNode: forReaders.chance(0.5) };
  const nodeNames = Array.from({ length: settings.nodes }, (_, i) => nodeName(i + 1));
  const options = { nodeNames, endMs: actionsEndMs };
  const episodes = settings.confluent
    ? []
    : [...drawEpisodes(forEpisodes, options), ...drawLaterEpisode(forLaterEpisode, options), ...drawNamespaces(forNamespaces)];
  const none = { actions: [], faults: [] };
  const hostile = settings.confluent ? none : drawHostileEpisode(forHostileEpisode, options);
  const disturbed = settings.confluent ? none : drawDisturbedEpisode(forDisturbedEpisode, settings, options);
  const workloads = drawWorkloads(forWorkloads, settings);
  const actions = [...drawActions(forActions, settings), ...episodes, ...hostile.actions, ...disturbed.actions, ...workloads].sort((a, b) => a.at - b.at);
  const faults: readonly Fault[] = [
    ...drawFaults(forFaults, settings),
    ...drawGlobalFaults(forGlobalFaults, settings),
    ...agentFaults,
    ...drawDamage(forDamage, settings),
    ...hostile.faults,
    ...disturbed.faults,
  ].sort((a, b) => a.at - b.at);
  return withCsi({ seed, settings, actions, faults });
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
