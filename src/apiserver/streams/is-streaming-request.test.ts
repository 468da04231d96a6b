import { expect, test } from 'vitest';
import { parseRequestInfo } from '../../api/request-info.ts';
import { isStreamingRequest } from './is-streaming-request.ts';

test.each([
  ['/api/v1/namespaces/a/pods/b/exec', true],
  ['/api/v1/namespaces/a/pods/b/log', true],
  ['/api/v1/nodes/n/proxy/metrics', true],
  ['/api/v1/namespaces/a/pods/b:80/proxy/', true],
  ['/api/v1/namespaces/a/services/b/proxy', true],
  ['/api/v1/services/b/proxy', false],
  ['/api/v1/namespaces/a/pods/b/status', false],
  ['/api/v1/namespaces/a/pods/b', false],
  ['/api/v1/pods/b/exec', false],
  ['/api/v1/namespaces/a/nodes/n/proxy/metrics', false],
  ['/api/v1/watch/nodes/n/proxy', false],
  ['/api/v1/watch/namespaces/a/pods/b/log', false],
  ['/apis/example.com/v1/nodes/n/proxy', false],
])('%s is for a kubelet: %s', (path, expected) => {
  const info = parseRequestInfo('GET', path, new URLSearchParams());
  expect(info.type === 'resource' && isStreamingRequest(info)).toBe(expected);
});
