import type { Candidate, Fix, ObjectExplanation } from '../../../why/explanation/explanation.ts';
import { shortName } from '../../../why/explanation/target.ts';
import { age } from './age.ts';
import { CommandLine } from './command-line.tsx';
import { VerdictBadge } from './verdict-badge.tsx';

/** The answer of `moor why` about one object. */
export function ExplanationCard({ explanation }: { readonly explanation: ObjectExplanation }) {
  const { about, state, since, verdict, summary, facts, candidates, fixes, next, parts } = explanation;
  return (
    <section class={`card ${verdict}`} aria-label={`Why ${shortName(about)} is ${state}`}>
      <h2>
        {shortName(about)} <VerdictBadge verdict={verdict} state={state} /> {since !== null && <small>for {age(since)}</small>}
      </h2>
      <p class="summary">{summary}</p>
      {next.who !== 'none' && (
        <p>
          <strong>Next:</strong> {next.who} {next.does}
          {next.by !== undefined && `, ${next.by === 'at once' ? next.by : `by ${next.by}`}`}.
        </p>
      )}
      {facts.length > 0 && (
        <dl>
          {facts.map(({ label, text }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      {fixes.length > 0 && <Fixes fixes={fixes} />}
      {candidates.length > 0 && <Candidates candidates={candidates} />}
      {parts.map((part) => (
        <ExplanationCard key={shortName(part.about)} explanation={part} />
      ))}
    </section>
  );
}

function Fixes({ fixes }: { readonly fixes: readonly Fix[] }) {
  return (
    <>
      <h3>What would change that</h3>
      <ul>
        {fixes.map(({ text, commands, yaml }) => (
          <li key={text}>
            {text}
            {commands.map((command) => (
              <CommandLine key={command} line={command} />
            ))}
            {yaml !== undefined && <pre>{yaml}</pre>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** A large cluster has more candidates than a reader has time for; the nearest misses come first. */
const mostCandidates = 200;

export function Candidates({ candidates }: { readonly candidates: readonly Candidate[] }) {
  return (
    <table class="candidates">
      <caption>
        What was considered, and the rules that refused it
        {candidates.length > mostCandidates && ` (the first ${mostCandidates} of ${candidates.length})`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Candidate</th>
          <th scope="col">Properties</th>
          <th scope="col">Refused by</th>
        </tr>
      </thead>
      <tbody>
        {candidates.slice(0, mostCandidates).map(({ name, traits, refusals }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{traits.join(', ')}</td>
            <td>
              {refusals.length === 0 ? (
                <span class="badge fine">fits</span>
              ) : (
                refusals.map(({ rule, text }) => (
                  <div key={rule + text}>
                    <code>{rule}</code> {text}
                  </div>
                ))
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
