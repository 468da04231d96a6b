import { describe, expect, test } from 'vitest';
import { causeMessage } from '../../../../api/field-error.ts';
import { compareLevels, isEquivalent, levelVersionText, parseVersion, type Policy, policyToEvaluate, privileged } from './policy.ts';

const defaults: Policy = { enforce: privileged, audit: privileged, warn: privileged };
const strict: Policy = { enforce: { level: 'restricted', version: 20 }, audit: { level: 'baseline', version: 21 }, warn: { level: 'restricted', version: 22 } };

const prefixed = (labels: Record<string, string>) =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]));

/** 'enforce audit warn', and the errors. */
const evaluated = (labels: Record<string, string>, from = defaults) => {
  const { policy, errors } = policyToEvaluate(prefixed(labels), from);
  const texts = errors.map((error) => `${error.field.replace('pod-security.kubernetes.io/', '')}: ${causeMessage(error)}`);
  return [[policy.enforce, policy.audit, policy.warn].map(levelVersionText).join(' '), ...texts];
};

test('versions are latest or v1.N', () => {
  expect(['latest', 'v1.0', 'v1.36', 'v1.400'].map(parseVersion)).toEqual(['latest', 0, 36, 400]);
  for (const text of ['', 'v1', 'v1.', 'v1.01', 'v2.1', '1.20', 'v1.-1', 'v1.2.3', 'Latest', ' v1.2', `v1.${'9'.repeat(60)}`])
    expect(parseVersion(text)).toBe(undefined);
});

describe('the policy of a namespace', () => {
  test('without labels is the default', () => {
    expect(policyToEvaluate(undefined, strict)).toEqual({ policy: strict, errors: [] });
    expect(evaluated({}, strict)).toEqual(['restricted:v1.20 baseline:v1.21 restricted:v1.22']);
  });

  test('has a level and a version for each mode', () => {
    const labels = {
      enforce: 'baseline',
      'enforce-version': 'v1.30',
      audit: 'restricted',
      'audit-version': 'v1.29',
      warn: 'restricted',
      'warn-version': 'latest',
    };
    expect(evaluated(labels)).toEqual(['baseline:v1.30 restricted:v1.29 restricted:latest']);
    expect(evaluated({ 'audit-version': 'v1.3' }, strict)).toEqual(['restricted:v1.20 baseline:v1.3 restricted:v1.22']);
  });

  test('warns as strictly as it enforces, unless a label says otherwise', () => {
    expect(evaluated({ enforce: 'baseline', 'enforce-version': 'v1.30' })).toEqual(['baseline:v1.30 privileged:latest baseline:v1.30']);
    expect(evaluated({ enforce: 'baseline', 'warn-version': 'v1.5' })).toEqual(['baseline:latest privileged:latest baseline:v1.5']);
    expect(evaluated({ enforce: 'restricted', warn: 'privileged' })).toEqual(['restricted:latest privileged:latest privileged:latest']);
    expect(evaluated({ enforce: 'baseline' }, strict)).toEqual(['baseline:v1.20 baseline:v1.21 restricted:v1.22']);
    expect(evaluated({ 'enforce-version': 'v1.3' }, { ...strict, warn: privileged })).toEqual(['restricted:v1.3 baseline:v1.21 privileged:latest']);
  });

  test('is restricted where enforce is invalid, and privileged where audit or warn is', () => {
    expect(evaluated({ enforce: 'Baseline', audit: 'odd', warn: '', 'enforce-version': '1.2', 'audit-version': 'x', 'warn-version': 'v2.0' }, strict)).toEqual([
      'restricted:latest privileged:latest privileged:latest',
      'metadata.labels[enforce]: Invalid value: "Baseline": must be one of privileged, baseline, restricted',
      'metadata.labels[enforce-version]: Invalid value: "1.2": must be "latest" or "v1.x"',
      'metadata.labels[audit]: Invalid value: "odd": must be one of privileged, baseline, restricted',
      'metadata.labels[audit-version]: Invalid value: "x": must be "latest" or "v1.x"',
      'metadata.labels[warn]: Invalid value: "": must be one of privileged, baseline, restricted',
      'metadata.labels[warn-version]: Invalid value: "v2.0": must be "latest" or "v1.x"',
    ]);
    expect(evaluated({ enforce: 'odd' })[0]).toBe('restricted:latest privileged:latest privileged:latest');
  });
});

test('levels have an order; privileged of any version is the same', () => {
  expect(compareLevels('restricted', 'baseline')).toBeGreaterThan(0);
  expect(compareLevels('privileged', 'baseline')).toBeLessThan(0);
  expect(isEquivalent(defaults, { ...defaults, warn: { level: 'privileged', version: 3 } })).toBe(true);
  expect(isEquivalent(strict, { ...strict, warn: { level: 'restricted', version: 3 } })).toBe(false);
});
