import { describe, expect, it } from 'vitest';
import { type Diagnosis, fitMessage, unschedulablePlugins } from './diagnosis.ts';
import type { Rejection } from './framework.ts';

const no = (plugin: string, ...texts: readonly string[]): Rejection => ({ code: 'unschedulable', plugin, reasons: texts.map((text) => ({ text, rule: '' })) });
const diagnosis = (more: Partial<Diagnosis>): Diagnosis => ({
  nodes: 3,
  everywhere: undefined,
  byNode: new Map(),
  others: undefined,
  restrictedBy: [],
  ...more,
});

describe('the message for an unschedulable pod', () => {
  it('counts the reasons of all nodes, sorted as text', () => {
    const byNode = new Map([
      ['n1', no('Fit', 'Insufficient memory', 'Insufficient cpu')],
      ['n2', no('Fit', 'Insufficient memory')],
      ['n3', no('Taint', 'node(s) had untolerated taint(s)')],
    ]);
    expect(fitMessage(diagnosis({ byNode }))).toBe('0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 2 Insufficient memory.');
    expect(unschedulablePlugins(diagnosis({ byNode }))).toEqual(new Set(['Fit', 'Taint']));
  });

  it('sorts numbers as text too', () => {
    const byNode = new Map(Array.from({ length: 12 }, (_, i): [string, Rejection] => [`n${i}`, no('Fit', i < 10 ? 'ten' : 'two')]));
    expect(fitMessage(diagnosis({ nodes: 12, byNode }))).toBe('0/12 nodes are available: 10 ten, 2 two.');
  });

  it('nodes that were not examined share one reason', () => {
    const byNode = new Map([['n1', no('Fit', 'Insufficient cpu')]]);
    expect(fitMessage(diagnosis({ byNode, others: no('', 'excluded') }))).toBe('0/3 nodes are available: 1 Insufficient cpu, 2 excluded.');
  });

  it('a PreFilter rejection stands alone; the PostFilter message comes last', () => {
    expect(fitMessage(diagnosis({ everywhere: no('VolumeBinding', 'pod has unbound immediate PersistentVolumeClaims') }), 'not found')).toBe(
      '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    );
  });
});
