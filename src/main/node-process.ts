import path from 'node:path';
import { type HttpAccess, HttpTransport } from '../machinery/http-transport.ts';
import { canSandbox } from '../node/sandbox/detect.ts';
import { firstSignal } from './first-signal.ts';
import { thisMachine } from './machine-facts.ts';
import { sandboxOn } from './real-sandbox.ts';
import { createRealWorld, type LogLevel } from './real-world.ts';
import { nodeDirectory, startAgentHere } from './sandbox-nodes.ts';
import { version } from './version.ts';

export interface NodeProcessOptions {
  readonly access: HttpAccess;
  readonly name: string;
  readonly podCidr: string;
  /** Where containers and volumes are. */
  readonly directory: string;
  readonly logLevel: LogLevel;
}

/** Is a node until a signal ends it. Resolves with the exit code. */
export async function runNodeProcess({ access, name, podCidr, directory, logLevel }: NodeProcessOptions): Promise<number> {
  const ability = canSandbox();
  if (!ability.can) {
    process.stderr.write(`moor node: pods cannot run here: ${ability.why}\n`);
    return 1;
  }
  const world = createRealWorld({ logLevel });
  const root = await nodeDirectory(directory);
  const host = await thisMachine({ name, podCidr, root });
  const runtime = sandboxOn(world, { root: path.join(root, 'sandbox'), podCidr, hidden: [root] });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (${name})` });
  const ended = firstSignal();
  const agent = await startAgentHere({ host, root, runtime }, { world, reader: transport, teller: transport, own: transport });
  const isReady = await Promise.race([agent.ready.then(() => true), ended.then(() => false)]);
  if (isReady) {
    process.stdout.write(`Node ${name} is ready: ${access.url}\n\n  data  ${root}\n\nCtrl-C stops it; its containers go on.\n`);
    await ended;
  }
  await agent.stop();
  transport.close();
  return 0;
}
