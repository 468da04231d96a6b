import { describe, expect, it } from 'vitest';
import type { NodeSelectorTerm } from '../../api/generated/types.ts';
import { matchesNode, nodeTermsOf, topologyLabelsOf, topologyAllows } from './topology.ts';

const zone = (operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key: 'zone', operator, ...(values.length > 0 ? { values } : {}) }],
});
const named = (operator: string, ...values: string[]): NodeSelectorTerm => ({ matchFields: [{ key: 'metadata.name', operator, values }] });
const matches = (terms: NodeSelectorTerm[] | null, labels: Record<string, string>, name?: string) =>
  matchesNode(nodeTermsOf({ nodeSelectorTerms: terms }), { labels, ...(name === undefined ? {} : { name }) });

describe('node selectors', () => {
  it.each([
    ['In', zone('In', 'a', 'b'), { zone: 'b' }, true],
    ['In, other value', zone('In', 'a', 'b'), { zone: 'c' }, false],
    ['NotIn', zone('NotIn', 'a'), { zone: 'b' }, true],
    ['NotIn, label missing', zone('NotIn', 'a'), {}, true],
    ['Exists', zone('Exists'), { zone: '' }, true],
    ['Exists, label missing', zone('Exists'), {}, false],
    ['DoesNotExist', zone('DoesNotExist'), {}, true],
    ['Gt', zone('Gt', '5'), { zone: '10' }, true],
    ['Gt, equal', zone('Gt', '5'), { zone: '5' }, false],
    ['Lt', zone('Lt', '5'), { zone: '-1' }, true],
    ['Lt, no number', zone('Lt', '5'), { zone: 'x' }, false],
  ])('%s', (_, term, labels: Record<string, string>, expected) => {
    expect(matches([term], labels)).toBe(expected);
  });

  it('takes the terms as alternatives and the expressions of one term together', () => {
    const both: NodeSelectorTerm = {
      matchExpressions: [
        { key: 'zone', operator: 'In', values: ['a'] },
        { key: 'ssd', operator: 'Exists' },
      ],
    };
    expect(matches([both], { zone: 'a' })).toBe(false);
    expect(matches([both, zone('In', 'a')], { zone: 'a' })).toBe(true);
  });

  it('lets an empty term, no term, and a term that makes no sense match no node', () => {
    expect(matches([{}], {})).toBe(false);
    expect(matches([], {})).toBe(false);
    expect(matches(null, {})).toBe(false);
    expect(matches([zone('Near', 'a')], { zone: 'a' })).toBe(false);
    expect(matches([zone('In')], {})).toBe(false);
    expect(matches([zone('Near', 'a'), zone('In', 'a')], { zone: 'a' })).toBe(true);
  });

  it('compares the name of a node, if it is known', () => {
    expect(matches([named('In', 'n1')], {}, 'n1')).toBe(true);
    expect(matches([named('In', 'n1')], {}, 'n2')).toBe(false);
    expect(matches([named('NotIn', 'n1')], {}, 'n2')).toBe(true);
    expect(matches([named('In', 'n1')], {})).toBe(true);
  });
});

describe('allowed topologies', () => {
  const allowed = [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }];
  it('allow every node if there are none', () => {
    expect(topologyAllows(undefined, {})).toBe(true);
    expect(topologyAllows([], {})).toBe(true);
  });
  it('allow the nodes that one of them names, and an empty one allows none', () => {
    expect(topologyAllows(allowed, { zone: 'b' })).toBe(true);
    expect(topologyAllows(allowed, { zone: 'c' })).toBe(false);
    expect(topologyAllows([{}], { zone: 'a' })).toBe(false);
    expect(topologyAllows([{}, ...allowed], { zone: 'a' })).toBe(true);
  });
});

describe('topology labels', () => {
  const key = 'topology.kubernetes.io/zone';
  const region = 'topology.kubernetes.io/region';
  const at = (...terms: NodeSelectorTerm[]) => topologyLabelsOf({ required: { nodeSelectorTerms: terms } });
  const zones = (...values: string[]) => ({ key, operator: 'In', values });

  it('are the zone and the region, whatever else the affinity says', () => {
    const expressions = [zones('a'), { key: region, operator: 'In', values: ['r'] }, { key: 'rack', operator: 'In', values: ['1'] }];
    expect(at({ matchExpressions: expressions })).toEqual({ [key]: 'a', [region]: 'r' });
  });

  it('join several zones, each once and in order', () => {
    expect(at({ matchExpressions: [zones('b', 'a')] }, { matchExpressions: [zones('a', 'c')] })).toEqual({ [key]: 'a__b__c' });
  });

  it.each([
    ['no affinity', undefined],
    ['an alternative without a zone', { required: { nodeSelectorTerms: [{ matchExpressions: [zones('a')] }, { matchExpressions: [] }] } }],
    ['zones that are excluded', { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'NotIn', values: ['a'] }] }] } }],
    ['no alternatives at all', { required: { nodeSelectorTerms: null } }],
  ])('are none with %s', (_, affinity) => {
    expect(topologyLabelsOf(affinity)).toEqual({});
  });
});
