/** Answers as EC2 writes them, by the published model. */
import { actions, responses } from './generated/model.ts';

export type Answer = { readonly [member: string]: AnswerValue };
export type AnswerValue = string | number | boolean | undefined | Answer | readonly AnswerValue[];

const namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/';
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;', '\r': '&#13;' };

/** XML has no way at all to write other control characters, nor half of a surrogate pair. */
export const escaped = (text: string): string =>
  text
    .replace(/[&<>"'\r]/g, (character) => escapes[character] ?? character)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');

/** @throws Error if the answer has a member that the model does not have: a client would not see it */
export function answerText(action: string, answer: Answer, requestId: string): string {
  const structure = actions[action]?.response;
  // Actions without an answer of their own say that they were done.
  const content = structure === undefined ? '<return>true</return>' : membersOf(answer, structure);
  return `${head}<${action}Response xmlns="${namespace}"><requestId>${requestId}</requestId>${content}</${action}Response>`;
}

function membersOf(answer: Answer, structure: string): string {
  const members = responses[structure] ?? {};
  return Object.entries(answer)
    .map(([name, value]) => {
      const type = members[name];
      if (type === undefined) throw new Error(`${structure} has no member ${name}`);
      return value === undefined ? '' : `<${name}>${contentOf(value, type)}</${name}>`;
    })
    .join('');
}

function contentOf(value: Exclude<AnswerValue, undefined>, type: string): string {
  if (type.endsWith('[]')) {
    const element = type.slice(0, -2);
    return (value as readonly AnswerValue[]).map((each) => (each === undefined ? '' : `<item>${contentOf(each, element)}</item>`)).join('');
  }
  if (Object.hasOwn(responses, type)) return membersOf(value as Answer, type);
  if (typeof value === 'object') throw new Error(`${type} has no members`);
  return type === 'timestamp' && typeof value === 'number' ? new Date(value).toISOString() : escaped(String(value));
}

export const errorText = (code: string, message: string, requestId: string): string =>
  `${head}<Response><Errors><Error><Code>${escaped(code)}</Code><Message>${escaped(message)}</Message></Error></Errors><RequestID>${requestId}</RequestID></Response>`;

/** STS has its own protocol: the same form, another envelope. */
export const stsIdentityText = (
  { account, userId, arn }: { readonly account: string; readonly userId: string; readonly arn: string },
  requestId: string,
): string =>
  `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>${escaped(arn)}</Arn><UserId>${escaped(userId)}</UserId><Account>${account}</Account></GetCallerIdentityResult><ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata></GetCallerIdentityResponse>`;

export const stsErrorText = (code: string, message: string, requestId: string): string =>
  `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${escaped(code)}</Code><Message>${escaped(message)}</Message></Error><RequestId>${requestId}</RequestId></ErrorResponse>`;
