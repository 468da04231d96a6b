import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { runMoor } from '../moor-process.ts';

let bash = '';
beforeAll(async () => {
  bash = (await runMoor('completion', 'bash')).stdout;
});

test.each([
  ['moor sto', ['stop', 'store']],
  ['moor up --runtime ', ['hollow', 'sandbox']],
  ['moor delete --y', ['--yes']],
  ['moor list -o ', ['text', 'json']],
  ['moor csi test -o ', ['text', 'json', 'junit']],
  ['moor store sn', ['snapshot']],
  ['moor help st', ['status', 'stop', 'store']],
  ['moor delete s', ['shop', 'spare']],
  ['moor why s', ['']],
])('bash completes "%s"', (line, expected) => {
  const words = line.split(' ');
  const clusters = "moor() { printf '%s\\n' 'NAME STATUS' 'mooring Running' 'shop Down' 'spare Down' '<none> Running'; }\n";
  const script = `${clusters}${bash}COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _moor; printf '%s\\n' "\${COMPREPLY[@]}"`;
  expect(spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split('\n')).toEqual(expected);
});

test('there are scripts for zsh and fish, and a clear answer for other shells', async () => {
  expect((await runMoor('completion', 'zsh')).stdout).toContain('#compdef moor');
  expect((await runMoor('completion', 'fish')).stdout).toContain("complete -c moor -n __fish_use_subcommand -f -a up -d 'start a cluster");
  expect(await runMoor('completion', 'powershell')).toMatchObject({
    code: 2,
    stderr: 'moor completion: there is none for "powershell", only for bash, zsh, fish\n',
  });
});
