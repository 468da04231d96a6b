import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Action } from '../../model/actions.ts';
import { messageOf, send } from '../api/requests.ts';
import { CommandLine } from './command-line.tsx';

interface ConfirmActionProps {
  readonly make: (input: string) => Action;
  /** A value that the action needs. */
  readonly input: { readonly label: string; readonly value: string } | undefined;
  readonly onClose: () => void;
}

/** Says what an action does, and which line of kubectl does the same, before it is done with the rights of the user. */
export function ConfirmAction({ make, input, onClose }: ConfirmActionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [value, setValue] = useState(input?.value ?? '');
  const [problem, setProblem] = useState('');
  const action = make(value);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const perform = async () => {
    const { method, path, contentType, body } = action;
    try {
      await send(path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': contentType ?? 'application/json' } }),
      });
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <dialog ref={dialog} aria-label={action.label} onClose={onClose}>
      <h2>{action.label}</h2>
      {input !== undefined && (
        <label>
          {input.label}
          <input value={value} onInput={(event) => setValue(event.currentTarget.value)} />
        </label>
      )}
      <p>{action.about}</p>
      <p>The same with kubectl:</p>
      <CommandLine line={action.command} />
      {problem !== '' && <p role="alert">{problem}</p>}
      <p class="actions">
        <button type="button" class="primary" onClick={() => void perform()}>
          {action.label}
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </p>
    </dialog>
  );
}
