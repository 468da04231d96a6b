/** The real aws CLI against the EC2 endpoint: what it sends is understood, what it is answered has EC2's fields, codes and texts. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenCloud, openCloud } from '../../src/cluster/cloud/open-cloud.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { awsProgram } from './aws-program.ts';

const run = promisify(execFile);
const aws = awsProgram();
const keys = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'se/cr+et' };
const quick = { median: 20, p99: 40 };
const latencies = {
  createVolume: quick,
  deleteVolume: quick,
  attach: quick,
  detach: quick,
  snapshot: quick,
  modify: quick,
  launch: quick,
  terminate: quick,
  call: quick,
};

let open: OpenCloud;
beforeAll(async () => {
  open = await openCloud(
    { region: 'eu-west-2', latencies, keys: new Map([[keys.AWS_ACCESS_KEY_ID, keys.AWS_SECRET_ACCESS_KEY]]) },
    createRealWorld({ logLevel: 'error' }),
  );
});
afterAll(async () => {
  await open.close();
  rmSync(home, { recursive: true, force: true });
});

const home = mkdtempSync(path.join(tmpdir(), 'aws-home-'));

const environment = () => ({
  PATH: process.env.PATH,
  HOME: home,
  AWS_ENDPOINT_URL: open.url,
  AWS_REGION: 'eu-west-2',
  AWS_DEFAULT_REGION: 'eu-west-2',
  AWS_MAX_ATTEMPTS: '1',
  AWS_PAGER: '',
  AWS_EC2_METADATA_DISABLED: 'true',
  ...keys,
});

/** Standard output, or standard error if it fails. */
async function cli(line: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  try {
    return (await run(aws ?? '', line.split(' '), { env: { ...environment(), ...more } })).stdout.trim();
  } catch (error) {
    return (error as { stderr: string }).stderr.trim();
  }
}

const json = async (line: string): Promise<Record<string, unknown>> => JSON.parse(await cli(`${line} --output json`)) as Record<string, unknown>;

if (aws === undefined) test('the aws CLI is not tested: scripts/setup could not install it', () => expect(aws).toBeUndefined());
else
  describe('the aws CLI', () => {
    test('the first command of the fourth document', async () => {
      expect(await cli('ec2 describe-availability-zones --query AvailabilityZones[0].ZoneName --output text')).toBe('eu-west-2a');
    });

    test('a volume and an instance, from their creation to their end, with the waiters of the CLI', async () => {
      const launched = await json('ec2 run-instances --instance-type m7g.xlarge --placement AvailabilityZone=eu-west-2a --count 1');
      const [instance] = (launched as { Instances: readonly { InstanceId: string; PrivateDnsName: string; State: object }[] }).Instances;
      expect(instance).toMatchObject({
        InstanceId: expect.stringMatching(/^i-[0-9a-f]{17}$/),
        PrivateDnsName: expect.stringMatching(/^ip-10-0-\d+-\d+\.eu-west-2\.compute\.internal$/),
        State: { Code: 0, Name: 'pending' },
        InstanceType: 'm7g.xlarge',
        Architecture: 'arm64',
        Placement: { AvailabilityZone: 'eu-west-2a' },
        BlockDeviceMappings: [],
      });
      const instanceId = instance?.InstanceId ?? '';
      const tags = JSON.stringify([
        {
          ResourceType: 'volume',
          Tags: [
            { Key: 'CSIVolumeName', Value: 'pvc-1' },
            { Key: 'a<b>&', Value: '"' },
          ],
        },
      ]);
      const volume = await json(`ec2 create-volume --availability-zone eu-west-2a --size 4 --volume-type gp3 --tag-specifications ${tags} --client-token t1`);
      expect(volume).toEqual({
        VolumeId: expect.stringMatching(/^vol-[0-9a-f]{17}$/),
        Size: 4,
        SnapshotId: '',
        AvailabilityZone: 'eu-west-2a',
        AvailabilityZoneId: 'euw2-az2',
        State: 'creating',
        CreateTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        Attachments: [],
        Tags: [
          { Key: 'CSIVolumeName', Value: 'pvc-1' },
          { Key: 'a<b>&', Value: '"' },
        ],
        VolumeType: 'gp3',
        Iops: 3000,
        Throughput: 125,
        Encrypted: false,
        MultiAttachEnabled: false,
      });
      const volumeId = String(volume.VolumeId);
      await cli(`ec2 wait instance-running --instance-ids ${instanceId}`);
      await cli(`ec2 wait volume-available --volume-ids ${volumeId}`);
      expect(await json(`ec2 attach-volume --volume-id ${volumeId} --instance-id ${instanceId} --device /dev/xvdaa`)).toEqual({
        VolumeId: volumeId,
        InstanceId: instanceId,
        Device: '/dev/xvdaa',
        State: 'attaching',
        AttachTime: expect.any(String),
        DeleteOnTermination: false,
      });
      await cli(`ec2 wait volume-in-use --volume-ids ${volumeId}`);
      expect(await cli(`ec2 delete-volume --volume-id ${volumeId}`)).toContain(
        `An error occurred (VolumeInUse) when calling the DeleteVolume operation: Volume ${volumeId} is currently attached to ${instanceId}`,
      );
      await expect.poll(() => open.cloud.state.volumes.get(volumeId)?.attachments[0]?.state).toBe('attached');
      await cli(`ec2 terminate-instances --instance-ids ${instanceId}`);
      await cli(`ec2 wait instance-terminated --instance-ids ${instanceId}`);
      expect(await cli(`ec2 describe-volumes --volume-ids ${volumeId} --query Volumes[0].State --output text`)).toBe('available');
      expect(await cli(`ec2 delete-volume --volume-id ${volumeId}`)).toBe('');
      await cli(`ec2 wait volume-deleted --volume-ids ${volumeId}`);
      expect(await cli(`ec2 describe-volumes --volume-ids ${volumeId}`)).toContain(
        `An error occurred (InvalidVolume.NotFound) when calling the DescribeVolumes operation: The volume '${volumeId}' does not exist.`,
      );
      expect(open.cloud.state.volumes.size).toBe(0);
    });

    test('who the caller is, wrong keys, another region, a dry run', async () => {
      expect(await json('sts get-caller-identity')).toEqual({ UserId: 'AKIATEST', Account: '123456789012', Arn: 'arn:aws:iam::123456789012:user/mooring' });
      expect(await cli('ec2 describe-volumes', { AWS_SECRET_ACCESS_KEY: 'wrong' })).toContain('(SignatureDoesNotMatch)');
      expect(await cli('ec2 describe-volumes --region us-east-1')).toContain(`Credential should be scoped to a valid region, not 'us-east-1'`);
      expect(await cli('ec2 describe-volumes --dry-run')).toContain(
        'An error occurred (DryRunOperation) when calling the DescribeVolumes operation: Request would have succeeded, but DryRun flag is set.',
      );
    });

    test('an action that the cloud does not have is refused', async () => {
      expect(await cli('ec2 describe-key-pairs')).toContain('(InvalidAction) when calling the DescribeKeyPairs operation');
    });
  });
