import { expect, test } from 'vitest';
import { PhraseError, Phrasebook } from './phrase.ts';

const phrase = (pattern: string) => ({
  pattern,
  about: '',
  example: '',
  make: (slots: ReadonlyMap<string, string>) => ({ pattern, ...Object.fromEntries(slots) }),
});
const book = new Phrasebook([
  phrase('<node> dies|crashes [for <duration>]'),
  phrase('scale <object> to <number>'),
  phrase('<driver> fails to <call> [<number> times] [with <code>] [saying <text>]'),
  phrase('delete <object>'),
  phrase('delete <object> by force'),
  phrase('<object> field <path> is <value>'),
  phrase('<object> field <path> is not <value>'),
]);

test.each([
  ['node-1 dies', { node: 'node-1' }],
  ['node-1   crashes  for 10m', { node: 'node-1', duration: '10m' }],
  ['the node of pod/db-0 dies', { node: 'the node of pod/db-0' }],
  ['the node of pod/db-0 -n shop dies for 1m', { node: 'the node of pod/db-0 -n shop', duration: '1m' }],
  ['scale sts/web -n shop to 5', { object: 'sts/web -n shop', number: '5' }],
  ['d fails to create', { driver: 'd', call: 'create' }],
  ['d fails to create 3 times saying "no room, none"', { driver: 'd', call: 'create', number: '3', text: 'no room, none' }],
  ["d fails to create with Aborted saying 'x'", { driver: 'd', call: 'create', code: 'Aborted', text: 'x' }],
  ['delete pod/a', { pattern: 'delete <object>', object: 'pod/a' }],
  ['delete pod/a by force', { pattern: 'delete <object> by force', object: 'pod/a' }],
  ['pv/a field .spec.claimRef.name is ""', { pattern: '<object> field <path> is <value>', object: 'pv/a', value: '' }],
  ["pod/a field .spec.nodeName is not ''", { pattern: '<object> field <path> is not <value>', value: '' }],
  ['pod/a field .status.message is "no node fits"', { value: 'no node fits' }],
  ['pod/a field .spec.nodeName is node-1', { value: 'node-1' }],
])('%s', (sentence, slots) => {
  expect(book.read(sentence)).toMatchObject(slots);
});

test.each([
  ['node-1 dyes', '"dyes" is not expected there; did you mean "dies"?'],
  ['scael pod/a to 5', 'nothing begins with "scael"; did you mean "scale"?'],
  ['scale sts/web', 'it ends too early'],
  ['scale sts/web to 5 now', '"now" is not expected there; the form is "scale <object> to <number>"'],
  ['delete pod/a by forse', '"forse" is not expected there; did you mean "force"?'],
  ['d fails to create saying nothing', '"nothing" is not expected there'],
  ['', 'it ends too early'],
])('%s: says what is wrong', (sentence, message) => {
  expect(() => book.read(sentence)).toThrow(PhraseError);
  expect(() => book.read(sentence)).toThrow(message);
});
