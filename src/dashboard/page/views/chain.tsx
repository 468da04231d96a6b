import { useComputed } from '@preact/signals';
import { chainOf } from '../../model/chain.ts';
import { targetKey } from '../../model/explanations.ts';
import { ChainPicture } from '../components/chain-picture.tsx';
import { ClaimActions } from '../components/claim-actions.tsx';
import { ExplanationCard } from '../components/explanation-card.tsx';
import { synced, view } from '../state/cluster.ts';
import { useExplanationsOf } from '../state/explanations-of.ts';
import { href, route } from '../route.ts';

/** One claim, from its pods to its disk: the broken link is red, with its reason, the next actor and the command that fixes it. */
export function ChainView() {
  const [namespace = '', name = ''] = route.value.arguments;
  // The picture first without explanations: it names the objects that are to be explained.
  const bare = chainOf({ namespace, name }, view.value, () => undefined);
  const targets = (bare?.links ?? []).flatMap(({ target }) => target ?? []);
  const explained = useExplanationsOf(targets);
  const chain = useComputed(() =>
    chainOf({ namespace: route.value.arguments[0] ?? '', name: route.value.arguments[1] ?? '' }, view.value, (target) =>
      explained.value.get(targetKey(target)),
    ),
  );
  if (bare === undefined || chain.value === undefined)
    return <p>{synced.value ? `There is no pvc/${name} in namespace ${namespace}.` : 'Reading the cluster …'}</p>;
  const { reason } = chain.value;
  return (
    <>
      <p class="toolbar">
        <strong>
          {namespace} / {name}
        </strong>
        <a href={href('timeline', namespace, name)}>Timeline</a>
        {bare.links
          .filter(({ column, target }) => column === 0 && target !== undefined)
          .map(({ id, name: pod }) => (
            <a key={id} href={href('pods', namespace, pod)}>
              Scheduling of pod {pod}
            </a>
          ))}
        <ClaimActions namespace={namespace} name={name} />
      </p>
      <ChainPicture chain={chain.value} />
      <div aria-live="polite">
        {reason === undefined ? (
          <p class="whole">{explained.value.size === 0 ? 'Asking why …' : 'Nothing is broken: every link is as it should be.'}</p>
        ) : (
          <ExplanationCard explanation={reason} />
        )}
      </div>
      <details>
        <summary>Each object of the chain</summary>
        {targets.map((target) => {
          const explanation = explained.value.get(targetKey(target));
          return explanation === undefined ? null : <ExplanationCard key={targetKey(target)} explanation={explanation} />;
        })}
      </details>
    </>
  );
}
