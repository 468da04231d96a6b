import { signInProblem } from '../api/session.ts';

/** A page without a session: a program that has credentials opens one. */
export function SignIn() {
  return (
    <main class="sign-in">
      <h1>Mooring</h1>
      {signInProblem.value !== '' && <p role="alert">{signInProblem.value}</p>}
      <p>This page shows what you may read, and does what you may do. Open it from a shell, with the kubeconfig that you use for kubectl:</p>
      <pre>
        <code>moor dashboard</code>
      </pre>
    </main>
  );
}
