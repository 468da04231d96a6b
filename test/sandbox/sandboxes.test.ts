import { afterAll, expect, test } from 'vitest';
import { groupOf } from '../../src/node/runtimes/sandbox/shim/layout.ts';
import { processesOf } from '../../src/node/runtimes/sandbox/shim/processes.ts';
import { containersOf } from './containers.ts';
import { describeWithSandboxes, type Machine, sandboxMachine } from './sandboxes.ts';

describeWithSandboxes('a machine of tests', () => {
  let machine: Machine | undefined;
  afterAll(() => machine?.dispose());

  test('leaves no process of a container behind, whatever its user', async () => {
    machine = await sandboxMachine();
    const runtime = machine.agent();
    await runtime.recover();
    const containers = containersOf(machine, runtime);
    const processes = () => processesOf(groupOf(machine?.root ?? '')).size;
    expect(processes()).toBe(0);
    const other = { user: { uid: 1234, gid: 1234, groups: [] } };
    let least = 0;
    for (const over of [{}, other, { ...other, hostPid: true }, { ...other, noNewPrivileges: true }]) {
      const { id } = await containers.start({ command: ['sleep', 'infinity'], args: [], ...over });
      expect(await runtime.exec(id, { command: ['sleep', 'infinity'], stdin: false, tty: false })).toMatchObject({ ok: true });
      least += 2;
    }
    await expect.poll(processes, patience).toBeGreaterThanOrEqual(least);
    await machine.dispose();
    await expect.poll(processes, patience).toBe(0);
  });
});

const patience = { timeout: 60_000 };
