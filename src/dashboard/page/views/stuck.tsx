import { ExplanationCard } from '../components/explanation-card.tsx';
import { shortName } from '../../../why/explanation/target.ts';
import { targetKey } from '../../model/explanations.ts';
import { VerdictBadge } from '../components/verdict-badge.tsx';
import { overview } from '../state/explanations.ts';

const mostShown = 300;

/** Everything that is stuck, the worst first, and then what waits: the answer of `moor why` without a target. */
export function StuckView() {
  const all = [...overview.value.values()];
  if (all.length === 0) return <p role="status">Nothing is stuck, and nothing waits.</p>;
  return (
    <ol class="stuck-list">
      {all.slice(0, mostShown).map((explanation) => (
        <li key={targetKey(explanation.about)}>
          <details>
            <summary>
              <VerdictBadge verdict={explanation.verdict} state={explanation.state} /> <strong>{shortName(explanation.about)}</strong>{' '}
              {explanation.about.namespace !== undefined && <small>{explanation.about.namespace}</small>} {explanation.summary}
            </summary>
            <ExplanationCard explanation={explanation} />
          </details>
        </li>
      ))}
      {all.length > mostShown && <li>and {all.length - mostShown} more: "moor why" lists all</li>}
    </ol>
  );
}
