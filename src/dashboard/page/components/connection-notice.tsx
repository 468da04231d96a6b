import { connection } from '../api/connection.ts';

/** What is shown is old while there is no connection. */
export function ConnectionNotice() {
  return (
    <div role="status">
      {connection.value === 'lost' && <p class="notice">The server does not answer. What is shown is from before; the page tries again by itself.</p>}
    </div>
  );
}
