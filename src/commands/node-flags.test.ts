import { describe, expect, test } from 'vitest';
import { parseFlags, UsageError } from './command.ts';
import { nodeOptions } from './node-flags.ts';
import { nodeSettings, NodeSettingsError } from '../cluster/nodes/node-settings.ts';
import { upCommand } from './up.ts';

const given = (...args: string[]) => nodeOptions(parseFlags(upCommand, args));

describe('flags about nodes', () => {
  test('none: the defaults hold', () => expect(given()).toEqual({}));

  test('all of them', () =>
    expect(
      given('--nodes', '5', '--zones', 'a, b', '--region', 'r', '--node-capacity', 'cpu=2,memory=4Gi', '--volume-limit', '3', '--csi-drivers', 'x.io,y.io'),
    ).toEqual({
      count: 5,
      zones: ['a', 'b'],
      region: 'r',
      capacity: { cpu: '2', memory: '4Gi' },
      volumeLimit: 3,
      csiDrivers: ['x.io', 'y.io'],
    }));

  test.each([
    [['--nodes', 'many'], '--nodes must be a whole number, not "many"'],
    [['--nodes', '-1'], '--nodes'],
    [['--nodes', '9000'], 'the number of nodes must be from 0 to 8192, not 9000'],
    [['--zones', 'a,,b'], '"" is not a valid zone'],
    [['--zones', 'über'], '"über" is not a valid zone'],
    [['--node-capacity', 'cpu'], '--node-capacity must be RESOURCE=QUANTITY,…, such as cpu=8,memory=32Gi, not "cpu"'],
    [['--node-capacity', 'cpu=lots'], '"lots" is not a valid quantity of cpu'],
    [['--node-capacity', 'cpu=-1'], '"-1" is not a valid quantity of cpu'],
    [['--node-capacity', 'pods=1.5'], '"1.5" is not a valid quantity of pods'],
    [['--node-capacity', 'pods=5000'], 'a node has at most 1000 pods, not 5000'],
    [['--node-capacity', 'gpu=1'], '"gpu" is not a valid resource name'],
    [['--volume-limit', 'x'], '--volume-limit must be a whole number'],
    [['--csi-drivers', 'kubernetes.io/host-path'], '"kubernetes.io/host-path" is not a valid CSI driver name'],
  ])('%j is refused: %s', (args, message) => {
    expect(() => given(...args)).toThrow(UsageError);
    expect(() => given(...args)).toThrow(message);
  });
});

describe('the nodes of a cluster', () => {
  test('are three in three zones, unless the cluster is bare', () => {
    expect(nodeSettings()).toMatchObject({ count: 3, zones: ['zone-a', 'zone-b', 'zone-c'], drivers: ['hollow.csi.mooring.dev'], volumeLimit: undefined });
    expect(nodeSettings({}, true).count).toBe(0);
    expect(nodeSettings({ count: 2 }, true).count).toBe(2);
  });

  test('have the default capacity of resources that are not given', () =>
    expect(nodeSettings({ capacity: { cpu: '1', 'example.com/gpu': '2' } }).capacity).toEqual({
      cpu: '1',
      memory: '32Gi',
      'ephemeral-storage': '100Gi',
      pods: '110',
      'example.com/gpu': '2',
    }));

  test.each([{ count: 1.5 }, { count: -1 }, { volumeLimit: -1 }, { volumeLimit: 2 ** 31 }, { region: 'no region' }])('cannot be %j', (options) =>
    expect(() => nodeSettings(options)).toThrow(NodeSettingsError),
  );
});
