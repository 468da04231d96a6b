import { expect, test } from 'vitest';
import { signRequest } from '../../aws/signature-v4.ts';
import { simulate, type SimulatedWorld } from '../../sim/world/world.ts';
import { Cloud } from '../engine/cloud.ts';
import type { Fault } from '../engine/faults.ts';
import { actions } from './generated/model.ts';
import { Ec2Endpoint } from './endpoint.ts';

const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };

interface Client {
  readonly cloud: Cloud;
  readonly world: SimulatedWorld;
  /** Status and body. */
  readonly call: (parameters: Readonly<Record<string, string | number>>, changes?: Changes) => Promise<{ status: number; body: string }>;
}

interface Changes {
  readonly region?: string;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Options {
  readonly faults?: readonly Fault[];
  readonly checksSignatures?: boolean;
}

const withEndpoint = (run: (client: Client) => Promise<void>, { faults = [], checksSignatures = false }: Options = {}): Promise<void> =>
  simulate(1, async (world) => {
    const cloud = new Cloud({ world, region: 'eu-west-2', faults });
    const keys = checksSignatures ? new Map([[credentials.accessKeyId, credentials.secretAccessKey]]) : undefined;
    const endpoint = new Ec2Endpoint({ cloud, keys, newRequestId: () => 'request-1', now: () => world.clock.now() });
    const call: Client['call'] = async (parameters, { region = 'eu-west-2', secret = credentials.secretAccessKey, headers = {}, body } = {}) => {
      const all: Readonly<Record<string, string | number>> = { Version: '2016-11-15', ...parameters };
      const text = new URLSearchParams(Object.entries(all).map(([name, value]): [string, string] => [name, String(value)])).toString();
      const request = { method: 'POST', path: '/', headers: { host: 'localhost' }, body: text };
      const signed = signRequest(request, { credentials: { ...credentials, secretAccessKey: secret }, region, service: 'ec2', now: world.clock.now() });
      return endpoint.handle({ ...request, headers: { ...signed, ...headers }, body: body ?? text });
    };
    await run({ cloud, world, call });
    cloud.close();
  });

const element = (body: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(body)?.[1] ?? '';

test('the zones of the region, in order, as EC2 writes them', () =>
  withEndpoint(async ({ call }) => {
    const { status, body } = await call({ Action: 'DescribeAvailabilityZones' });
    expect(status).toBe(200);
    expect(body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<DescribeAvailabilityZonesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>request-1</requestId>' +
        `<availabilityZoneInfo>${[
          ['a', 2],
          ['b', 3],
          ['c', 1],
        ]
          .map(
            ([letter, number]) =>
              `<item><zoneName>eu-west-2${letter}</zoneName><zoneState>available</zoneState><regionName>eu-west-2</regionName><zoneId>euw2-az${number}</zoneId>` +
              '<groupName>eu-west-2-zg-1</groupName><networkBorderGroup>eu-west-2</networkBorderGroup><zoneType>availability-zone</zoneType>' +
              '<optInStatus>opt-in-not-required</optInStatus><messageSet></messageSet></item>',
          )
          .join('')}</availabilityZoneInfo></DescribeAvailabilityZonesResponse>`,
    );
  }));

test('every action of the table is there, and answers its description', () =>
  withEndpoint(async ({ call }) => {
    for (const Action of Object.keys(actions).filter((name) => name.startsWith('Describe'))) {
      const { status, body } = await call({ Action });
      expect([Action, status], body).toEqual([Action, 200]);
    }
    for (const Action of Object.keys(actions).filter((name) => !name.startsWith('Describe'))) {
      const { body } = await call({ Action });
      expect([Action, element(body, 'Code')]).toEqual([Action, expect.stringMatching(/^(MissingParameter|UnsupportedOperation)$/)]);
    }
  }));

test.each([
  [{ Action: 'EatVolume' }, 400, 'InvalidAction', 'The action EatVolume is not valid for this web service.'],
  [{ Action: 'constructor' }, 400, 'InvalidAction', 'The action constructor is not valid for this web service.'],
  [{}, 400, 'MissingAction', 'The request is missing an action.'],
  [{ Action: 'DescribeVolumes', Version: '2014-01-01' }, 400, 'InvalidAction', 'The action DescribeVolumes is not valid for this web service.'],
  [{ Action: 'DescribeVolumes', Colour: 'red' }, 400, 'UnknownParameter', 'The parameter Colour is not recognized'],
  [{ Action: 'DescribeVolumes', 'Filter.1.Nam': 'a' }, 400, 'UnknownParameter', 'The parameter Filter.1.Nam is not recognized'],
  [{ Action: 'DescribeVolumes', constructor: 'a' }, 400, 'UnknownParameter', 'The parameter constructor is not recognized'],
  [
    { Action: 'DescribeVolumes', 'Filter.1.Name': 'status', 'Filter.1.Value.1': '*'.repeat(256) },
    400,
    'InvalidParameterValue',
    'A value of the filter status has more than 255 characters',
  ],
  [{ Action: 'DescribeVolumes', 'VolumeId.x': 'a' }, 400, 'UnknownParameter', 'The parameter VolumeId.x is not recognized'],
  [{ Action: 'DescribeVolumes', 'Filter.1.Name': 'taste', 'Filter.1.Value.1': 'a' }, 400, 'InvalidParameterValue', 'The filter &apos;taste&apos; is invalid'],
  [
    { Action: 'DescribeVolumes', 'VolumeId.1': 'vol-0123456789abcdef0' },
    400,
    'InvalidVolume.NotFound',
    'The volume &apos;vol-0123456789abcdef0&apos; does not exist.',
  ],
  [
    { Action: 'DescribeVolumes', 'VolumeId.1': '<b>&' },
    400,
    'InvalidParameterValue',
    'Value (&lt;b&gt;&amp;) for parameter volumes is invalid. Expected: &apos;vol-...&apos;.',
  ],
  [
    { Action: 'DescribeVolumes', MaxResults: 3 },
    400,
    'InvalidParameterValue',
    'Value ( 3 ) for parameter maxResults is invalid. Expecting a value greater than 5.',
  ],
  [{ Action: 'DescribeVolumes', MaxResults: 'many' }, 400, 'InvalidParameterValue', 'Invalid value &apos;many&apos; for MaxResults: it must be a number'],
  [{ Action: 'DescribeVolumes', NextToken: '%%' }, 400, 'InvalidNextToken', 'The token &apos;%%&apos; is invalid'],
  [{ Action: 'CreateVolume', Size: 1 }, 400, 'MissingParameter', 'The request must contain the parameter AvailabilityZone'],
  [{ Action: 'CreateVolume', AvailabilityZone: 'eu-west-2a' }, 400, 'MissingParameter', 'The request must contain the parameter size/snapshot'],
  [
    { Action: 'CreateVolume', AvailabilityZone: 'eu-west-2a', Size: 1, OutpostArn: 'arn:a' },
    400,
    'UnsupportedOperation',
    'The parameter OutpostArn is not supported by this cloud',
  ],
  [
    { Action: 'RunInstances', MinCount: 1, MaxCount: 1, 'InstanceMarketOptions.MarketType': 'spot', 'InstanceMarketOptions.SpotOptions.MaxPrice': '0.01' },
    400,
    'UnsupportedOperation',
    'The parameter InstanceMarketOptions.SpotOptions.MaxPrice is not supported by this cloud',
  ],
  [
    { Action: 'CreateVolume', AvailabilityZone: 'eu-west-2a', Size: 1, DryRun: 'true' },
    412,
    'DryRunOperation',
    'Request would have succeeded, but DryRun flag is set.',
  ],
  [{ Action: 'AttachVolume', VolumeId: 'vol-1' }, 400, 'MissingParameter', 'The request must contain the parameter Device'],
  [
    { Action: 'CreateTags', 'ResourceId.1': 'vol-1', 'Tag.1.Key': 'aws:a' },
    400,
    'InvalidParameterValue',
    'Tag keys starting with &apos;aws:&apos; are reserved for internal use',
  ],
])('%j is refused', (parameters, status, code, message) =>
  withEndpoint(async ({ call, cloud }) => {
    const answer = await call(parameters);
    expect(answer).toMatchObject({ status });
    expect(answer.body).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>request-1</RequestID></Response>`,
    );
    expect(cloud.state.volumes.size).toBe(0);
  }),
);

test('characters that XML cannot have come back as the replacement character, and all others as they are', () =>
  withEndpoint(async ({ call }) => {
    const { body } = await call({
      Action: 'CreateVolume',
      AvailabilityZone: 'eu-west-2a',
      Size: 1,
      'TagSpecification.1.ResourceType': 'volume',
      'TagSpecification.1.Tag.1.Key': ']]><a/>&',
      'TagSpecification.1.Tag.1.Value': 'a\u0000b"\u{1f600}\r',
    });
    expect(body).toContain('<key>]]&gt;&lt;a/&gt;&amp;</key><value>a\ufffdb&quot;\u{1f600}&#13;</value>');
  }));

test('pages and filters', () =>
  withEndpoint(async ({ call, world }) => {
    for (let i = 0; i < 12; i++) {
      const tags = {
        'TagSpecification.1.ResourceType': 'volume',
        'TagSpecification.1.Tag.1.Key': 'CSIVolumeName',
        'TagSpecification.1.Tag.1.Value': `pvc-${i}`,
      };
      await call({ Action: 'CreateVolume', AvailabilityZone: 'eu-west-2a', Size: i + 1, ...tags });
    }
    await world.sleep(60_000);
    const ids: string[] = [];
    let token = '';
    do {
      const { body } = await call({ Action: 'DescribeVolumes', MaxResults: 5, ...(token === '' ? {} : { NextToken: token }) });
      ids.push(...Array.from(body.matchAll(/<volumeId>(vol-[^<]*)/g), ([, id = '']) => id));
      token = element(body, 'nextToken');
    } while (token !== '');
    expect(new Set(ids).size).toBe(12);
    const found = async (filter: Readonly<Record<string, string>>) => {
      const { body } = await call({ Action: 'DescribeVolumes', ...filter });
      return Array.from(body.matchAll(/<value>pvc-(\d+)/g), ([, number]) => Number(number)).sort((a, b) => a - b);
    };
    expect(await found({ 'Filter.1.Name': 'tag:CSIVolumeName', 'Filter.1.Value.1': 'pvc-1*' })).toEqual([1, 10, 11]);
    expect(await found({ 'Filter.1.Name': 'tag:CSIVolumeName', 'Filter.1.Value.1': 'pvc-?' })).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await found({ 'Filter.1.Name': 'size', 'Filter.1.Value.1': '3', 'Filter.1.Value.2': '4' })).toEqual([2, 3]);
    expect(await found({ 'Filter.1.Name': 'size', 'Filter.1.Value.1': '3', 'Filter.2.Name': 'status', 'Filter.2.Value.1': 'in-use' })).toEqual([]);
  }));

test('signatures are checked where keys are set', () =>
  withEndpoint(
    async ({ call }) => {
      const codeOf = async (changes: Changes) => {
        const { status, body } = await call({ Action: 'DescribeRegions' }, changes);
        return `${status} ${element(body, 'Code')}`;
      };
      expect(await codeOf({})).toBe('200 ');
      expect(await codeOf({ secret: 'wrong' })).toBe('403 SignatureDoesNotMatch');
      expect(await codeOf({ body: 'Action=DescribeVpcs&Version=2016-11-15' })).toBe('403 SignatureDoesNotMatch');
      expect(await codeOf({ region: 'us-east-1' })).toBe('403 SignatureDoesNotMatch');
      expect(await codeOf({ headers: { authorization: 'Basic YQ==' } })).toBe('400 IncompleteSignature');
      expect(await codeOf({ headers: { 'x-amz-date': '20250101T000000Z' } })).toBe('400 RequestExpired');
      const scope = 'AWS4-HMAC-SHA256 Credential=OTHER/20260101/eu-west-2/ec2/aws4_request, SignedHeaders=host;x-amz-date, Signature=';
      expect(await codeOf({ headers: { authorization: `${scope}${'0'.repeat(64)}` } })).toBe('401 AuthFailure');
    },
    { checksSignatures: true },
  ));

test('GetCallerIdentity of STS', () =>
  withEndpoint(async ({ call }) => {
    const { status, body } = await call({ Action: 'GetCallerIdentity', Version: '2011-06-15' });
    expect([status, element(body, 'Account'), element(body, 'UserId')]).toEqual([200, '123456789012', 'AKID']);
  }));

test('throttled calls have status 503, and calls into a dark zone 500', () =>
  withEndpoint(
    async ({ call }) => {
      const throttled = await call({ Action: 'DescribeVolumes' });
      expect([throttled.status, element(throttled.body, 'Code')]).toEqual([503, 'RequestLimitExceeded']);
      const dark = await call({ Action: 'CreateVolume', AvailabilityZone: 'eu-west-2b', Size: 1 });
      expect([dark.status, element(dark.body, 'Code')]).toEqual([500, 'InternalError']);
    },
    {
      faults: [
        { fault: 'throttling', actions: ['DescribeVolumes'] },
        { fault: 'dark-zone', zone: 'eu-west-2b' },
      ],
    },
  ));
