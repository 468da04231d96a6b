import { copiesIn, expansionsIn } from '../../model/in-progress.ts';
import { keyOf } from '../../model/storage-view.ts';
import { targetKey } from '../../model/explanations.ts';
import { age } from '../components/age.ts';
import { view } from '../state/cluster.ts';
import { overview } from '../state/explanations.ts';
import { href } from '../route.ts';

/** What is being copied, kept or enlarged. */
export function SnapshotsView() {
  return (
    <>
      <Expansions />
      <Copies />
      <Snapshots />
    </>
  );
}

const why = (namespace: string, name: string, kind: 'pvc' | 'vs'): string => overview.value.get(targetKey({ kind, namespace, name }))?.summary ?? '';

const claimLink = (namespace: string, name: string) => (
  <a href={href('chain', namespace, name)}>
    {namespace}/{name}
  </a>
);

function Expansions() {
  const expansions = expansionsIn(view.value);
  return (
    <section>
      <h2>Expansions in progress ({expansions.length})</h2>
      {expansions.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Claim</th>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">State</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {expansions.map(({ namespace, name, from, to, state }) => (
              <tr key={`${namespace}/${name}`}>
                <th scope="row">{claimLink(namespace, name)}</th>
                <td>{from}</td>
                <td>{to}</td>
                <td>{state}</td>
                <td>{why(namespace, name, 'pvc')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Copies() {
  const copies = copiesIn(view.value);
  return (
    <section>
      <h2>Claims made from snapshots and other claims ({copies.length})</h2>
      {copies.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Claim</th>
              <th scope="col">Source</th>
              <th scope="col">Phase</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {copies.map(({ namespace, name, source, phase }) => (
              <tr key={`${namespace}/${name}`}>
                <th scope="row">{claimLink(namespace, name)}</th>
                <td>{source}</td>
                <td>{phase}</td>
                <td>{why(namespace, name, 'pvc')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Snapshots() {
  const { snapshots } = view.value.lists;
  return (
    <section>
      <h2>Snapshots ({snapshots.length})</h2>
      {snapshots.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Snapshot</th>
              <th scope="col">Of claim</th>
              <th scope="col">Ready</th>
              <th scope="col">Size</th>
              <th scope="col">Age</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {snapshots.map((snapshot) => {
              const { metadata, spec, status } = snapshot;
              const source = spec.source?.persistentVolumeClaimName;
              return (
                <tr key={keyOf(snapshot)}>
                  <th scope="row">{keyOf(snapshot)}</th>
                  <td>{source === undefined ? '' : claimLink(metadata.namespace ?? '', source)}</td>
                  <td>{status?.readyToUse === true ? 'yes' : 'no'}</td>
                  <td>{String(status?.restoreSize ?? '')}</td>
                  <td>{age(metadata.creationTimestamp ?? '')}</td>
                  <td>{why(metadata.namespace ?? '', metadata.name, 'vs')}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}
