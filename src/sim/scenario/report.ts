import type { Kind } from '../../api/kind.ts';
import { kubernetesKinds } from '../../api/kinds/index.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ObjectHistory } from './object-history.ts';
import type { AssertionResult } from './assertions.ts';
import type { TimelineEntry } from './scenario-timeline.ts';

/** The result of a scenario. */
export interface ScenarioReport {
  readonly seed: number;
  readonly lastsMs: number;
  readonly timeline: readonly TimelineEntry[];
  /** The number of entries beyond the limit. */
  readonly dropped: number;
  readonly end: readonly EndTable[];
  readonly verdicts: readonly AssertionResult[];
}

/** What `kubectl get` would print at the end. */
export interface EndTable {
  /** 'pods' */
  readonly resource: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly objects: readonly KubeObject[];
}

const shown = ['Node', 'StatefulSet', 'Deployment', 'DaemonSet', 'Job', 'Pod', 'PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment'];
/** The columns of -o wide that are shown. */
const shownWide = new Set(['Pod Node']);

/** `now`: milliseconds since 1970. */
export function endTables(history: ObjectHistory, now: number): readonly EndTable[] {
  return shown.flatMap((name) => {
    const kind = kubernetesKinds.find((each) => each.kind === name);
    const objects = kind === undefined ? [] : history.all(kind).toSorted(byName);
    return kind === undefined || objects.length === 0 ? [] : [tableOf(kind, objects, now)];
  });
}

function tableOf(kind: Kind, objects: readonly KubeObject[], now: number): EndTable {
  const columns = kind.columns.filter(({ priority, name }) => priority === 0 || shownWide.has(`${kind.kind} ${name}`));
  const spread = kind.namespaced && objects.some(({ metadata }) => metadata.namespace !== 'default');
  return {
    resource: kind.plural,
    header: [...(spread ? ['Namespace'] : []), ...columns.map(({ name }) => name)].map((name) => name.toUpperCase()),
    rows: objects.map((object) => [...(spread ? [object.metadata.namespace ?? ''] : []), ...columns.map(({ cell }) => shownCell(cell(object, now)))]),
    objects,
  };
}

/** In the order of the API server's lists. */
const byName = (a: KubeObject, b: KubeObject): number => (nameKey(a) < nameKey(b) ? -1 : 1);
const nameKey = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

const shownCell = (cell: string | number | boolean | null): string => (cell === null ? '<none>' : String(cell));
