import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runMoor } from '../moor-process.ts';

test.each([
  ['moor sto', ['stop', 'store']],
  ['moor up --runtime ', ['hollow', 'sandbox']],
  ['moor delete --y', ['--yes']],
])('bash completes "%s"', async (line, expected) => {
  const { stdout } = await runMoor('completion', 'bash');
  const words = line.split(' ');
  const script = `${stdout}COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _moor; printf '%s\\n' "\${COMPREPLY[@]}"`;
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
