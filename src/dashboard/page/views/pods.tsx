import { Candidates, ExplanationCard } from '../components/explanation-card.tsx';
import { targetKey } from '../../model/explanations.ts';
import { keyOf } from '../../model/storage-view.ts';
import { view } from '../state/cluster.ts';
import { useExplanationsOf } from '../state/explanations-of.ts';
import { href, route } from '../route.ts';

/** The scheduler's view of one pod; without one, the pods that are not running. */
export function PodsView() {
  const [namespace, name] = route.value.arguments;
  return namespace === undefined || name === undefined ? <WaitingPods /> : <PodScheduling namespace={namespace} name={name} />;
}

const mostPods = 300;

function WaitingPods() {
  const waiting = view.value.lists.pods.filter(({ status, metadata }) => status.phase === 'Pending' || metadata.deletionTimestamp !== undefined);
  if (waiting.length === 0) return <p role="status">No pod waits.</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Pod</th>
          <th scope="col">Phase</th>
          <th scope="col">Node</th>
        </tr>
      </thead>
      <tbody>
        {waiting.slice(0, mostPods).map((pod) => (
          <tr key={keyOf(pod)}>
            <th scope="row">
              <a href={href('pods', pod.metadata.namespace ?? '', pod.metadata.name)}>{keyOf(pod)}</a>
            </th>
            <td>{pod.metadata.deletionTimestamp === undefined ? pod.status.phase : 'Terminating'}</td>
            <td>{pod.spec.nodeName ?? ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Every node, and every plugin that refused the pod there. */
function PodScheduling({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const target = { kind: 'pod', namespace, name } as const;
  const explanation = useExplanationsOf([target]).value.get(targetKey(target));
  if (explanation === undefined)
    return <p>{view.value.pod(namespace, name) === undefined ? `There is no pod/${name} in namespace ${namespace}.` : 'Asking why …'}</p>;
  const nodes = explanation.candidates.filter((candidate) => candidate.name.startsWith('node/'));
  const { candidates: _, ...rest } = explanation;
  return (
    <>
      <ExplanationCard explanation={{ ...rest, candidates: explanation.candidates.filter((candidate) => !nodes.includes(candidate)) }} />
      {nodes.length > 0 && (
        <section>
          <h2>The scheduler's view: every node</h2>
          <Candidates candidates={nodes} />
        </section>
      )}
    </>
  );
}
