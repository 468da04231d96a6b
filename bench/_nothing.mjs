// A TLS server that does nothing: what the client, Node.js and this machine allow at the most, to compare with.
//   node bench/_nothing.mjs DATA_DIR   prints its port; answers 1 KB, or 12 MB for the path /list
import { readFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';

const pki = path.join(process.argv[2], 'pki');
const small = Buffer.alloc(1200, 'x');
const list = Buffer.alloc(12_000_000, 'x');
const server = https.createServer(
  { cert: readFileSync(path.join(pki, 'server.crt')), key: readFileSync(path.join(pki, 'server.key')) },
  (request, response) => {
    request
      .on('data', () => {})
      .on('end', () => {
        const body = request.url === '/list' ? list : small;
        response.writeHead(200, { 'content-length': body.length }).end(body);
      });
  },
);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
