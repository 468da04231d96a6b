/**
 * Why an object is in the state it is in, as data. `moor why -o json` prints it as it is; `render.ts` turns it into text.
 */
import type { Target } from './target.ts';

export interface Explanation extends ObjectExplanation {
  /** RFC 3339: when the objects were read. */
  readonly asOf: string;
  /** What could not be read; the explanation draws no conclusion from it. */
  readonly unseen: readonly UnreadResource[];
  /** Absent: the store of the API server works, or nothing is known of it. */
  readonly store?: StoreProblem;
}

export interface Overview {
  /** RFC 3339: when the objects were read. */
  readonly asOf: string;
  /** What stays as it is until a person does something, the worst first. */
  readonly stuck: readonly ObjectExplanation[];
  /** What a component takes care of. */
  readonly waiting: readonly ObjectExplanation[];
  readonly unseen: readonly UnreadResource[];
  readonly store?: StoreProblem;
}

/** The store of the API server does not take or show changes: everything waits for it. */
export interface StoreProblem {
  /** The check of /readyz that fails. */
  readonly check: string;
  /** Null: the server does not tell this user. */
  readonly reason: string | null;
}

/** The explanation of one object, without what it shares with the others. */
export interface ObjectExplanation extends Required<Diagnosis> {
  readonly about: Target;
  /** As `kubectl get` shows it: Pending, Bound, Terminating …; 'NotFound'. */
  readonly state: string;
  /** RFC 3339; null: the object does not record it. */
  readonly since: string | null;
}

export interface Diagnosis {
  readonly verdict: Verdict;
  /** For programs, and stable across versions: 'NoVolumeFits'. */
  readonly code: string;
  /** One to three sentences. */
  readonly summary: string;
  readonly facts?: readonly Fact[];
  /** Every object that was considered, with the rules that refused it; the nearest misses first. */
  readonly candidates?: readonly Candidate[];
  /** What would change the state, the usual way first. Empty: nothing has to change. */
  readonly fixes?: readonly Fix[];
  readonly next: Next;
  /** Other objects that this one waits for. */
  readonly parts?: readonly ObjectExplanation[];
}

/**
 * - `fine`:    nothing has to happen
 * - `waiting`: a component has the next step
 * - `stuck`:   the state stays until a person does something
 * - `absent`:  there is no such object
 */
export type Verdict = 'fine' | 'waiting' | 'stuck' | 'absent';

export interface Fact {
  readonly label: string;
  readonly text: string;
}

export interface Candidate {
  /** 'pv/small', 'node/n1', 'pvc/data -n shop' */
  readonly name: string;
  /** Its properties, as columns: ['10Gi', 'RWO', 'Available']. */
  readonly traits: readonly string[];
  /** All of them have to change before it fits; empty: it fits. */
  readonly refusals: readonly Refusal[];
}

export interface Refusal {
  /** For programs: 'capacity', 'accessModes', 'nodeAffinity' … */
  readonly rule: string;
  readonly text: string;
  /** What would satisfy the rule, as the rest of a sentence that begins with 'it needs': '2 cpu free'. */
  readonly wanted?: string;
}

export interface Fix {
  readonly text: string;
  /** To be typed in this order. */
  readonly commands: readonly string[];
  /** To be written into a manifest. */
  readonly yaml?: string;
}

/** The next step, and the component or person that takes it. */
export interface Next {
  readonly who: string;
  readonly does: string;
  /** RFC 3339: when it happens at the latest, or is tried again. 'at once': within a moment. */
  readonly by?: string;
}

/** A resource or object that could not be read. */
export interface UnreadResource {
  readonly what: string;
  readonly because: string;
}

export interface ObjectState {
  readonly state: string;
  readonly since: string | undefined;
}

/** What the diagnosis leaves out is empty. */
export function explanationOf(about: Target, { state, since }: ObjectState, diagnosis: Diagnosis): ObjectExplanation {
  return { about, state, since: since ?? null, facts: [], candidates: [], fixes: [], parts: [], ...diagnosis };
}

export const nothingToDo: Next = { who: 'none', does: 'nothing has to happen' };

/** What is known of an object that cannot be read because of the store. */
export function explainUnread(about: Target, store: StoreProblem, asOf: string): Explanation {
  const explained = explanationOf(
    about,
    { state: 'Unknown', since: undefined },
    {
      verdict: 'stuck',
      code: 'StoreNotAvailable',
      summary: 'The object cannot be read as long as the store does not work.',
      next: { who: 'you', does: 'see to the store of the API server' },
    },
  );
  return { ...explained, asOf, unseen: [], store };
}
