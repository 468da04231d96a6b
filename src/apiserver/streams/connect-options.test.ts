import { expect, test } from 'vitest';
import { execOptions } from '../../streams/options.ts';
import { connectOptions } from './connect-options.ts';

test.each(['command=sh&stdin=&tty=', 'command=sh', 'command=sh&stdin=1&stdout=0', 'command=sh&stdin=FALSE&tty=true'])(
  'admission sees of %s what is executed',
  (text) => {
    const query = new URLSearchParams(text);
    const info = {
      type: 'resource',
      verb: 'create',
      group: '',
      version: 'v1',
      resource: 'pods',
      namespace: 'default',
      name: 'web',
      subresource: 'exec',
    } as const;
    const { kind, ...seen } = connectOptions(info, query);
    const executed = Object.fromEntries(Object.entries(execOptions(query)).filter(([, value]) => value !== false));
    expect(kind).toBe('PodExecOptions');
    expect(seen).toEqual(executed);
  },
);
