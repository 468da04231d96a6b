/** Why a pod is in the state it is in, as far as its volumes are concerned. */
import type { Stored } from '../../api/stored.ts';
import type { Pod } from '../../api/generated/types.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import { diagnoseAttach } from '../attachments/attach-diagnosis.ts';
import { explainClaim } from '../volumes/claim.ts';
import { kubectl } from '../explanation/commands.ts';
import { type ObjectExplanation, explanationOf, type Fact, nothingToDo, type ObjectState, type Diagnosis } from '../explanation/explanation.ts';
import { startDriver } from '../cluster/csi-driver.ts';
import { missingClaims, notOwned } from './pod-claims.ts';
import { containerTrouble, diagnoseContainers } from './containers.ts';
import { unscheduled } from './pod-unscheduled.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { rfc3339, timeOf } from '../explanation/timestamps.ts';
import { someOf } from '../explanation/words.ts';

export function explainPod(pod: Stored<Pod>, graph: ObjectGraph): ObjectExplanation {
  const { namespace = '', name } = pod.metadata;
  const diagnosis = diagnose(pod, graph);
  return explanationOf({ kind: 'pod', namespace, name }, stateOf(pod, graph.now), {
    ...diagnosis,
    facts: [...factsOf(pod, graph), ...(diagnosis.facts ?? [])],
  });
}

function stateOf(pod: Stored<Pod>, now: number): ObjectState {
  const { metadata, status } = pod;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  const deadline = timeOf(deletionTimestamp);
  if (deadline !== undefined) return { state: 'Terminating', since: rfc3339(deadline - deletionGracePeriodSeconds * 1000) };
  const phase = status.phase ?? 'Pending';
  const trouble = hasEnded(pod) ? undefined : containerTrouble(pod, now);
  if (trouble !== undefined) return { state: trouble.state, since: metadata.creationTimestamp };
  const ready = status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? undefined;
  return { state: phase, since: phase === 'Pending' ? metadata.creationTimestamp : (ready ?? status.startTime) };
}

function factsOf(pod: Stored<Pod>, graph: ObjectGraph): readonly Fact[] {
  const claims = claimsOfPod(pod).map((key) => {
    const claim = graph.claim(key);
    const name = `pvc/${key.slice(key.indexOf('/') + 1)}`;
    if (claim === undefined) return graph.wasRead('claims') ? `${name} (missing)` : name;
    return `${name} (${claim.object.metadata.deletionTimestamp !== undefined ? 'Terminating' : claim.phase || 'Pending'}${claim.volumeName === '' ? '' : `, pv/${claim.volumeName}`})`;
  });
  const { nodeName } = pod.spec;
  return [
    { label: 'claims', text: claims.length === 0 ? 'none' : someOf(claims) },
    ...(nodeName === undefined || nodeName === '' ? [] : [{ label: 'node', text: nodeName }]),
  ];
}

function diagnose(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis {
  if (pod.metadata.deletionTimestamp !== undefined) return terminating(pod, graph);
  if (hasEnded(pod)) return ended(pod);
  if (!graph.wasRead('claims') && claimsOfPod(pod).length > 0) return claimsUnread();
  if ((pod.spec.nodeName ?? '') === '') return unscheduled(pod, graph);
  return missingClaims(pod, graph) ?? notOwned(pod, graph) ?? onNode(pod, graph);
}

function claimsUnread(): Diagnosis {
  return {
    verdict: 'waiting',
    code: 'ClaimsUnseen',
    summary: "The pod's claims could not be read, so nothing is known about its volumes.",
    next: { who: 'a user who may read claims', does: 'runs this again' },
  };
}

function terminating(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis {
  const by = timeOf(pod.metadata.deletionTimestamp) ?? 0;
  const node = pod.spec.nodeName ?? '';
  const isLate = by < graph.now;
  return {
    verdict: isLate ? 'stuck' : 'waiting',
    code: 'Terminating',
    summary: `The pod is terminating${isLate ? ', and its grace period is over' : ''}. Its claims stay protected, and its volumes attached, until its containers have ended${(pod.metadata.finalizers ?? []).length === 0 ? '' : ` and its finalizers (${someOf(pod.metadata.finalizers ?? [])}) are removed`}.`,
    fixes: isLate
      ? [
          {
            text: `check whether node/${node} is ready; if it is certainly switched off, delete the pod by force`,
            commands: [`kubectl get node ${node}`, `kubectl -n ${pod.metadata.namespace ?? ''} delete pod ${pod.metadata.name} --force --grace-period=0`],
          },
        ]
      : [],
    next: node === '' ? nothingToDo : { who: `node/${node}`, does: 'stops its containers and confirms that', ...(isLate ? {} : { by: rfc3339(by) }) },
  };
}

function ended({ status }: Stored<Pod>): Diagnosis {
  return {
    verdict: 'fine',
    code: 'Ended',
    summary: `The pod has ${status.phase === 'Failed' ? 'failed' : 'ended'}${status.message === undefined ? '' : `: ${status.message}`}. As long as the pod exists, its claims cannot be deleted.`,
    next: nothingToDo,
  };
}

/** The pod is scheduled: its volumes have to be attached to its node. */
function onNode(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis {
  const claims = claimsOfPod(pod).flatMap((key) => graph.claim(key) ?? []);
  const pending = claims.filter((claim) => claim.phase !== 'Bound');
  if (pending.length > 0) return unboundOnNode(pod, pending, graph);
  const node = pod.spec.nodeName ?? '';
  const diagnoses = claims.flatMap((claim) => {
    const volume = graph.volume(claim.volumeName);
    return volume === undefined ? [] : (diagnoseAttach({ volume, node, graph }) ?? []);
  });
  const blocked = diagnoses.find(({ verdict }) => verdict === 'stuck') ?? diagnoses.find(({ verdict }) => verdict === 'waiting');
  if (blocked !== undefined) return blocked;
  const unmountable = pod.status.phase === 'Running' ? undefined : driverNotOnNode(claims, node, graph);
  if (unmountable !== undefined) return unmountable;
  const containers = diagnoseContainers(pod, graph);
  if (containers !== undefined) return containers;
  const isRunning = pod.status.phase === 'Running';
  const what = claims.length === 0 ? 'The pod uses no claims' : "The pod's volumes are in order";
  const unready = isRunning ? notReady(pod, graph) : undefined;
  if (unready !== undefined) return unready;
  if (isRunning) return { verdict: 'fine', code: 'Running', summary: `${what}, and it runs.`, next: nothingToDo };
  const waiting = pod.status.containerStatuses?.flatMap(({ state }) => state.waiting ?? []).find(({ message }) => message !== undefined);
  return {
    verdict: 'waiting',
    code: 'Starting',
    summary: `${what}${diagnoses.length === 0 ? '' : ' and attached'}; node/${node} mounts them and starts the containers${waiting?.message === undefined ? '' : `; its message: ${waiting.message}`}.`,
    fixes: [
      {
        text: 'if this takes more than a minute: read the events of the pod',
        commands: [`kubectl -n ${pod.metadata.namespace ?? ''} events --for pod/${pod.metadata.name}`],
      },
    ],
    next: { who: `node/${node}`, does: 'starts the containers' },
  };
}

/** The node agent says so in an event only: FailedMount, "not found in the list of registered CSI drivers". */
function driverNotOnNode(claims: readonly Claim[], node: string, graph: ObjectGraph): Diagnosis | undefined {
  if (graph.csiNode(node) === undefined) return undefined;
  for (const { volumeName } of claims) {
    const driver = graph.volume(volumeName)?.object.spec.csi?.driver;
    if (driver === undefined || graph.nodesWithDriver(driver).includes(node)) continue;
    return {
      verdict: 'stuck',
      code: 'DriverNotOnNode',
      summary: `node/${node} cannot mount pv/${volumeName}: its driver ${driver} is not registered there.`,
      fixes: [startDriver(driver, node)],
      next: { who: 'an administrator', does: `gets the driver onto node/${node}; the node then mounts the volume by itself` },
    };
  }
  return undefined;
}

/** It runs, but is not ready: a readiness probe fails, or a container has only just started. */
function notReady(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis | undefined {
  const ready = pod.status.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.status === 'True') return undefined;
  const names = (pod.status.containerStatuses ?? []).filter((each) => !each.ready).map(({ name }) => name);
  const since = timeOf(ready.lastTransitionTime);
  const isLong = since !== undefined && graph.now - since > readyWithinMs;
  return {
    verdict: isLong ? 'stuck' : 'waiting',
    code: 'NotReady',
    summary: `The pod runs, but is not ready${names.length === 0 ? '' : `: ${names.length === 1 ? 'container' : 'containers'} ${someOf(names)} ${names.length === 1 ? 'has' : 'have'} not passed the readiness probe`}.${ready.message === undefined || names.length > 0 ? '' : ` ${ready.message}.`}`,
    fixes: [
      {
        text: 'read the events of the pod: they say how the probe failed',
        commands: [kubectl(pod.metadata.namespace, 'events', '--for', `pod/${pod.metadata.name}`)],
      },
    ],
    next: { who: `node/${pod.spec.nodeName ?? ''}`, does: 'probes it again' },
  };
}

const readyWithinMs = 60_000;

function unboundOnNode(pod: Stored<Pod>, claims: readonly Claim[], graph: ObjectGraph): Diagnosis {
  const names = someOf(claims.map(({ name }) => `pvc/${name}`));
  const delayed = claims.some((claim) => waitsForConsumer(graph.class(claim.className)));
  return {
    verdict: 'stuck',
    code: 'ClaimsUnbound',
    summary: `The pod is on node/${pod.spec.nodeName ?? ''}, but cannot start: ${names} ${claims.length === 1 ? 'has' : 'have'} no volume.${delayed ? ' It was created with spec.nodeName, past the scheduler, which would have chosen one.' : ''}`,
    parts: claims.map((claim) => explainClaim(claim, graph)),
    next: { who: 'you', does: `get ${names} bound, as below; then the node starts the pod` },
  };
}
