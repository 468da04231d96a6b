/** DNS messages (RFC 1035) as programs in pods send them: one question, answered with addresses. */
import { AUTHORITATIVE_ANSWER, decode, encode, type Question, RECURSION_AVAILABLE, RECURSION_DESIRED } from 'dns-packet';

export interface DnsQuestion {
  readonly id: number;
  /** In lower case. */
  readonly name: string;
  /** 'A', 'AAAA' … */
  readonly type: string;
  readonly recursionDesired: boolean;
  /** As it was asked: the answer repeats it. */
  readonly question: Question;
}

/** Undefined: the message is no question, or not understood. */
export function decodeQuestion(message: Buffer): DnsQuestion | undefined {
  try {
    const { type, id = 0, flags = 0, questions: [question, ...more] = [] } = decode(message);
    if (type !== 'query' || question === undefined || more.length > 0) return undefined;
    return { id, name: question.name.toLowerCase(), type: question.type, recursionDesired: (flags & RECURSION_DESIRED) !== 0, question };
  } catch {
    return undefined;
  }
}

const codes = { success: 0, serverFailure: 2, noSuchName: 3 } as const;

/** As many as fit into 512 bytes, which every client accepts. */
const maxAnswers = 25;
const ttlSeconds = 5;

/** `addresses`: undefined: there is no such name. */
export function encodeAnswer(question: DnsQuestion, addresses: readonly string[] | undefined): Buffer {
  const given = (addresses ?? []).slice(0, maxAnswers);
  const response = encodeResponse(question, AUTHORITATIVE_ANSWER | (addresses === undefined ? codes.noSuchName : codes.success));
  response.writeUInt16BE(given.length, 6);
  return Buffer.concat([response, ...given.map(addressRecord)]);
}

/** No server could be asked. */
export const encodeFailure = (question: DnsQuestion): Buffer => encodeResponse(question, codes.serverFailure);

const encodeResponse = ({ id, recursionDesired, question }: DnsQuestion, flags: number): Buffer =>
  encode({ type: 'response', id, flags: flags | RECURSION_AVAILABLE | (recursionDesired ? RECURSION_DESIRED : 0), questions: [question] });

/** The library repeats the name in each record; with a pointer to the question's name (RFC 1035, 4.1.4) twice as many records fit. */
function addressRecord(address: string): Buffer {
  const record = Buffer.from('c00c0001000100000000000400000000', 'hex');
  record.writeUInt32BE(ttlSeconds, 6);
  for (const [i, part] of address.split('.').entries()) record.writeUInt8(Number(part) & 255, 12 + i);
  return record;
}
