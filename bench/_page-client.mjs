// What an open page of the dashboard asks of the server, without a browser: its watches over one HTTP/2 connection, and the overview of explanations
// after changes, as rarely as the page does (src/dashboard/page/state/).
import { connect } from 'node:http2';

const watched = [
  '/api/v1/persistentvolumeclaims',
  '/api/v1/persistentvolumes',
  '/api/v1/pods',
  '/apis/storage.k8s.io/v1/volumeattachments',
  '/api/v1/nodes',
  '/apis/storage.k8s.io/v1/csinodes',
  '/apis/storage.k8s.io/v1/storageclasses',
  '/apis/storage.k8s.io/v1/csidrivers',
];
const restMs = 2000;
const restFactor = 30;

export async function openPageClient(origin, { cookie, token }) {
  const session = connect(origin, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  const headers = { cookie, 'mooring-session': token };
  let changed = false;
  const get = (path, onData) =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': path, ...headers });
      const chunks = [];
      stream.on('data', (chunk) => (onData === undefined ? chunks.push(chunk) : onData(chunk)));
      stream.on('end', () => resolve(Buffer.concat(chunks).toString()));
      stream.on('error', reject);
    });
  for (const path of watched) {
    const { metadata } = JSON.parse(await get(path));
    const follow = get(`${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`, () => {
      changed = true;
    });
    follow.catch(() => undefined);
  }
  const explain = async () => {
    while (!session.destroyed) {
      const began = performance.now();
      if (changed) {
        changed = false;
        await get('/apis/mooring.dev/v1/explanations?resourceVersion=0').catch(() => undefined);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(restMs, (performance.now() - began) * restFactor)));
    }
  };
  void explain();
  return { close: () => session.destroy() };
}
