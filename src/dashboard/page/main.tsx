import { effect, untracked } from '@preact/signals';
import { render } from 'preact';
import { Page } from './page.tsx';
import { follow, namespace, refusals } from './state/cluster.ts';
import { followExplanations } from './state/explanations.ts';
import { route } from './route.ts';
import { session, signIn } from './api/session.ts';

const root = document.querySelector('#page');
if (root === null) throw new Error('index.html has no element for the page');
render(<Page />, root);
await signIn();

let following = '';
effect(() => {
  if (session.value === undefined) {
    following = '';
    return;
  }
  const wanted = `${session.value.token} ${namespace.value}`;
  if (following === wanted) return;
  following = wanted;
  void untracked(follow).then(onlyNamespace).then(followExplanations);
});

/** A user of one namespace sees that one, which the address of `moor dashboard` names. */
function onlyNamespace(): void {
  const own = route.value.query.get('namespace') ?? '';
  if (own !== '' && namespace.value === '' && refusals.value.has('persistentvolumeclaims')) namespace.value = own;
}
