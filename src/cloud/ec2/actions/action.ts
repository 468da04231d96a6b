import type { Context, Outcome } from '../../engine/context.ts';
import type { Cloud } from '../../engine/cloud.ts';
import type { Parameters } from '../parameters.ts';
import type { Answer } from '../xml.ts';

/**
 * An action in two steps: the parameters are read, and those that were not are refused; then the returned function decides from the state, and says
 * what changes.
 */
export type Action = (parameters: Parameters, cloud: Cloud) => (context: Context) => Outcome<Answer>;

/** An answer that changes nothing. */
export const answer = (value: Answer): Outcome<Answer> => ({ value, changes: [] });

/** The outcome with its answer written for the wire. */
export const written = <T>({ value, changes }: Outcome<T>, write: (value: T) => Answer): Outcome<Answer> => ({ value: write(value), changes });
