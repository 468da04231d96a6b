/** DNS messages (RFC 1035, EDNS: RFC 6891) as programs in pods send them: one question, answered with records. */
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type OptAnswer,
  type Packet,
  type Question,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  type RecordType,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

export interface DnsQuestion {
  readonly id: number;
  /** In lower case. */
  readonly name: string;
  /** 'A', 'AAAA' … */
  readonly type: RecordType | 'ANY';
  readonly recursionDesired: boolean;
  /** As it was asked: the answer repeats it. */
  readonly question: Question;
  /** The longest answer over UDP; undefined: without EDNS, 512. */
  readonly longest: number | undefined;
}

/** Undefined: the message is no question, or not understood. */
export function decodeQuestion(message: Buffer): DnsQuestion | undefined {
  try {
    const { type, id = 0, flags = 0, questions: [question, ...more] = [], additionals = [] } = decode(message);
    if (type !== 'query' || question === undefined || more.length > 0) return undefined;
    const edns = additionals.find((each): each is OptAnswer => each.type === 'OPT');
    return {
      id,
      name: question.name.toLowerCase(),
      type: question.type as RecordType | 'ANY',
      recursionDesired: (flags & RECURSION_DESIRED) !== 0,
      question,
      longest: edns === undefined ? undefined : Math.max(shortest, Math.min(edns.udpPayloadSize, longest)),
    };
  } catch {
    return undefined;
  }
}

/** Every client accepts so many bytes; none gets more by UDP than passes common networks whole. */
const [shortest, longest] = [512, 4096];
const codes = { success: 0, serverFailure: 2, noSuchName: 3 } as const;

export interface DnsReply {
  readonly code: keyof typeof codes;
  readonly answers: readonly Answer[];
  /** Of negative answers: the SOA. */
  readonly authorities?: readonly Answer[];
  /** Left out first, if the answer is too long. */
  readonly additionals?: readonly Answer[];
}

/** `overTcp`: any length fits. An answer over UDP that is too long has as many records as fit, and the client asks again over TCP. */
export function encodeReply(question: DnsQuestion, reply: DnsReply, overTcp = false): Buffer {
  const { code, answers, authorities = [], additionals = [] } = reply;
  const { id, recursionDesired, question: asked } = question;
  const flags = codes[code] | AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | (recursionDesired ? RECURSION_DESIRED : 0);
  const head = encode({ type: 'response', id, flags, questions: [asked] });
  const edns = question.longest === undefined ? [] : [ednsRecord];
  const most = (overTcp ? 65_535 : (question.longest ?? shortest)) - edns.reduce((sum, each) => sum + each.length, 0);
  const fitting = (from: number, records: readonly Answer[]): readonly Buffer[] => {
    let size = from;
    const encoded = records.map((record) => encodeRecord(record, asked.name));
    const end = encoded.findIndex((bytes) => (size += bytes.length) > most);
    return end < 0 ? encoded : encoded.slice(0, end);
  };
  const sizeOf = (parts: readonly Buffer[]): number => parts.reduce((sum, each) => sum + each.length, 0);
  const first = fitting(head.length, answers);
  const second = first.length < answers.length ? [] : fitting(head.length + sizeOf(first), authorities);
  const rest = fitting(head.length + sizeOf(first) + sizeOf(second), first.length < answers.length ? [] : additionals);
  if (first.length < answers.length) head.writeUInt16BE(head.readUInt16BE(2) | TRUNCATED_RESPONSE, 2);
  head.writeUInt16BE(first.length, 6);
  head.writeUInt16BE(second.length, 8);
  head.writeUInt16BE(rest.length + edns.length, 10);
  return Buffer.concat([head, ...first, ...second, ...rest, ...edns]);
}

/** No server could be asked. */
export const encodeFailure = (question: DnsQuestion): Buffer => encodeReply(question, { code: 'serverFailure', answers: [] });

/** The library repeats the name in each record; with a pointer to the question's name (RFC 1035, 4.1.4) twice as many records fit. */
function encodeRecord(record: Answer, asked: string): Buffer {
  const bytes = recordBytes(record);
  return record.name.toLowerCase() === asked.toLowerCase() ? Buffer.concat([pointer, bytes.subarray(nameLength(record.name))]) : bytes;
}

const pointer = Buffer.from('c00c', 'hex');
/** A message without questions is a header, and its records. */
const headerLength = 12;
const recordBytes = (record: Answer): Buffer => encode({ type: 'response', answers: [record] }).subarray(headerLength);
/** A question is a name, a type and a class. */
const nameLength = (name: string): number => encode({ questions: [{ name, type: 'A' }] }).length - headerLength - 4;
const ednsRecord = recordBytes({ type: 'OPT', name: '.', udpPayloadSize: longest, flags: 0, options: [] } as unknown as Answer);

/** A question for another server. */
export const encodeQuery = (id: number, name: string, type: RecordType): Buffer =>
  encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ type, name }] });

/** Undefined: not understood. */
export function decodeReply(message: Buffer): Packet | undefined {
  try {
    return decode(message);
  } catch {
    return undefined;
  }
}
