/**
 * Why an object is in the state it is in, as data. Programs read it as it is (`moor why -o json`), people read what
 * `render.ts` makes of it.
 */
import type { Target } from './target.ts';

export interface Explanation extends ObjectExplanation {
  /** RFC 3339: everything is as it was then. */
  readonly asOf: string;
  /** What could not be looked at; whatever depends on it is left open. */
  readonly unseen: readonly UnreadResource[];
}

/** What there is to say about one object. */
export interface ObjectExplanation extends Required<Diagnosis> {
  readonly about: Target;
  /** As `kubectl get` shows it: Pending, Bound, Terminating …; 'NotFound'. */
  readonly state: string;
  /** RFC 3339; null: nobody wrote it down. */
  readonly since: string | null;
}

export interface Diagnosis {
  readonly verdict: Verdict;
  /** For programs, and the same in every version: 'NoVolumeFits'. */
  readonly code: string;
  /** What is the case, in a sentence or three. */
  readonly summary: string;
  readonly facts?: readonly Fact[];
  /** Everything that was looked at, each with the rules that refused it; the nearest misses first. */
  readonly candidates?: readonly Candidate[];
  /** What would change the state; the first is the usual way. Empty: nothing has to change. */
  readonly fixes?: readonly Fix[];
  readonly next: Next;
  /** Other objects on which this one waits. */
  readonly parts?: readonly ObjectExplanation[];
}

/**
 * - `fine`:    nothing has to happen
 * - `waiting`: it will go on by itself
 * - `stuck`:   it will stay so until somebody does something
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
  /** What it is like, in columns: ['10Gi', 'RWO', 'Available']. */
  readonly traits: readonly string[];
  /** Every one has to change; none: it fits. */
  readonly refusals: readonly Refusal[];
}

export interface Refusal {
  /** For programs: 'capacity', 'accessModes', 'nodeAffinity' … */
  readonly rule: string;
  readonly text: string;
  /** What would change it, behind 'it needs': '2 cpu free'. */
  readonly wanted?: string;
}

export interface Fix {
  readonly text: string;
  /** To be typed one after the other. */
  readonly commands: readonly string[];
  /** To be written into a manifest. */
  readonly yaml?: string;
}

/** Whose move it is. */
export interface Next {
  readonly who: string;
  readonly does: string;
  /** RFC 3339: it happens by then, or is tried again then. 'at once': it takes no longer than a moment. */
  readonly by?: string;
}

export interface UnreadResource {
  readonly what: string;
  readonly because: string;
}

export interface ObjectState {
  readonly state: string;
  readonly since: string | undefined;
}

/** The account in full: what a diagnosis leaves out is empty. */
export function explanationOf(about: Target, { state, since }: ObjectState, diagnosis: Diagnosis): ObjectExplanation {
  return { about, state, since: since ?? null, facts: [], candidates: [], fixes: [], parts: [], ...diagnosis };
}

export const nothingToDo: Next = { who: 'nobody', does: 'nothing has to happen' };
