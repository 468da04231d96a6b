import { computed, signal } from '@preact/signals';
import { type ClaimRow, claimRow, selectRows, type SortColumn } from '../../model/claim-rows.ts';
import { targetKey } from '../../model/explanations.ts';
import { age } from '../components/age.ts';
import { SortButton } from '../components/sort-button.tsx';
import { UsageBar } from '../components/usage-bar.tsx';
import { VerdictBadge } from '../components/verdict-badge.tsx';
import { VirtualList } from '../components/virtual-list.tsx';
import { synced, view } from '../state/cluster.ts';
import { tick } from '../state/clock.ts';
import { explanations, wantExplanations } from '../state/visible-claims.ts';
import { go, href } from '../route.ts';
import { useUsage, usage } from '../state/usage.ts';

const search = signal('');
const phase = signal('');
const sort = signal<SortColumn>('phase');
const descending = signal(false);

const rows = computed(() =>
  view.value.lists.claims.map((claim) => {
    const { namespace = '', name } = claim.metadata;
    return claimRow(claim, view.value, explanations.value.get(targetKey({ kind: 'pvc', namespace, name })));
  }),
);
const selected = computed(() => selectRows(rows.value, { text: search.value, phase: phase.value, sort: sort.value, descending: descending.value }));
const phases = ['Pending', 'Bound', 'Lost', 'Terminating'];
const rowHeight = 58;

/** Every claim with the sentence of `moor why`, live. */
export function ClaimsView() {
  useUsage();
  const all = rows.value;
  const count = (verdict: string) => all.filter((row) => row.verdict === verdict).length;
  return (
    <>
      <div class="toolbar" role="search">
        <label>
          Search
          <input type="search" value={search.value} onInput={(event) => (search.value = event.currentTarget.value)} />
        </label>
        <label>
          Phase
          <select value={phase.value} onChange={(event) => (phase.value = event.currentTarget.value)}>
            <option value="">all</option>
            {phases.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <output>
          {selected.value.length} of {all.length} claims, {count('stuck')} stuck, {count('waiting')} waiting
        </output>
      </div>
      <VirtualList
        items={selected.value}
        rowHeight={rowHeight}
        keyOf={({ key }) => key}
        label="Claims"
        head={<Head />}
        onOpen={({ namespace, name }) => go(href('chain', namespace, name))}
        onShown={wantExplanations}
      >
        {(row) => <Row row={row} />}
      </VirtualList>
      {synced.value && all.length === 0 && <p>There are no claims here.</p>}
    </>
  );
}

function Head() {
  const button = (column: SortColumn, label: string) => <SortButton column={column} label={label} sort={sort} descending={descending} />;
  return (
    <>
      {button('name', 'Claim')}
      {button('phase', 'Phase')}
      {button('size', 'Used / size')}
      {button('className', 'Class')}
      <span role="columnheader">Node, pods</span>
      {button('created', 'Age')}
    </>
  );
}

function Row({ row }: { readonly row: ClaimRow }) {
  void tick.value;
  const { namespace, name, phase: state, verdict, sentence, size, className, nodes, pods, created } = row;
  return (
    <>
      <span role="cell" class="name">
        <a href={href('chain', namespace, name)} tabIndex={-1}>
          {name}
        </a>
        <small>{namespace}</small>
      </span>
      <span role="cell" class="phase">
        <VerdictBadge verdict={verdict} state={state} />
        <small title={sentence}>{sentence}</small>
      </span>
      <span role="cell">
        <UsageBar used={usage.value.get(row.key)} size={size} />
      </span>
      <span role="cell">{className}</span>
      <span role="cell" class="places">
        <span>{nodes.join(', ')}</span>
        <small>{pods.length > 3 ? `${pods.slice(0, 3).join(', ')} and ${pods.length - 3} more` : pods.join(', ')}</small>
      </span>
      <span role="cell">{age(created)}</span>
    </>
  );
}
