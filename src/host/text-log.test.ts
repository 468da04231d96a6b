import { expect, test } from 'vitest';
import { textLog } from './text-log.ts';

test('a line has the level, the message and the fields; lines below the level are left out', () => {
  const lines: string[] = [];
  const log = textLog('warn', (line) => lines.push(line)).with({ informer: 'pods' });
  log.info('unseen');
  log.warn('cannot list', { error: new Error('no route to host'), count: 3 });
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d/, 'TIME'))).toEqual(['TIME WARN  cannot list  informer=pods  error="no route to host"  count=3\n']);
});

test('no escape sequence, line break or change of direction of a value or message reaches the terminal', () => {
  const lines: string[] = [];
  const log = textLog('info', (line) => lines.push(line));
  log.info('of\u001b]0;x\u0007 it\nnext', {
    a: '\u001b[2J',
    b: '\u009b31m',
    c: 'a\u202eb',
    d: '\u007f',
    e: new Error('\u0085'),
    f: 'ü',
    g: { h: '\u009b' },
    i: '',
  });
  const [line = ''] = lines;
  expect(line.slice(9)).toBe(
    'INFO  of\\u001b]0;x\\u0007 it\\nnext  a="\\u001b[2J"  b="\\u009b31m"  c="a\\u202eb"  d="\\u007f"  e="\\u0085"  f="ü"  g="{\\"h\\":\\"\\u009b\\"}"  i=""\n',
  );
});
