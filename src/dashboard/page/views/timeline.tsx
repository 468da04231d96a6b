import { synced } from '../state/cluster.ts';
import { href, route } from '../route.ts';
import { useTimeline } from '../state/timeline.ts';

/** What happened to a claim and to what belongs to it. */
export function TimelineView() {
  const [namespace = '', name = ''] = route.value.arguments;
  return synced.value ? <Timeline namespace={namespace} name={name} /> : <p>Reading the cluster …</p>;
}

function Timeline({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const entries = useTimeline(namespace, name).value;
  return (
    <>
      <p class="toolbar">
        <strong>
          {namespace} / {name}
        </strong>
        <a href={href('chain', namespace, name)}>From pod to disk</a>
      </p>
      <p>Changes go back as far as the store keeps its history, Events for an hour.</p>
      <table class="timeline">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Component</th>
            <th scope="col">Object</th>
            <th scope="col">What happened</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ key, at, type, who, about, what, times }) => (
            <tr key={key} class={type}>
              <td>
                <time dateTime={at}>{at === '' ? '' : new Date(at).toLocaleTimeString()}</time>
              </td>
              <td>{who}</td>
              <td>{about}</td>
              <td>
                {what}
                {times > 1 && ` (${times} times)`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
