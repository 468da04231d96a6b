import { describe, expect, test } from 'vitest';
import { Metrics } from './metrics.ts';
import { RequestMetrics } from './request-metrics.ts';

describe('metrics', () => {
  test('counters, histograms and gauges, as Prometheus reads them', () => {
    const metrics = new Metrics();
    const requests = metrics.counter('requests_total', 'Requests', ['verb', 'code']);
    requests.add(1, 'GET', '200');
    requests.add(2, 'GET', '200');
    requests.add(1, 'say "x"\\\n', '500');
    const seconds = metrics.histogram('seconds', 'Time', { labelNames: ['verb'], bounds: [0.1, 1] });
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value, 'GET');
    metrics.gauge('open', 'Open', () => 3);
    metrics.gauge('sizes', 'Sizes', () => [{ labels: { store: 'a' }, value: 1 }]);
    metrics.counter('nothing_total', 'Nothing yet');
    expect(metrics.text()).toBe(
      [
        '# HELP requests_total Requests',
        '# TYPE requests_total counter',
        'requests_total{verb="GET",code="200"} 3',
        'requests_total{verb="say \\"x\\"\\\\\\n",code="500"} 1',
        '# HELP seconds Time',
        '# TYPE seconds histogram',
        'seconds_bucket{verb="GET",le="0.1"} 2',
        'seconds_bucket{verb="GET",le="1"} 3',
        'seconds_bucket{verb="GET",le="+Inf"} 4',
        'seconds_sum{verb="GET"} 7.65',
        'seconds_count{verb="GET"} 4',
        '# HELP open Open',
        '# TYPE open gauge',
        'open 3',
        '# HELP sizes Sizes',
        '# TYPE sizes gauge',
        'sizes{store="a"} 1',
        '# HELP nothing_total Nothing yet',
        '# TYPE nothing_total counter',
        'nothing_total 0',
        '',
      ].join('\n'),
    );
  });

  test('labels that clients invent do not fill the memory', () => {
    const metrics = new Metrics();
    const counter = metrics.counter('x_total', 'X', ['a', 'b']);
    for (let i = 0; i < 20_000; i++) counter.add(1, String(i), 'b');
    const lines = metrics.text().split('\n');
    expect(lines.length).toBeLessThan(6_000);
    expect(lines).toContain('x_total{a="",b=""} 15000');
  });

  test('only resources that exist become labels', () => {
    const metrics = new Metrics();
    const requests = new RequestMetrics(metrics, new Set(['/v1/pods']));
    const base = { type: 'resource', group: '', version: 'v1', subresource: 'invented', namespace: 'a', name: '' } as const;
    requests.answered({ ...base, verb: 'list', resource: 'pods' }, 200, 0.001);
    requests.answered({ ...base, verb: 'list', resource: 'invented' }, 404, 0.001);
    requests.answered({ ...base, verb: '', resource: 'pods', name: 'x' }, 405, 0.001);
    const text = metrics.text();
    expect(text).toContain('apiserver_request_total{verb="LIST",group="",version="v1",resource="pods",subresource="",scope="namespace",code="200"} 1\n');
    expect(text).toContain('apiserver_request_total{verb="LIST",group="",version="",resource="",subresource="",scope="",code="404"} 1\n');
    expect(text).toContain('verb="other"');
    expect(text).not.toContain('invented');
  });
});
