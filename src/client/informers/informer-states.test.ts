import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { type InformerInput, type InformerState, transition } from './informer-states.ts';
import type { StreamEvent } from '../transport.ts';

const object = (name: string, resourceVersion: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid: name, resourceVersion } });
const added = (name: string, resourceVersion: string): StreamEvent => ({ type: 'ADDED', object: object(name, resourceVersion) });
const bookmark = (resourceVersion: string): StreamEvent => ({ type: 'BOOKMARK', object: object('', resourceVersion) });
const page = (revision: string, names: readonly string[], token?: string): InformerInput => ({
  type: 'page',
  revision,
  items: names.map((name) => object(name, revision)),
  continue: token,
});

/** The phases it goes through and the effects that reach the outside, in words. */
function play(...inputs: readonly InformerInput[]): string[] {
  let state: InformerState = { phase: 'idle' };
  const effectsSoFar: string[] = [];
  for (const input of inputs) {
    const next = transition(state, input);
    state = next.state;
    for (const effect of next.effects) {
      if (effect.type === 'list') effectsSoFar.push(`list${effect.whole ? ' whole' : ''}${effect.continue === undefined ? '' : ` after ${effect.continue}`}`);
      else if (effect.type === 'watch') effectsSoFar.push(`watch from ${effect.from}`);
      else if (effect.type === 'finish-list') effectsSoFar.push(`${[...effect.uids].join(' ')} is all at ${effect.revision}`);
      else if (effect.type === 'wait') effectsSoFar.push(`wait ${effect.failures}`);
      else if (effect.type === 'close') effectsSoFar.push('close');
    }
  }
  return [...effectsSoFar, state.phase];
}

const start: InformerInput = { type: 'start' };
const due: InformerInput = { type: 'due' };
const cut: InformerInput = { type: 'ended', cause: 'cut' };
const lasted: InformerInput = { type: 'ended', cause: 'lasted' };
const expired: InformerInput = { type: 'ended', cause: 'expired' };
const refused: InformerInput = { type: 'ended', cause: 'refused' };
const events = (...batch: readonly StreamEvent[]): InformerInput => ({ type: 'events', events: batch });

test('lists page by page, then watches from the revision of the list', () => {
  expect(play(start, page('9', ['a', 'b'], 'token'), page('9', ['c']))).toEqual(['list', 'list after token', 'a b c is all at 9', 'watch from 9', 'watching']);
});

test('a page token that expires starts the list anew, in one piece', () => {
  expect(play(start, page('9', ['a'], 'token'), { type: 'list-failed', expired: true }, page('12', ['b']))).toEqual([
    'list',
    'list after token',
    'list whole',
    'b is all at 12',
    'watch from 12',
    'watching',
  ]);
});

test('a list that fails is tried again, later each time', () => {
  const failed: InformerInput = { type: 'list-failed', expired: false };
  expect(play(start, failed, due, failed, due, page('9', []))).toEqual([
    'list',
    'wait 1',
    'list',
    'wait 2',
    'list',
    ' is all at 9',
    'watch from 9',
    'watching',
  ]);
});

test('a whole list that expires again backs off instead of going round', () => {
  const failed: InformerInput = { type: 'list-failed', expired: true };
  expect(play(start, failed, failed)).toEqual(['list', 'list whole', 'wait 1', 'backing-off']);
});

test('a broken stream resumes, at once the first time, after the last revision known to be complete', () => {
  expect(play(start, page('9', []), events(added('a', '10'), added('b', '11')), cut).slice(3)).toEqual(['watch from 10', 'watching']);
});

test('so does one whose time was up', () => {
  expect(play(start, page('9', []), events(added('a', '10')), lasted).slice(3)).toEqual(['watch from 9', 'watching']);
});

test('two events of one revision may be cut apart: none of them is lost', () => {
  expect(play(start, page('9', []), events(added('a', '10')), events(added('b', '10')), cut).slice(3)).toEqual(['watch from 9', 'watching']);
});

test('a bookmark says that its revision is complete', () => {
  expect(play(start, page('9', []), events(added('a', '10'), bookmark('15')), lasted).slice(3)).toEqual(['watch from 15', 'watching']);
});

test('a stream that breaks as soon as it opens backs off; one event makes it healthy again', () => {
  expect(play(start, page('9', []), cut, cut, due, cut, due, events(added('a', '10'), added('b', '11')), cut).slice(3)).toEqual([
    'watch from 9',
    'wait 2',
    'watch from 9',
    'wait 3',
    'watch from 9',
    'watch from 10',
    'watching',
  ]);
});

test('410 lists again, at once the first time, and what is gone meanwhile is known from the new list', () => {
  expect(play(start, page('9', ['a', 'b']), expired, page('30', ['b'])).slice(3)).toEqual(['list', 'b is all at 30', 'watch from 30', 'watching']);
  expect(play(start, page('9', []), expired, page('30', []), expired).slice(-2)).toEqual(['wait 2', 'backing-off']);
});

test('news from before the beginning of the watch means that the server has other data now: list again', () => {
  expect(play(start, page('9', []), events(added('a', '10'), bookmark('12')), events(bookmark('3'))).slice(3)).toEqual(['close', 'list', 'listing']);
});

test('a watch that the server refuses is not repeated: it lists again, after a while', () => {
  expect(play(start, page('9', []), refused, due).slice(3)).toEqual(['wait 1', 'list', 'listing']);
});

test('stopped is stopped: nothing that comes late has an effect', () => {
  for (const late of [start, page('9', ['a']), events(added('a', '10')), cut, expired, due]) {
    expect(play(start, page('9', []), { type: 'stop' }, late).slice(3)).toEqual(['close', 'stopped']);
  }
});

test('inputs that do not belong to a phase change nothing', () => {
  const phases: InformerState[] = [
    { phase: 'idle' },
    { phase: 'listing', failures: 0, uids: new Set(), whole: false },
    { phase: 'backing-off', failures: 1, next: { type: 'list' } },
  ];
  for (const state of phases) {
    for (const input of [events(added('a', '10')), cut, expired]) expect(transition(state, input)).toEqual({ state, effects: [] });
  }
});
