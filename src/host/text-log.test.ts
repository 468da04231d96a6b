import { expect, test } from 'vitest';
import { textLog } from './text-log.ts';

test('a line has the level, the message and the fields; lines below the level are left out', () => {
  const lines: string[] = [];
  const log = textLog('warn', (line) => lines.push(line)).with({ informer: 'pods' });
  log.info('unseen');
  log.warn('cannot list', { error: new Error('no route to host'), count: 3 });
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d/, 'TIME'))).toEqual(['TIME WARN  cannot list  informer=pods  error="no route to host"  count=3\n']);
});
