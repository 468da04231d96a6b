import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseFlags, UsageError } from './command.ts';
import { privatePath } from './private-path.ts';
import { clusterOptions, upCommand } from './up.ts';

test('a path with keys or data is refused where containers see it', () => {
  expect(privatePath('data-dir', '/var/lib/mooring')).toBe('/var/lib/mooring');
  for (const file of ['/usr/share/x', '/usr/share/../lib/x', '/etc/ssl/certs/kubeconfig'])
    expect(() => privatePath('data-dir', file), file).toThrow(UsageError);
  expect(() => privatePath('kubeconfig', '/usr/local/share/x')).toThrow(
    '--kubeconfig must not be in /usr/local/share, which every container on this machine sees: /usr/local/share/x.',
  );
});

test('a link that leads there is refused too', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'moor-private-'));
  symlinkSync('/usr/share', path.join(directory, 'link'));
  expect(() => privatePath('data-dir', path.join(directory, 'link/not/there/yet'))).toThrow('--data-dir must not be in /usr/share');
  rmSync(directory, { recursive: true });
});

test.each(['data-dir', 'kubeconfig', 'bootstrap-kubeconfig', 'encryption-provider-config'])('moor up --%s', (flag) =>
  expect(() => clusterOptions(parseFlags(upCommand, [`--${flag}`, '/usr/lib/x']))).toThrow(`--${flag} must not be in /usr/lib`),
);
