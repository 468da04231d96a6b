#!/usr/bin/env node
// node scripts/generate/ec2.mjs MODEL: writes src/cloud/ec2/generated/model.ts, the parameters and answers of EC2's actions by their names on the wire.
// MODEL is botocore's data/ec2/2016-11-15/service-2.json or service-2.json.gz (package botocore, or Debian's python3-botocore). Nothing is run at build time:
// the file that it writes is committed.
import { readFileSync, writeFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { gunzipSync } from 'node:zlib';

/** What the endpoint answers. Any other action is an InvalidAction. */
const actions = `
  AttachVolume CopyVolumes CreateFleet CreateLaunchTemplate CreateSnapshot CreateTags CreateVolume DeleteLaunchTemplate DeleteSnapshot DeleteTags DeleteVolume
  DescribeAvailabilityZones DescribeImages DescribeInstances DescribeInstanceStatus DescribeInstanceTypeOfferings DescribeInstanceTypes DescribeLaunchTemplates
  DescribeRegions DescribeSecurityGroups DescribeSnapshots DescribeSpotPriceHistory DescribeSubnets DescribeTags DescribeVolumes DescribeVolumesModifications
  DescribeVolumeStatus DescribeVpcs DetachVolume ModifyVolume RunInstances TerminateInstances
`
  .trim()
  .split(/\s+/);

const [file] = argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/generate/ec2.mjs service-2.json[.gz]');
  exit(2);
}
const bytes = readFileSync(file);
const model = JSON.parse(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);

const upper = (name) => name.charAt(0).toUpperCase() + name.slice(1);
/** The ec2 protocol: queryName, or the location name with a capital. */
const inRequests = (name, { queryName, locationName }) => queryName ?? upper(locationName ?? name);
const inResponses = (name, { locationName }) => locationName ?? name;

/** Structures by name, each with its members by their name on the wire. */
function structures(roots, wireName) {
  const found = {};
  const typeOf = (name) => {
    const shape = model.shapes[name];
    if (shape.type === 'list') return `${typeOf(shape.member.shape)}[]`;
    if (shape.type !== 'structure') return shape.type;
    visit(name);
    return name;
  };
  const visit = (name) => {
    if (found[name] !== undefined) return;
    found[name] = {};
    for (const [member, reference] of Object.entries(model.shapes[name].members)) found[name][wireName(member, reference)] = typeOf(reference.shape);
  };
  for (const root of roots) visit(root);
  return found;
}

const of = (direction) => actions.flatMap((action) => model.operations[action][direction]?.shape ?? []);
const key = (name) => (/^[A-Za-z]\w*$/.test(name) ? name : JSON.stringify(name));
const print = (found) =>
  Object.keys(found)
    .sort()
    .map(
      (name) =>
        `  ${name}: {${Object.entries(found[name])
          .map(([member, type]) => ` ${key(member)}: '${type}'`)
          .join(',')} },`,
    )
    .join('\n');

const text = `// Written by scripts/generate/ec2.mjs from the published model of EC2, version ${model.metadata.apiVersion}. Do not edit: change the generator, and run it.
/* biome-ignore-all format: one structure a line */

/** Action → structure of its request and of its answer. */
export const actions: Readonly<Record<string, { readonly request: string; readonly response?: string; readonly required: readonly string[] }>> = {
${actions
  .map((action) => {
    const { input, output } = model.operations[action];
    const shape = model.shapes[input.shape];
    const required = (shape.required ?? []).map((name) => `'${inRequests(name, shape.members[name])}'`);
    return `  ${action}: { request: '${input.shape}',${output === undefined ? '' : ` response: '${output.shape}',`} required: [${required.join(', ')}] },`;
  })
  .join('\n')}
};

/** Structure → member, by its name in a request → type. A list ends with []. */
export const requests: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${print(structures(of('input'), inRequests))}
};

/** The same of answers, by the name of the element. */
export const responses: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${print(structures(of('output'), inResponses))}
};
`;
writeFileSync(new URL('../../src/cloud/ec2/generated/model.ts', import.meta.url), text);
