import { useState } from 'preact/hooks';
import { cordonNode } from '../../model/actions.ts';
import { type AttachHeadroom, isFull, type NodePlace, placesOf } from '../../model/attach-headroom.ts';
import { view } from '../state/cluster.ts';
import { ConfirmAction } from '../components/confirm-action.tsx';
import { href } from '../route.ts';
import { session } from '../api/session.ts';

/** Zones, their nodes with attach headroom, and the volumes where they are. */
export function MapView() {
  const zones = placesOf(view.value);
  const full = zones.flatMap(({ nodes }) => nodes).filter(({ headroom }) => headroom.some(isFull));
  return (
    <>
      <p role="status">{full.length === 0 ? 'Every node has attach slots left.' : `No attach slots left on ${full.map(({ name }) => name).join(', ')}.`}</p>
      <div class="zones">
        {zones.map(({ zone, nodes }) => (
          <section key={zone} class="zone" aria-label={`Zone ${zone}`}>
            <h2>{zone === '' ? 'no zone' : zone}</h2>
            {nodes.map((node) => (
              <NodeCard key={node.name} node={node} />
            ))}
          </section>
        ))}
      </div>
    </>
  );
}

function NodeCard({ node: { name, ready, cordoned, headroom } }: { readonly node: NodePlace }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <article class={`node ${ready ? '' : 'stuck'}`}>
      <h3>
        {name} {!ready && <span class="badge stuck">✗ NotReady</span>} {cordoned && <span class="badge waiting">cordoned</span>}
      </h3>
      {session.value?.readOnly === false && (
        <button type="button" onClick={() => setAsking(true)}>
          {cordoned ? 'Uncordon' : 'Cordon'} <span class="unseen">{name}</span>
        </button>
      )}
      {isAsking && <ConfirmAction make={() => cordonNode(name, !cordoned)} input={undefined} onClose={() => setAsking(false)} />}
      {headroom.length === 0 && <p>no CSI driver</p>}
      {headroom.map((each) => (
        <Headroom key={each.driver} headroom={each} />
      ))}
    </article>
  );
}

/** More would make the card of a node longer than the screen. */
const mostVolumes = 30;

function Headroom({ headroom }: { readonly headroom: AttachHeadroom }) {
  const { driver, attached, limit } = headroom;
  const isAtLimit = isFull(headroom);
  const text = limit === undefined ? `${attached.length} attached, no limit` : `${attached.length} of ${limit} attached${isAtLimit ? ', none left' : ''}`;
  return (
    <div class={`headroom${isAtLimit ? ' full' : ''}`}>
      <span>{driver}</span>
      {limit !== undefined && <meter min={0} max={limit} high={limit * 0.85} value={attached.length} aria-label={`${driver}: ${text}`} />}
      <small>{text}</small>
      <ul class="volumes">
        {attached.slice(0, mostVolumes).map((volume) => (
          <AttachedVolume key={volume} name={volume} />
        ))}
        {attached.length > mostVolumes && <li>and {attached.length - mostVolumes} more</li>}
      </ul>
    </div>
  );
}

function AttachedVolume({ name }: { readonly name: string }) {
  const { namespace, name: claim } = view.value.volume(name)?.spec.claimRef ?? {};
  return (
    <li>
      {namespace === undefined || claim === undefined ? (
        name
      ) : (
        <a href={href('chain', namespace, claim)} title={name}>
          {namespace}/{claim}
        </a>
      )}
    </li>
  );
}
