import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { HtmlLinks, rewriteLink } from './html-links.ts';

const prefix = '/api/v1/namespaces/default/pods/web/proxy';
const page = { prefix, backend: '10.0.0.7:80', host: 'localhost:8001' };

/** In chunks of so many bytes. */
async function rewritten(html: string, chunk = html.length): Promise<string> {
  const bytes = Buffer.from(html);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, i) => bytes.subarray(i * chunk, (i + 1) * chunk));
  return text(Readable.from(chunks).pipe(new HtmlLinks(page)));
}

describe('links of a page behind the proxy', () => {
  test.each([
    ['/a/b?c#d', `${prefix}/a/b?c#d`],
    ['/', `${prefix}/`],
    [`${prefix}/already`, `${prefix}/already`],
    ['a/b', 'a/b'],
    ['#top', '#top'],
    ['', ''],
    ['mailto:a@b', 'mailto:a@b'],
    ['https://elsewhere/a', 'https://elsewhere/a'],
    ['//elsewhere/a', '//elsewhere/a'],
    ['http://10.0.0.7:80/a', `${prefix}/a`],
    ['http://localhost:8001/a', `http://localhost:8001${prefix}/a`],
  ])('%s becomes %s', (link, expected) => {
    expect(rewriteLink(link, page)).toBe(expected);
  });

  const html = `<!DOCTYPE html><!-- <a href="/x"> --><A class=b HREF = "/x">1 < 2</a><img src='/x' alt="/x"><a href=/x><script src="/x">a = '<a href="/x">';</script><b href="/x">ä</b><a title=">" href="/x"`;
  const expected = `<!DOCTYPE html><!-- <a href="/x"> --><A class=b HREF = "${prefix}/x">1 < 2</a><img src='${prefix}/x' alt="/x"><a href=${prefix}/x><script src="${prefix}/x">a = '<a href="/x">';</script><b href="/x">ä</b><a title=">" href="/x"`;

  test('are rewritten in attributes of tags, and nowhere else', async () => {
    expect(await rewritten(html)).toBe(expected);
  });

  test('are the same however the page is cut', async () => {
    for (const chunk of [1, 2, 3, 7, 20]) expect(await rewritten(html, chunk), `${chunk} bytes`).toBe(expected);
  });

  test('are not waited for without end: a tag that is too long is passed on as it is', async () => {
    const long = `<a href="${'x'.repeat(200_000)}">`;
    const stream = new HtmlLinks(page);
    stream.write(long.slice(0, 150_000));
    expect((stream.read() as Buffer).length).toBeGreaterThan(80_000);
    expect(await rewritten(`${long}<a href="/x">`, 1000)).toBe(`${long}<a href="${prefix}/x">`);
  });

  const hostile = ['<a', '<a ', "<a '", '<a"', "<a x='", '<a =', '<a x="/b"', '<title></title>', '<script></script', '<!--', '<!-', '<', '<a href="/'];
  const work = async (html: string, chunk?: number): Promise<number> => {
    const before = process.cpuUsage().user;
    await rewritten(html, chunk);
    return process.cpuUsage().user - before;
  };

  test.each(hostile)('cost time in proportion to the page, also if it is made of %j', async (part) => {
    await work(part.repeat(20_000 / part.length));
    // In one chunk; the square of 1 MB would take minutes.
    expect(await work(part.repeat(1_000_000 / part.length))).toBeLessThan(5_000_000);
  });

  test.each(['<a', '<a href="', '<script> </script', '<!--'])('pass unchanged in chunks of one byte: %j and one long word', async (part) => {
    const html = part + 'x'.repeat(20_000);
    expect((await rewritten(html, 1)) === html).toBe(true);
  });
});
