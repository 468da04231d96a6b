import { expect, test } from 'vitest';
import { parseFaults } from './parse-faults.ts';

test('a list of faults', () => {
  const faults = [
    { fault: 'throttling', actions: ['DescribeVolumes'], probability: 0.5 },
    { fault: 'dark-zone', zone: 'us-west-2a' },
    { fault: 'describe-lag', seconds: 5 },
  ];
  expect(parseFaults(faults)).toEqual(faults);
  expect(parseFaults(null)).toEqual([]);
});

test.each([
  [{}, 'faults are a list: "- fault: throttling"'],
  [['throttling'], '[0] must be an object with the field "fault"'],
  [[{ fault: 'rain' }], /^\[0\]\.fault must be one of throttling, /],
  [[{ fault: 'toString' }], /^\[0\]\.fault must be one of throttling, /],
  [[{ fault: 'dark-zone' }], '[0].zone is missing'],
  [[{ fault: 'dark-zone', zone: 5 }], '[0].zone must be a text'],
  [[{ fault: 'throttling' }, { fault: 'throttling', zone: 'a' }], '[1].zone is no field of throttling'],
  [[{ fault: 'throttling', probability: 2 }], '[0].probability must be a number from 0 to 1'],
])('%j is refused', (content, message) => {
  expect(() => parseFaults(content)).toThrow(message);
});
