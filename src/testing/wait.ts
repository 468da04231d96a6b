import { statusErrors } from '../api/status.ts';
import type { KubeObject } from '../api/object.ts';
import { checkStatement } from '../sim/scenario/assertions.ts';
import { formatDuration } from '../sim/scenario/language/duration.ts';
import { expectations, type Statement } from '../sim/scenario/language/expectation.ts';
import { PhraseError } from '../sim/scenario/language/phrase.ts';
import { referenceText, type Reference } from '../sim/scenario/language/reference.ts';
import { explain } from '../why/explain.ts';
import { render } from '../why/explanation/render.ts';
import { parseTarget } from '../why/explanation/target.ts';
import { readObjects } from '../why/reading/read-objects.ts';
import { clientOf, type ClusterConnection } from './connection.ts';

/** A condition did not come true in time. The message says what was found instead, and then what `moor why` says about the object. */
export class WaitError extends Error {
  override readonly name = 'WaitError';
}

/** Whether a condition holds, and what was found. */
export type Check = () => { readonly held: boolean; readonly found: string };

/**
 * 'is Bound', 'has 3 ready', 'is Running on a node in zone-b': the statements about an object of docs/SIMULATE.md.
 * @throws PhraseError
 */
export function checkOfPhrase({ facts }: ClusterConnection, reference: Reference, phrase: string): Check {
  // Phrases name built-in kinds; the object itself may be of a custom one.
  const read = expectations.read(`pod/any ${phrase}`);
  if (!('object' in read)) throw new PhraseError(`"${phrase}" says nothing about ${referenceText(reference)}`);
  if (read.type === 'exists' && read.not) throw new PhraseError('use waitUntilGone(object) to wait until an object is gone');
  const statement: Statement = { ...read, object: reference };
  return () => checkStatement(statement, facts);
}

/** Resolves when the check holds. @throws WaitError after `timeoutMs` */
export async function waitUntil(connection: ClusterConnection, waiting: Waiting): Promise<void> {
  const { reference, check, timeoutMs } = waiting;
  const isInTime = await connection.run(() => holdsInTime(connection, waiting));
  if (isInTime) return;
  const { found } = check();
  const why = await explanationOf(connection, reference);
  throw new WaitError(
    `${referenceText(reference)} ${waiting.condition}: not within ${formatDuration(timeoutMs)}; ${found}${why === undefined ? '' : `\n\n${why.trimEnd()}`}`,
  );
}

interface Waiting {
  readonly reference: Reference;
  readonly check: Check;
  /** In the words of the test. */
  readonly condition: string;
  readonly timeoutMs: number;
}

function holdsInTime(connection: ClusterConnection, { reference, check, timeoutMs }: Waiting): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const finish = (held: boolean) => {
      cancel();
      stop();
      resolve(held);
    };
    const look = () => {
      try {
        if (check().held) finish(true);
      } catch (error) {
        // The condition is a function of the test.
        reject(error instanceof Error ? error : new Error(String(error)));
        finish(false);
      }
    };
    const cancel = connection.world.timers.after(timeoutMs, () => finish(false));
    const stop = connection.onChange(reference, look);
    look();
  });
}

/** What `moor why` says about the object; undefined: it does not explain such objects. */
export async function explanationOf(connection: ClusterConnection, { kind, namespace, name }: Reference): Promise<string | undefined> {
  const target = parseTarget([kind.kind.toLowerCase(), name], namespace);
  if (typeof target === 'string') return undefined;
  const now = connection.world.clock.now();
  const objects = await connection.run(() => readObjects(target, { client: clientOf(connection), now }));
  return render(explain(target, objects, now), { colour: false, width: 100 });
}

/** The object as it is now. @throws ApiError if there is none */
export function currentObject({ facts }: ClusterConnection, { kind, namespace, name }: Reference): KubeObject {
  const object = facts.history.get(kind, { namespace, name });
  if (object === undefined) throw statusErrors.notFound(kind, name);
  return object;
}
