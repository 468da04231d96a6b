// A TLS server that only keeps request bodies in memory: the upper limit that the client, Node.js and this machine allow, for comparison. No
// validation, no revisions, no disk, no controllers.
//   node bench/_nothing.mjs DATA_DIR   prints its port; DATA_DIR: the data directory of a `moor up`, for its certificates
import { readFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';

const pki = path.join(process.argv[2], 'pki');
const objects = new Map();
const watches = new Set();
const empty = Buffer.from('{}');

const answers = {
  POST(target, body) {
    const object = JSON.parse(body);
    const bytes = Buffer.from(JSON.stringify(object));
    objects.set(`${target}/${object.metadata.name}`, bytes);
    for (const watch of watches) watch.write(`{"type":"ADDED","object":${String(bytes)}}\n`);
    return bytes;
  },
  GET(target) {
    if (!target.endsWith('s')) return objects.get(target) ?? empty;
    const items = [...objects].filter(([key]) => key.startsWith(`${target}/`)).map(([, bytes]) => bytes);
    return items.length === 0 ? (objects.get(target) ?? empty) : Buffer.from(`{"items":[${items.join(',')}]}`);
  },
  PATCH(target, body) {
    const object = JSON.parse(objects.get(target) ?? empty);
    Object.assign((object.data ??= {}), JSON.parse(body).data);
    const bytes = Buffer.from(JSON.stringify(object));
    objects.set(target, bytes);
    return bytes;
  },
  DELETE(target) {
    const bytes = objects.get(target) ?? empty;
    objects.delete(target);
    return bytes;
  },
};

const server = https.createServer(
  { cert: readFileSync(path.join(pki, 'server.crt')), key: readFileSync(path.join(pki, 'server.key')) },
  (request, response) => {
    const chunks = [];
    request
      .on('data', (chunk) => chunks.push(chunk))
      .on('end', () => {
        const [target, query = ''] = request.url.split('?');
        if (query.includes('watch=true')) {
          watches.add(response.writeHead(200, { 'content-type': 'application/json' }));
          response.flushHeaders();
          response.once('close', () => watches.delete(response));
          return;
        }
        const bytes = answers[request.method](target, Buffer.concat(chunks));
        response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
      });
  },
);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
