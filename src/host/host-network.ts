import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import type { HostNetwork } from '../world/host-network.ts';

export const realHostNetwork: HostNetwork = {
  nft: (commands) => run(['nft', '-f', '-'], commands),
  ip: (commands) => run(['ip', '-force', '-batch', '-'], commands),
  bridge: (commands) => run(['bridge', '-force', '-batch', '-'], commands),
  conntrack: (args) => run(['conntrack', ...args], '').then((said) => (/ 0 flow entries have been deleted/.test(said) ? '' : said)),
  sysctl: (name) =>
    readFile(`/proc/sys/${name}`, 'utf8').then(
      (text) => text.trim(),
      () => undefined,
    ),
  setSysctl: (name, value) =>
    writeFile(`/proc/sys/${name}`, value).then(
      () => '',
      (error: Error) => error.message,
    ),
};

/** The names of all links of this process's network namespace, which /sys/class/net need not show. */
export const networkLinks = async (): Promise<readonly string[]> =>
  (await readFile('/proc/net/dev', 'utf8').catch(() => '')).split('\n').flatMap((line) => /^\s*([^\s:]+):/.exec(line)?.[1] ?? []);

/** A program that hangs is killed: the next change would wait for it. */
const longestMs = 30_000;
const mostErrors = 4096;

function run([program = '', ...args]: readonly string[], input: string): Promise<string> {
  return new Promise((resolve) => {
    const env = { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, LC_ALL: 'C' };
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'], cwd: '/', env, timeout: longestMs, killSignal: 'SIGKILL' });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      if (errors.length < mostErrors) errors += chunk.toString();
    });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code === 0 ? '' : errors.trim() || `${program} ended with ${code ?? signal}`));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
