import type { Signal } from '@preact/signals';
import type { SortColumn } from '../../model/claim-rows.ts';

interface SortButtonProps {
  readonly column: SortColumn;
  readonly label: string;
  readonly sort: Signal<SortColumn>;
  readonly descending: Signal<boolean>;
}

/** The head of a column: once to sort by it, again for the other direction. */
export function SortButton({ column, label, sort, descending }: SortButtonProps) {
  const isSorted = sort.value === column;
  const choose = () => {
    descending.value = isSorted && !descending.value;
    sort.value = column;
  };
  return (
    <span role="columnheader" aria-sort={isSorted ? (descending.value ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={choose}>
        {label}
        <span aria-hidden="true">{isSorted ? (descending.value ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </span>
  );
}
