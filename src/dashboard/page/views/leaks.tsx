import { bytesOf } from '../../model/claim-rows.ts';
import { type LeakedVolume, leaksOf, type UnusedClaim } from '../../model/leaks.ts';
import { showBytes } from '../../model/usage.ts';
import { age } from '../components/age.ts';
import { CommandLine } from '../components/command-line.tsx';
import { deleteObject } from '../../../why/explanation/commands.ts';
import { view } from '../state/cluster.ts';
import { tick } from '../state/clock.ts';
import { href } from '../route.ts';

/** A list that is longer is cut: who wants all of them takes kubectl. */
const mostRows = 500;

/** Storage that costs and serves no pod. */
export function LeaksView() {
  void tick.value;
  const { released, available, unused, lost, attachments } = leaksOf(view.value);
  return (
    <>
      <p>What only the storage backends know is found by an audit on the machine of the cluster:</p>
      <CommandLine line="moor audit" />
      <Volumes title="Released volumes" about="Their claim is gone, and nothing deletes them." volumes={released} />
      <Claims title="Unused claims" about="Bound, and no pod uses them." claims={unused} />
      <Claims title="Lost claims" about="Their volume is gone." claims={lost} />
      <Volumes title="Available volumes" about="No claim took them." volumes={available} />
      {attachments.length > 0 && (
        <section>
          <h2>Attachments without a node or volume ({attachments.length})</h2>
          <ul>
            {attachments.map(({ name, volumeName, node, missing }) => (
              <li key={name}>
                {name}: {volumeName} at {node}; the {missing} is gone
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const total = (sizes: readonly { readonly size: string }[]): string => showBytes(sizes.reduce((sum, { size }) => sum + bytesOf(size), 0));

function Volumes({ title, about, volumes }: { readonly title: string; readonly about: string; readonly volumes: readonly LeakedVolume[] }) {
  return (
    <section>
      <h2>
        {title} ({volumes.length}, {total(volumes)})
      </h2>
      <p>{about}</p>
      {volumes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Volume</th>
              <th scope="col">Size</th>
              <th scope="col">Reclaim policy</th>
              <th scope="col">Claim</th>
              <th scope="col">Age</th>
              <th scope="col">Delete it</th>
            </tr>
          </thead>
          <tbody>
            {volumes.slice(0, mostRows).map(({ name, size, reclaimPolicy, claim, created }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{size}</td>
                <td>{reclaimPolicy}</td>
                <td>{claim}</td>
                <td>{age(created)}</td>
                <td>
                  <CommandLine line={deleteObject({ kind: 'pv', name })} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Claims({ title, about, claims }: { readonly title: string; readonly about: string; readonly claims: readonly UnusedClaim[] }) {
  return (
    <section>
      <h2>
        {title} ({claims.length}, {total(claims)})
      </h2>
      <p>{about}</p>
      {claims.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Claim</th>
              <th scope="col">Size</th>
              <th scope="col">Volume</th>
              <th scope="col">Age</th>
            </tr>
          </thead>
          <tbody>
            {claims.slice(0, mostRows).map(({ namespace, name, size, volumeName, created }) => (
              <tr key={`${namespace}/${name}`}>
                <th scope="row">
                  <a href={href('chain', namespace, name)}>
                    {namespace}/{name}
                  </a>
                </th>
                <td>{size}</td>
                <td>{volumeName}</td>
                <td>{age(created)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
