import { namespace, view } from '../state/cluster.ts';
import { href, route } from '../route.ts';
import { session, signOut } from '../api/session.ts';
import { views } from './listed-views.ts';

export function Navigation() {
  const current = route.value.view;
  return (
    <header>
      <span class="brand">Mooring</span>
      <nav aria-label="Views">
        {views.map(({ name, label }) => (
          <a key={name} href={href(name)} aria-current={name === current ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <NamespaceChoice />
      <User />
    </header>
  );
}

/** A text field: a user may know a namespace without being allowed to list them. */
function NamespaceChoice() {
  const known = [...new Set(view.value.lists.claims.map(({ metadata }) => metadata.namespace ?? ''))].sort();
  return (
    <label class="namespace">
      Namespace
      <input
        list="namespaces"
        placeholder="all"
        value={namespace.value}
        onChange={(event) => {
          namespace.value = event.currentTarget.value.trim();
        }}
      />
      <datalist id="namespaces">
        {known.slice(0, 200).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}

function User() {
  const { user, cluster, readOnly } = session.value ?? {};
  return (
    <span class="user">
      {cluster !== undefined && <span>{cluster}</span>}
      {readOnly === true && <span class="badge">read-only</span>}
      <span title={user?.groups.join(', ')}>{user?.name}</span>
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </span>
  );
}
