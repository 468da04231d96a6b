/** ebs.csi.aws.com on a simulated cloud: the driver of `moor up --cloud aws`, through the EC2 endpoint, in a process that can die. */
import { createHash } from 'node:crypto';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { Ec2Endpoint, type HttpAnswer } from '../../cloud/ec2/endpoint.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import { ebsDriver } from '../../drivers/aws-ebs/driver.ts';
import { Ec2Client } from '../../drivers/aws-ebs/ec2-client.ts';
import type { World } from '../../world/world.ts';
import type { SimulatedProcess } from '../world/process.ts';

export interface SimulatedEbsOptions {
  readonly cloud: Cloud;
  /** In which the driver runs: what it asked for takes effect, though it may not live to see the answer. */
  readonly process: SimulatedProcess;
  /** With the clock of the process. */
  readonly world: World;
  /** Told of every answer. */
  readonly onCall?: ((call: Ec2Call) => void) | undefined;
}

export interface Ec2Call {
  readonly form: URLSearchParams;
  readonly answer: HttpAnswer;
}

const host = 'ec2.simulated';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export function simulatedEbsDriver({ cloud, process, world, onCall }: SimulatedEbsOptions): VolumeDriver {
  const endpoint = new Ec2Endpoint({ cloud, now: () => world.clock.now(), newRequestId: () => world.random.uuid() });
  const client = new Ec2Client({
    world,
    host,
    region: cloud.region.name,
    credentials: () => ({ accessKeyId: 'simulation', secretAccessKey: 'simulation' }),
    transport: async ({ headers, body }) => {
      const answer = await settled(endpoint.handle({ method: 'POST', path: '/', headers, body }));
      if ('error' in (await process.untilResumed(answer))) throw (answer as Failed).error;
      const { value } = answer as Answered;
      onCall?.({ form: new URLSearchParams(body), answer: value });
      return value;
    },
  });
  return ebsDriver({ world, client, sha256 });
}

interface Answered {
  readonly value: HttpAnswer;
}
interface Failed {
  readonly error: unknown;
}

/** A rejection would reach a process that is dead. */
const settled = (answer: Promise<HttpAnswer>): Promise<Answered | Failed> =>
  answer.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
