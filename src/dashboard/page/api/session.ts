import { signal } from '@preact/signals';
import { replaceRoute } from '../route.ts';

/** Half of the session; the cookie, which scripts cannot read, is the other half. */
export interface PageSession {
  readonly token: string;
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  readonly expiresAt: string;
  /** Of another cluster than that of the server. */
  readonly cluster?: string;
  readonly readOnly: boolean;
}

/** Undefined: the page is not signed in. */
export const session = signal<PageSession | undefined>(undefined);
/** Why it is not. */
export const signInProblem = signal('');

/** Of the origin, with its port: no other page can read it. */
const storageKey = 'mooring-session';

/** With the code in the address, or the session of an earlier visit. */
export async function signIn(): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get('code');
  if (code === null) {
    const kept = localStorage.getItem(storageKey);
    session.value = kept === null ? undefined : (JSON.parse(kept) as PageSession);
    return;
  }
  // The code is worth nothing after its use, and does not belong into the history of the browser.
  replaceRoute(`#/claims?namespace=${encodeURIComponent(given.get('namespace') ?? '')}`);
  const response = await fetch('/ui/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) }).catch(
    () => undefined,
  );
  if (response === undefined) {
    signInProblem.value = 'The server did not answer: run "moor dashboard" again.';
    return;
  }
  if (!response.ok) {
    signInProblem.value = ((await response.json()) as { readonly message?: string }).message ?? '';
    return;
  }
  const opened = (await response.json()) as PageSession;
  localStorage.setItem(storageKey, JSON.stringify(opened));
  session.value = opened;
}

export async function signOut(): Promise<void> {
  const { token } = session.value ?? {};
  if (token !== undefined) await fetch('/ui/session', { method: 'DELETE', headers: { 'mooring-session': token } });
  sessionIsOver();
  signInProblem.value = '';
}

export function sessionIsOver(): void {
  localStorage.removeItem(storageKey);
  session.value = undefined;
  signInProblem.value = 'The session is over.';
}
