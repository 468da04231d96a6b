import { ConnectionNotice } from './components/connection-notice.tsx';
import { Navigation } from './components/navigation.tsx';
import { RefusalsNotice } from './components/refusals-notice.tsx';
import { route } from './route.ts';
import { session } from './api/session.ts';
import { viewOf } from './views/all-views.ts';
import { SignIn } from './views/sign-in.tsx';

/** The frame of all views. */
export function Page() {
  if (session.value === undefined) return <SignIn />;
  const { component: View, title } = viewOf(route.value.view);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <h1>{title}</h1>
        <ConnectionNotice />
        <RefusalsNotice />
        <View />
      </main>
    </>
  );
}
