import { describe, expect, test } from 'vitest';
import { Sessions } from './sessions.ts';

const jane = { name: 'jane', groups: ['system:authenticated'] };

function sessionsAt(start = 0, secret = 'secret') {
  const clock = { time: start, now: () => clock.time, monotonic: () => clock.time };
  return { clock, sessions: new Sessions({ secret, clock }) };
}

describe('a code', () => {
  test('opens one session, with the rights of the user that asked for it', () => {
    const { sessions } = sessionsAt();
    const { code } = sessions.issueCode(jane);
    const session = sessions.redeem(code);
    expect(session?.user).toEqual(jane);
    expect(sessions.redeem(code)).toBeUndefined();
  });

  test('is good for a minute', () => {
    const { sessions, clock } = sessionsAt();
    const { code } = sessions.issueCode(jane);
    clock.time = 60_001;
    expect(sessions.redeem(code)).toBeUndefined();
  });

  test('that was never issued opens nothing', () => {
    expect(sessionsAt().sessions.redeem('x')).toBeUndefined();
  });

  test('of the oldest is dropped when there are too many', () => {
    const { sessions } = sessionsAt();
    const [first, ...others] = Array.from({ length: 1001 }, () => sessions.issueCode(jane).code);
    expect(sessions.redeem(first ?? '')).toBeUndefined();
    expect(sessions.redeem(others.at(-1) ?? '')?.user).toEqual(jane);
  });

  test('of a user with more groups than a cookie holds opens nothing', () => {
    const { sessions } = sessionsAt();
    const groups = Array.from({ length: 300 }, (_, i) => `a-rather-long-group-${i}`);
    expect(sessions.redeem(sessions.issueCode({ name: 'joe', groups }).code)).toBeUndefined();
  });
});

describe('a session', () => {
  const open = (sessions: Sessions) => sessions.redeem(sessions.issueCode(jane).code) ?? { cookie: '', token: '' };

  test('needs the cookie and the token', () => {
    const { sessions } = sessionsAt();
    const [{ cookie, token }, other] = [open(sessions), open(sessions)];
    expect(sessions.userOf(cookie, token)).toEqual(jane);
    for (const [a, b] of [
      [cookie, ''],
      ['', token],
      [cookie, other.token],
      [other.cookie, token],
      [`${cookie}x`, token],
      [cookie, `${token}x`],
    ] as const)
      expect(sessions.userOf(a, b)).toBeUndefined();
  });

  test('cannot be made for another user', () => {
    const { sessions } = sessionsAt();
    const { cookie, token } = open(sessions);
    const [payload = '', signature = ''] = cookie.split('.');
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { user: object };
    const forged = Buffer.from(JSON.stringify({ ...content, user: { name: 'root', groups: ['system:masters'] } })).toString('base64url');
    expect(sessions.userOf(`${forged}.${signature}`, token)).toBeUndefined();
  });

  test('lasts twelve hours', () => {
    const { sessions, clock } = sessionsAt();
    const { cookie, token } = open(sessions);
    clock.time = 12 * 3_600_000;
    expect(sessions.userOf(cookie, token)).toEqual(jane);
    clock.time++;
    expect(sessions.userOf(cookie, token)).toBeUndefined();
  });

  test('is known after a restart with the same secret, and to no server with another', () => {
    const { cookie, token } = open(sessionsAt().sessions);
    expect(sessionsAt().sessions.userOf(cookie, token)).toEqual(jane);
    expect(sessionsAt(0, 'another').sessions.userOf(cookie, token)).toBeUndefined();
  });

  test('ends at once, and only for a holder of both parts', () => {
    const { sessions } = sessionsAt();
    const { cookie, token } = open(sessions);
    sessions.end(cookie, 'x');
    expect(sessions.userOf(cookie, token)).toEqual(jane);
    sessions.end(cookie, token);
    expect(sessions.userOf(cookie, token)).toBeUndefined();
  });
});
