import { kubectl } from '../explanation/commands.ts';
import { type Diagnosis, explanationOf, type Fix, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import { plural, someOf } from '../explanation/words.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { provisionerOf } from '../../storage/provisioner/provisioning-need.ts';

/** Undefined: no object names such a driver. */
export function explainDriver(name: string, graph: ObjectGraph): ObjectExplanation | undefined {
  const driver = graph.csiDriver(name);
  const nodes = graph.nodesWithDriver(name);
  const classes = graph.classes.filter((each) => provisionerOf(each) === name).map(({ metadata }) => metadata.name);
  const volumes = graph.volumes.filter(({ object, provisionedBy }) => object.spec.csi?.driver === name || provisionedBy === name).length;
  if (driver === undefined && nodes.length === 0 && classes.length === 0 && volumes === 0) return undefined;
  return explanationOf(
    { kind: 'driver', name },
    { state: nodes.length > 0 ? 'Registered' : driver === undefined ? 'Unknown' : 'Installed', since: driver?.metadata.creationTimestamp },
    {
      ...diagnose({ name, nodes, isInstalled: driver !== undefined, isUsed: classes.length + volumes > 0 }, graph),
      facts: [
        { label: 'nodes', text: nodes.length === 0 ? 'none' : someOf(nodes) },
        { label: 'classes', text: classes.length === 0 ? 'none' : someOf(classes) },
        { label: 'volumes', text: `${volumes}` },
      ],
    },
  );
}

interface Driver {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly isInstalled: boolean;
  /** A class or a volume names it. */
  readonly isUsed: boolean;
}

function diagnose({ name, nodes, isInstalled, isUsed }: Driver, graph: ObjectGraph): Diagnosis {
  const failures = graph.attachments.filter(({ spec, status }) => spec.attacher === name && (status.attachError ?? status.detachError) !== undefined);
  const [failure] = failures;
  if (failure !== undefined) {
    const message = (failure.status.attachError ?? failure.status.detachError)?.message ?? '';
    return {
      verdict: 'stuck',
      code: 'DriverFails',
      summary: `The driver fails for ${plural(failures.length, 'attachment')}; for va/${failure.metadata.name}: ${message}.`,
      fixes: [{ text: 'explain that attachment', commands: [`moor why va/${failure.metadata.name}`] }],
      next: { who: name, does: 'tries again by itself' },
    };
  }
  const lacking = graph.nodes.map(({ metadata }) => metadata.name).filter((node) => !nodes.includes(node));
  if (graph.wasRead('csiNodes') && nodes.length === 0) {
    // As on hollow nodes, after a start at which pods ran on this machine.
    if (!isUsed) {
      const summary = 'The driver is registered on no node. No class and no volume names it, so nothing waits for it.';
      return { verdict: 'fine', code: 'DriverUnused', summary, next: nothingToDo };
    }
    return {
      verdict: 'stuck',
      code: 'DriverOnNoNode',
      summary: `The driver is registered on no node, so no pod can use its volumes${isInstalled ? '' : ', and there is no CSIDriver of its name'}.`,
      fixes: [startDriver(name)],
      next: { who: 'an administrator', does: 'starts the driver on the nodes' },
    };
  }
  const but = lacking.length === 0 ? '' : ` It is not on ${someOf(lacking.map((node) => `node/${node}`))}: pods with its volumes do not run there.`;
  return { verdict: 'fine', code: 'DriverRegistered', summary: `The driver is registered on ${plural(nodes.length, 'node')}.${but}`, next: nothingToDo };
}

/** Drivers of Mooring itself come with the nodes of `moor up`. */
const ownDrivers: Readonly<Record<string, string>> = {
  'image.mooring.dev': 'start the cluster without --runtime hollow: the driver comes with nodes on which pods really run',
  'hollow.csi.mooring.dev': 'start the cluster with --runtime hollow: the driver comes with hollow nodes',
};

/** On one node, or on all. */
export const startDriver = (name: string, node?: string): Fix => ({
  text: ownDrivers[name] ?? `start the driver's pods on ${node === undefined ? 'the nodes' : `node/${node}`}`,
  commands: [kubectl(undefined, 'get', ...(node === undefined ? ['csinodes'] : ['csinode', node, '-o', 'yaml']))],
});
