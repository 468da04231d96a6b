import type { ComponentType } from 'preact';
import { ChainView } from './chain.tsx';
import { ClaimsView } from './claims.tsx';
import { LeaksView } from './leaks.tsx';
import { MapView } from './map.tsx';
import { PodsView } from './pods.tsx';
import { SnapshotsView } from './snapshots.tsx';
import { StuckView } from './stuck.tsx';
import { TimelineView } from './timeline.tsx';

interface View {
  /** The first word of the address. */
  readonly name: string;
  readonly title: string;
  readonly component: ComponentType;
}

const views: readonly View[] = [
  { name: 'claims', title: 'Claims', component: ClaimsView },
  { name: 'stuck', title: 'What is stuck', component: StuckView },
  { name: 'map', title: 'Map', component: MapView },
  { name: 'pods', title: 'Pods', component: PodsView },
  { name: 'snapshots', title: 'Snapshots, clones, expansions', component: SnapshotsView },
  { name: 'leaks', title: 'Orphans and leaks', component: LeaksView },
  { name: 'chain', title: 'From pod to disk', component: ChainView },
  { name: 'timeline', title: 'Timeline', component: TimelineView },
];

const [first] = views;

export function viewOf(name: string): View {
  const view = views.find((each) => each.name === name) ?? first;
  if (view === undefined) throw new Error('there are no views');
  return view;
}
