import { quoteGo } from '../json.ts';
import { type Decoder, decoderOf } from './decoders.ts';
import { DecodeError, type DecodeMode, DecodeState } from './decode-state.ts';

export { DecodeError } from './decode-state.ts';

export interface Decoded<T> {
  /** A new object, sharing nothing with the input. */
  readonly object: T;
  /** `unknown field "spec.accessmodes"`, in the order of the document; at most 100. */
  readonly strictErrors: readonly string[];
}

const maxStrictErrors = 100;
const decoders = new Map<string, Decoder>();

/**
 * Decodes parsed JSON as a type of the schema, as if it went through Kubernetes' Go struct and back: unknown fields,
 * nulls and empty values that Go omits are gone, what Go always prints is there, fields are in Go's order.
 * `words`: whose words a misfit is described in; a strategic patch's result goes through Kubernetes' converter.
 * @throws DecodeError for the first value that does not fit its type
 */
export function decode<T>(type: string, value: unknown, words: DecodeMode['words'] = 'json'): Decoded<T> {
  let decoder = decoders.get(type);
  if (decoder === undefined) {
    decoder = decoderOf({ type: 'struct', name: type });
    decoders.set(type, decoder);
  }
  const state = new DecodeState({ order: 'print', words });
  const object = attempt(decoder, value, state) as T;
  const inOrder = words === 'converter' || (state.error === undefined && state.unknown.length <= 1);
  // Structs are decoded in the order of their own fields; Kubernetes' JSON decoder reports in the order of the document.
  const report = inOrder ? state : new DecodeState({ order: 'document', words });
  if (!inOrder) attempt(decoder, value, report);
  if (report.error !== undefined) throw new DecodeError(report.error);
  return { object, strictErrors: strictErrors(report) };
}

function attempt(decoder: Decoder, value: unknown, state: DecodeState): unknown {
  try {
    return decoder(value ?? {}, state);
  } catch (error) {
    // Some types have a decoder of their own (quantities, times); its errors end the decoding and win over earlier ones.
    if (!(error instanceof DecodeError)) throw error;
    state.error = error.message;
    return undefined;
  }
}

const none: readonly string[] = [];

function strictErrors({ unknown, mode }: DecodeState): readonly string[] {
  if (unknown.length === 0) return none;
  const texts = [...new Set(unknown)].map((path) => `unknown field ${quoteGo(path)}`);
  return (mode.words === 'converter' ? texts.sort() : texts).slice(0, maxStrictErrors);
}
