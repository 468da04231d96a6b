import { describe, expect, test } from 'vitest';
import { parseFlags } from './command.ts';
import { clusterOptions, upCommand } from './up.ts';

describe('the runtime of pods', () => {
  const runtime = (...args: string[]): string | undefined => clusterOptions(parseFlags(upCommand, args)).runtime;

  test.each([
    [[], 'where-possible'],
    [['--nodes', '1'], 'where-possible'],
    [['--nodes', '2'], 'hollow'],
    [['--bare'], 'hollow'],
    [['--zones', 'a'], 'hollow'],
    [['--csi-drivers', 'disk.example.com'], 'hollow'],
    [['--runtime', 'hollow'], 'hollow'],
    [['--runtime', 'sandbox', '--nodes', '3', '--bare'], 'sandbox'],
  ])('%j: %s', (args, expected) => expect(runtime(...args)).toBe(expected));
});
