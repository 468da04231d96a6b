import { refusals } from '../state/cluster.ts';
import { overviewProblem } from '../state/explanations.ts';

/** What the user may not list is missing from every view, so it is named. */
export function RefusalsNotice() {
  const refused = [...refusals.value];
  if (refused.length === 0 && overviewProblem.value === '') return null;
  return (
    <details class="notice">
      <summary>Not everything can be shown{refused.length > 0 && `: you may not list ${refused.map(([plural]) => plural).join(', ')}`}</summary>
      <ul>
        {refused.map(([plural, why]) => (
          <li key={plural}>{why}</li>
        ))}
        {overviewProblem.value !== '' && <li>No explanations: {overviewProblem.value}</li>}
      </ul>
    </details>
  );
}
