import { describe, expect, it } from 'vitest';
import type { RequestInfo } from '../../api/request-info.ts';
import type { User } from '../api.ts';
import { ConfigFileError } from '../configuration/config-file.ts';
import { evaluatePolicyRule } from './policy.ts';
import { readAuditPolicy } from './read-policy.ts';

const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const read = (text: string) => readAuditPolicy({ name: 'policy.yaml', bytes: Buffer.from(text) });
const policyOf = (rules: string) => read(`${head}rules:\n${rules}`).value;

const ann: User = { name: 'ann', groups: ['dev', 'system:authenticated'] };

function resource(verb: string, path: string): RequestInfo {
  const [group = '', version = '', namespace = '', whole = '', name = ''] = path.split(' ').map((part) => (part === '-' ? '' : part));
  const [kind = '', subresource = ''] = whole.split('/');
  return { type: 'resource', verb, group, version, namespace, resource: kind, subresource, name };
}

const getPod = resource('get', '- v1 default pods web');
const getLog = resource('get', '- v1 default pods/log web');
const getNode = resource('get', '- v1 - nodes n1');
const scale = resource('update', 'apps v1 default deployments/scale web');
const health: RequestInfo = { type: 'path', verb: 'get', path: '/healthz/ping' };

describe('which rule a request matches (v1.36.4)', () => {
  const cases: readonly [rule: string, matches: readonly RequestInfo[], not: readonly RequestInfo[]][] = [
    ['{level: Metadata}', [getPod, health, scale], []],
    ['{level: Metadata, users: [ann]}', [getPod, health], []],
    ['{level: Metadata, users: [bob]}', [], [getPod, health]],
    ['{level: Metadata, userGroups: [ops, dev]}', [getPod], []],
    ['{level: Metadata, userGroups: [ops]}', [], [getPod, health]],
    ['{level: Metadata, verbs: [update]}', [scale], [getPod, health]],
    ['{level: Metadata, namespaces: [default]}', [getPod, getLog, scale], [getNode, health]],
    ['{level: Metadata, namespaces: [""]}', [getNode], [getPod, health]],
    ['{level: Metadata, resources: [{group: ""}]}', [getPod, getLog, getNode], [scale, health]],
    ['{level: Metadata, resources: [{group: "*"}]}', [getPod, getLog, scale], [health]],
    ['{level: Metadata, resources: [{resources: [pods]}]}', [getPod], [getLog, getNode]],
    ['{level: Metadata, resources: [{resources: [pods/log]}]}', [getLog], [getPod]],
    // A surprise of Kubernetes' own: the resource itself is among its subresources.
    ['{level: Metadata, resources: [{resources: ["pods/*"]}]}', [getLog, getPod], [getNode]],
    ['{level: Metadata, resources: [{group: "*", resources: ["*/scale"]}]}', [scale], [getPod, getLog]],
    ['{level: Metadata, resources: [{resources: ["*"]}]}', [getPod, getLog, getNode], [scale]],
    ['{level: Metadata, resources: [{resources: [pods], resourceNames: [web]}]}', [getPod], [resource('get', '- v1 default pods db'), getLog]],
    ['{level: Metadata, nonResourceURLs: ["*"]}', [health], [getPod]],
    ['{level: Metadata, nonResourceURLs: ["/healthz*"]}', [health], [getPod, { type: 'path', verb: 'get', path: '/version' }]],
    ['{level: Metadata, nonResourceURLs: ["/healthz"]}', [], [health]],
  ];
  it.each(cases)('%s', (rule, matches, not) => {
    const policy = policyOf(`- ${rule}`);
    for (const info of matches) expect(evaluatePolicyRule(policy, ann, info)?.level).toBe('Metadata');
    for (const info of not) expect(evaluatePolicyRule(policy, ann, info)).toBeUndefined();
  });

  it('a user that is not authenticated matches no rule about users', () => {
    expect(evaluatePolicyRule(policyOf('- {level: Metadata, users: [ann]}'), undefined, getPod)).toBeUndefined();
    expect(evaluatePolicyRule(policyOf('- {level: Metadata, userGroups: [dev]}'), undefined, getPod)).toBeUndefined();
    expect(evaluatePolicyRule(policyOf('- {level: Metadata}'), undefined, getPod)?.level).toBe('Metadata');
  });

  it('the first rule counts, None included', () => {
    const policy = policyOf('- {level: None, verbs: [get]}\n- {level: Request, users: [ann]}\n- {level: Metadata}');
    expect(evaluatePolicyRule(policy, ann, getPod)).toBeUndefined();
    expect(evaluatePolicyRule(policy, ann, scale)?.level).toBe('Request');
    expect(evaluatePolicyRule(policy, { name: 'bob', groups: [] }, scale)?.level).toBe('Metadata');
  });

  it('stages are left out if the policy or the rule says so; of managedFields the rule has the last word', () => {
    const { value } = read(
      `${head}omitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n- {level: Metadata, verbs: [get], omitStages: [Panic], omitManagedFields: false}\n- {level: Metadata}`,
    );
    const first = evaluatePolicyRule(value, ann, getPod);
    expect([...(first?.omitStages ?? [])]).toEqual(['RequestReceived', 'Panic']);
    expect(first?.omitManagedFields).toBe(false);
    expect(evaluatePolicyRule(value, ann, scale)?.omitManagedFields).toBe(true);
  });
});

describe('a policy that cannot be meant', () => {
  const cases: readonly [what: string, text: string, message: string][] = [
    ['nothing', '', 'policy.yaml: wants a Policy of audit.k8s.io/v1, and holds no object'],
    ['no YAML', 'a: [', 'policy.yaml: yaml: line 1'],
    ['another kind', 'apiVersion: v1\nkind: Pod\n', 'wants "apiVersion: audit.k8s.io/v1" and "kind: Policy", and holds a Pod of v1'],
    ['an old version', 'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\n', 'and holds a Policy of audit.k8s.io/v1beta1'],
    ['no type', 'rules: []\n', 'and does not say what it holds'],
    ['no rules', head, 'rules: Required value'],
    ['no level', `${head}rules:\n- verbs: [get]\n`, 'rules[0].level: Required value'],
    [
      'an unknown level',
      `${head}rules:\n- level: All\n`,
      'rules[0].level: Unsupported value: "All": supported values: "Metadata", "None", "Request", "RequestResponse"',
    ],
    [
      'an unknown stage',
      `${head}rules:\n- level: None\n  omitStages: [Done]\n`,
      'rules[0].omitStages[0]: Invalid value: "Done": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
    ],
    [
      'resources and paths',
      `${head}rules:\n- {level: None, nonResourceURLs: [/a], namespaces: [b]}\n`,
      'rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
    [
      'a path without its slash',
      `${head}rules:\n- {level: None, nonResourceURLs: [a]}\n`,
      'rules[0].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin',
    ],
    ['a star in the middle', `${head}rules:\n- {level: None, nonResourceURLs: [/a/*/b]}\n`, "wildcards '*' must be the final character of the rule"],
    ['a group with its version', `${head}rules:\n- {level: None, resources: [{group: apps/v1}]}\n`, 'rules[0].resources[0].group: Invalid value: "apps/v1"'],
    [
      'names of nothing',
      `${head}rules:\n- {level: None, resources: [{resourceNames: [a]}]}\n`,
      'rules[0].resources[0].resourceNames: Invalid value: ["a"]: using resourceNames requires',
    ],
    ['a text for a list', `${head}rules:\n- {level: None, verbs: get}\n`, 'rules[0].verbs: must be a list of strings'],
    ['a list for an object', `${head}rules:\n- [a]\n`, 'rules[0]: must be an object'],
    ['a number for a text', `${head}rules:\n- {level: 7}\n`, 'rules[0].level: must be a string'],
  ];
  it.each(cases)('%s', (_what, text, message) => {
    expect(() => read(text)).toThrow(ConfigFileError);
    expect(() => read(text)).toThrow(message);
  });

  it('says everything that is wrong at once', () => {
    expect(() => read(`${head}rules:\n- {level: A}\n- {level: B}\n`)).toThrow(/rules\[0\].*rules\[1\]/);
  });

  it('warns of fields that mean nothing, as Kubernetes does', () => {
    expect(read(`${head}metadata: {name: x}\nrules:\n- {level: None, user: [ann]}\nomitstages: []\n`).warnings).toEqual([
      'unknown field "omitstages"',
      'unknown field "rules[0].user"',
    ]);
  });
});
