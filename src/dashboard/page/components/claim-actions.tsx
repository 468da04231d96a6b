import { useState } from 'preact/hooks';
import { type Action, deleteClaim, expandClaim, snapshotClaim } from '../../model/actions.ts';
import { view } from '../state/cluster.ts';
import { session } from '../api/session.ts';
import { ConfirmAction } from './confirm-action.tsx';

/** Expand, snapshot and delete, each after a confirmation. */
export function ClaimActions({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const [make, setMake] = useState<((input: string) => Action) | undefined>(undefined);
  const [input, setInput] = useState<{ readonly label: string; readonly value: string } | undefined>(undefined);
  if (session.value?.readOnly !== false) return null;
  const claim = view.value.claim(namespace, name);
  const size = claim?.status.capacity?.['storage'] ?? claim?.spec.resources.requests?.['storage'] ?? '';
  const reclaimPolicy = view.value.volume(claim?.spec.volumeName ?? '')?.spec.persistentVolumeReclaimPolicy;
  const offer = (action: (input: string) => Action, asks?: { readonly label: string; readonly value: string }) => {
    setMake(() => action);
    setInput(asks);
  };
  return (
    <span class="actions">
      <button type="button" onClick={() => offer((to) => expandClaim({ namespace, name }, to), { label: 'New size', value: size })}>
        Expand
      </button>
      <button type="button" onClick={() => offer((as) => snapshotClaim({ namespace, name }, as), { label: 'Name of the snapshot', value: `${name}-1` })}>
        Snapshot
      </button>
      <button type="button" onClick={() => offer(() => deleteClaim({ namespace, name }, reclaimPolicy))}>
        Delete
      </button>
      {make !== undefined && <ConfirmAction make={make} input={input} onClose={() => setMake(undefined)} />}
    </span>
  );
}
