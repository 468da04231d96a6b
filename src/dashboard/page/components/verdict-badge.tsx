import type { Verdict } from '../../../why/explanation/explanation.ts';

const marks: Readonly<Record<Verdict, string>> = { fine: '✓', waiting: '…', stuck: '✗', absent: '?' };

/** A state with what it means: colour alone would not be seen by all. */
export function VerdictBadge({ verdict, state }: { readonly verdict: Verdict; readonly state: string }) {
  return (
    <span class={`badge ${verdict}`}>
      <span aria-hidden="true">{marks[verdict]} </span>
      {state}
      <span class="unseen">, {verdict}</span>
    </span>
  );
}
