import { expect, test } from 'vitest';
import { type Store } from '../contract.ts';
import { everything, expectCode, record, write } from './expectations.ts';

export function describeClosing(its: () => Store): void {
  test('closing waits for the writes under way, then every call fails and every watch ends', async () => {
    const seen = record(its(), '/', 1);
    const writing = write(its(), { '/a': '1' });
    const closing = its().close();
    await expectCode(write(its(), { '/a': '2' }), 'closed');
    await closing;
    expect(await writing).toMatchObject({ revision: 2 });
    expect(await seen.ended).toMatchObject({ code: 'closed' });
    expect(seen.lines).toEqual(['2: put /a=1']);
    await expectCode(its().get('/a'), 'closed');
    await expectCode(its().range(everything), 'closed');
    await expectCode(its().compact(2), 'closed');
    expect(await record(its(), '/', 1).ended).toMatchObject({ code: 'closed' });
    await its().close();
  });
}
